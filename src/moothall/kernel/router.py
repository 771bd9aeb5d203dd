"""From a path to its row: a tree of path segments, literals before placeholders."""

from collections.abc import Iterable

from moothall.kernel.endpoint import Endpoint


class Node:
    """One position in a path."""

    __slots__ = ("literal", "methods", "placeholder")

    def __init__(self) -> None:
        self.literal: dict[str, Node] = {}
        self.placeholder: Node | None = None
        self.methods: dict[str, Endpoint] = {}


class Router:
    """All rows, found by path."""

    def __init__(self, rows: Iterable[Endpoint]) -> None:
        self._root = Node()
        for row in rows:
            node = self._root
            for segment in row.path.strip("/").split("/"):
                if segment.startswith("{"):
                    node.placeholder = node = node.placeholder or Node()
                else:
                    node = node.literal.setdefault(segment, Node())
            node.methods[row.method] = row

    def match(self, path: str) -> tuple[dict[str, Endpoint], list[str]] | None:
        """The rows of a path by method, with the texts of its placeholders; None for no such path."""
        segments = path.split("/")
        if segments and not segments[0]:
            del segments[0]
        if len(segments) > 1 and not segments[-1]:
            del segments[-1]
        return _walk(self._root, segments, 0, [])


def _walk(
    node: Node, segments: list[str], index: int, values: list[str]
) -> tuple[dict[str, Endpoint], list[str]] | None:
    for position in range(index, len(segments)):
        segment = segments[position]
        found = node.literal.get(segment)
        if found is not None and node.placeholder is not None:
            # Both fit: follow the literal, and take the placeholder if that leads nowhere.
            rest = _walk(found, segments, position + 1, list(values))
            if rest is not None:
                return rest
            found = None
        if found is None:
            found = node.placeholder
            if found is None or not segment:
                return None
            values.append(segment)
        node = found
    return (node.methods, values) if node.methods else None
