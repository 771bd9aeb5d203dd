"""Laws of whole trees: what is accepted comes back, what is refused names its path, whatever the tree."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.component import MessageComponent, walk
from moothall.objects.errors import FormErrors
from moothall.objects.wire import decoder, encode, to_plain
from moothall.resources.component.modals import read_modal
from tests.resources.component.trees import (
    LAYOUTS,
    LEGACY,
    Tree,
    button,
    codes,
    container,
    every,
    row,
    section,
    text,
)
from tests.resources.component.trees import read as read_tree

_stored = decoder(list[MessageComponent])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "id",
                    "components",
                    "accessory",
                    "component",
                    "custom_id",
                    "options",
                    "media",
                    "items",
                    "content",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


def _same(sent: Any, got: Any) -> bool:
    """Whether everything that was sent comes back: but for nulls, empty lists, and ids of 0."""
    if isinstance(sent, dict):
        return all(
            (value in (None, [], 0) and key != "style") or (key in got and _same(value, got[key]))
            for key, value in sent.items()
        )
    if isinstance(sent, list):
        return len(sent) == len(got) and all(map(_same, sent, got))
    return bool(sent == got)


def _check_round_trip(tree: Tree, *, layout: bool) -> None:
    before = deepcopy(tree)
    read, form_errors = read_tree(tree, layout=layout)
    assert not form_errors, form_errors.nested()
    assert tree == before
    shown = to_plain(read)
    assert _same(tree, shown)
    assert _stored.decode(encode(read)) == read
    again, form_errors = read_tree(shown, layout=layout)
    assert not form_errors, form_errors.nested()
    assert again == read
    ids = [component.id for component in walk(read)]
    assert len(ids) == len(set(ids)) == len(list(every(tree)))
    requested_ids = [node.get("id") or 0 for node in every(tree)]
    assert all(want in (0, have) for want, have in zip(requested_ids, ids, strict=True))
    made = [have for want, have in zip(requested_ids, ids, strict=True) if not want]
    free = (number for number in range(1, 2**31) if number not in set(requested_ids))
    assert made == [next(free) for _ in made]


@given(LAYOUTS)
def test_a_valid_layout_comes_back_with_ids_in_sequence(tree: Tree) -> None:
    _check_round_trip(tree, layout=True)


@given(LEGACY)
def test_valid_legacy_rows_come_back_with_ids_in_sequence(tree: Tree) -> None:
    _check_round_trip(tree, layout=False)


FLAWS: list[tuple[str, Any]] = [
    ("type", 99),
    ("type", "x"),
    ("type", None),
    ("id", -1),
    ("id", 2**31),
    ("id", "x"),
    ("custom_id", ""),
    ("custom_id", "x" * 101),
    ("custom_id", True),
    ("components", []),
    ("components", {}),
    ("components", None),
    ("components", [None]),
    ("accessory", None),
    ("accessory", {"type": 10, "content": "x"}),
    ("content", ""),
    ("content", "x" * 4001),
    ("content", True),
    ("style", 0),
    ("style", 7),
    ("style", "9"),
    ("url", "ftp://example.org"),
    ("options", []),
    ("min_values", 26),
    ("max_values", 0),
    ("placeholder", "x" * 151),
    ("label", "x" * 81),
    ("items", []),
    ("media", {}),
    ("media", {"url": "javascript:alert(1)"}),
    ("spacing", 3),
    ("divider", "yes"),
    ("accent_color", 1 << 24),
    ("default_values", [{"id": "x", "type": "user"}]),
    ("emoji", {"name": "not an emoji"}),
]
_REPORTED_AT_PARENT = {"type"}


@given(LAYOUTS, st.data())
def test_one_error_is_reported_at_its_path_and_no_other(tree: Tree, data: st.DataObject) -> None:
    tree = deepcopy(tree)
    spots = [(path, node, key, value) for path, node in _paths(tree) for key, value in FLAWS if key in node]
    path, node, key, value = data.draw(st.sampled_from(spots))
    node[key] = value
    _, form_errors = read_tree(tree)
    (where, *others) = codes(form_errors)
    assert not others
    named = path if key in _REPORTED_AT_PARENT and value is not None else f"{path}.{key}"
    assert where.startswith(named), (where, named)


def _paths(tree: Any, at: str = "components") -> list[tuple[str, dict[str, Any]]]:
    listed = []
    for index, node in enumerate(tree):
        here = f"{at}.{index}"
        listed.append((here, node))
        if "accessory" in node:
            listed.append((f"{here}.accessory", node["accessory"]))
        listed.extend(_paths(node.get("components", []), f"{here}.components"))
    return listed


@given(LAYOUTS, st.data())
def test_several_errors_are_all_reported(tree: Tree, data: st.DataObject) -> None:
    tree = deepcopy(tree)
    paths = [(path, node) for path, node in _paths(tree) if node["type"] in {2, 10, 14}]
    spoiled = data.draw(st.lists(st.sampled_from(range(len(paths))), unique=True)) if paths else []
    for index in spoiled:
        paths[index][1].update({"id": -1})
    _, form_errors = read_tree(tree)
    assert set(codes(form_errors)) == {f"{paths[index][0]}.id" for index in spoiled}


@given(st.lists(JSON, max_size=6), st.booleans())
def test_any_tree_is_read_or_refused(tree: list[Any], layout: bool) -> None:
    read, form_errors = read_tree(tree, layout=layout)
    assert form_errors or len(read) == len(tree)


@given(JSON)
def test_any_modal_is_read_or_refused(value: Any) -> None:
    form_errors = FormErrors()
    assert read_modal(value, form_errors, resolved=None) is not None or form_errors


class _Visited(dict[str, Any]):
    """A component that counts how often components like it are looked at."""

    count = 0

    def get(self, key: str, default: Any = None) -> Any:
        _Visited.count += key == "type"
        return super().get(key, default)


def test_a_hostile_tree_is_read_no_further_than_the_largest_valid_one() -> None:
    deep: Any = text()
    for _ in range(60):
        deep = container(deep)
    trees: dict[str, Tree] = {
        "wide": [_Visited(text()) for _ in range(50_000)],
        "deep": [deep],
        "full rows": [row(*(_Visited(button(str(n))) for n in range(50_000)))],
        "many options": [row({"type": 3, "custom_id": "s", "options": [{}] * 50_000})],
        "many rows": [row(_Visited(button(str(n)))) for n in range(50_000)],
    }
    for name, tree in trees.items():
        for layout in (True, False):
            _Visited.count = 0
            _, form_errors = read_tree(tree, layout=layout)
            assert form_errors, name
            assert len(codes(form_errors)) <= 41, name
            assert _Visited.count <= 64, name


def test_forty_components_fit_and_forty_one_do_not() -> None:
    thirteen = [section(text(str(n)), accessory=button(str(n))) for n in range(13)]
    read, form_errors = read_tree([container(*thirteen)])
    assert not form_errors
    assert len(list(walk(read))) == 40
    for more in ([container(*thirteen), text()], [container(*thirteen, text())]):
        _, form_errors = read_tree(more)
        assert codes(form_errors) == {"components": ["COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"]}
