"""What is left of a body without its invalid values, and the paths of its values in the whole body.

A body with errors is read once more without them, so that rules which look at several values, at settings or at the
database report their errors in the same response. Removing items from a list changes the indexes of those after them:
errors of the rest get the indexes of the body back.
"""

from typing import Any

from msgspec import Struct

from moothall.objects.errors import FormErrors


class _Kept(Struct):
    """What is left of an object or a list that has invalid values."""

    below: dict[str, "_Kept"] = {}
    """By key or index in the rest: values that lack something themselves."""
    indexes: list[int] | None = None
    """For a list, the index in the body of each item of the rest."""
    removed: frozenset[str] = frozenset()
    """The keys that were removed from an object."""


class Rest:
    """The valid rest of a body: without invalid fields, and with lists that lack their invalid items.

    An object inside the body that lacks a field is not left either: its other fields may depend on that one.
    """

    def __init__(self, body: Any, errors: dict[str, Any]) -> None:
        left = _left(body, errors, is_body=True)
        self.exists = left is not None
        """False if the body is invalid as a whole."""
        self.value: Any = None if left is None else left[0]
        self._kept = _Kept() if left is None else left[1]

    def original_paths(self, errors: dict[str, Any]) -> FormErrors:
        """The errors of the rest, nested, at their paths in the body.

        Errors of removed fields are left out, and those of objects and lists as a whole that lack something.
        """
        moved = FormErrors()
        _move(errors, self._kept, moved, ())
        return moved


def _left(value: Any, errors: dict[str, Any], *, is_body: bool = False) -> tuple[Any, _Kept] | None:
    """What is left of a value that has errors; None for nothing."""
    if "_errors" in errors and not is_body:
        return None
    if isinstance(value, list):
        return _items_left(value, errors)
    if not isinstance(value, dict):
        return None
    left, below, removed = dict(value), {}, set()
    for key, inner in errors.items():
        if key == "_errors":
            continue
        rest = _left(value.get(key), inner)
        if rest is not None:
            left[key], below[key] = rest
        elif is_body:
            left.pop(key, None)
            removed.add(key)
        else:
            return None
    return left, _Kept(below=below, removed=frozenset(removed))


def _items_left(items: list[Any], errors: dict[str, Any]) -> tuple[list[Any], _Kept] | None:
    left: list[Any] = []
    kept = _Kept(below={}, indexes=[])
    for index, item in enumerate(items):
        inner = errors.get(str(index))
        rest = (item, None) if inner is None else _left(item, inner)
        if rest is None:
            continue
        if rest[1] is not None:
            kept.below[str(len(left))] = rest[1]
        left.append(rest[0])
        kept.indexes.append(index)  # type: ignore[union-attr]
    return (left, kept) if left else None


def _move(tree: dict[str, Any], kept: _Kept | None, moved: FormErrors, path: tuple[str, ...]) -> None:
    for key, inner in tree.items():
        if kept is None:
            if key == "_errors":
                for error in inner:
                    moved.add(path, error["code"], error["message"])
            else:
                _move(inner, None, moved, (*path, key))
        elif key != "_errors" and key not in kept.removed:
            number = int(key) if kept.indexes is not None and key.isdigit() else None
            if number is not None and kept.indexes is not None and number >= len(kept.indexes):
                continue  # an item that the rest lacks, and the body may have
            original = key if number is None or kept.indexes is None else str(kept.indexes[number])
            _move(inner, kept.below.get(key), moved, (*path, original))
