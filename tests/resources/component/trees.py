"""Component trees: one valid example of every type, and Hypothesis strategies for whole ones and nearly valid ones."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from moothall.objects.errors import FormErrors
from moothall.resources.component.reading import read_components
from moothall.resources.component.validator import ResolvedIds

Tree = list[dict[str, Any]]
PLAIN = st.text("abcdefgh -*_é日", min_size=1, max_size=20).filter(str.strip)
COUNTER = st.integers(0, 10**9)
URLS = st.sampled_from(["https://example.org/a", "http://example.org:8080/b?c=d#e", "https://münchen.example/ü"])
EMOJI = st.sampled_from([{"name": "⚓"}, {"name": "👍🏽"}, {"id": None, "name": "🇫🇷"}])


def button(custom_id: str = "b", **values: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "custom_id": custom_id, "label": "x", **values}


def link(**values: Any) -> dict[str, Any]:
    return {"type": 2, "style": 5, "url": "https://example.org", "label": "x", **values}


def row(*children: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"type": 1, "components": [*children], **values}


def text(content: str = "hello", **values: Any) -> dict[str, Any]:
    return {"type": 10, "content": content, **values}


def options(count: int = 2, **values: Any) -> list[dict[str, Any]]:
    return [{"label": f"o{n}", "value": str(n), **values} for n in range(count)]


def string_select(custom_id: str = "s", **values: Any) -> dict[str, Any]:
    return {"type": 3, "custom_id": custom_id, "options": options(), **values}


def select(kind: int, custom_id: str = "s", **values: Any) -> dict[str, Any]:
    return {"type": kind, "custom_id": custom_id, **values}


def section(*texts: dict[str, Any], accessory: dict[str, Any] | None = None, **values: Any) -> dict[str, Any]:
    return {"type": 9, "components": [*(texts or (text(),))], "accessory": accessory or button("accessory"), **values}


def thumbnail(url: str = "https://example.org/a.png", **values: Any) -> dict[str, Any]:
    return {"type": 11, "media": {"url": url}, **values}


def gallery(*urls: str, **values: Any) -> dict[str, Any]:
    return {"type": 12, "items": [{"media": {"url": url}} for url in urls or ("https://example.org/a",)], **values}


def file(name: str = "a.txt", **values: Any) -> dict[str, Any]:
    return {"type": 13, "file": {"url": f"attachment://{name}"}, **values}


def separator(**values: Any) -> dict[str, Any]:
    return {"type": 14, **values}


def container(*children: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"type": 17, "components": [*children], **values}


def label(component: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"type": 18, "label": "What?", "component": component, **values}


def text_input(custom_id: str = "t", **values: Any) -> dict[str, Any]:
    return {"type": 4, "custom_id": custom_id, "style": 1, **values}


def modal(*components: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"custom_id": "modal", "title": "Report", "components": [*components], **values}


def read(
    tree: Any, *, layout: bool = True, resolved: ResolvedIds | None = None, **values: Any
) -> tuple[Any, FormErrors]:
    """The components of a tree, and its errors."""
    form_errors = FormErrors()
    return read_components(tree, form_errors, layout=layout, resolved=resolved, **values), form_errors


def codes(form_errors: FormErrors) -> dict[str, list[str]]:
    """The codes of a form's errors by dotted path."""
    flat: dict[str, list[str]] = {}

    def flatten(node: dict[str, Any], path: str) -> None:
        for key, inner in node.items():
            if key == "_errors":
                flat[path] = [error["code"] for error in inner]
            else:
                flatten(inner, f"{path}.{key}".lstrip("."))

    flatten(form_errors.nested(), "")
    return flat


_ids = st.one_of(st.none(), st.just(0), st.integers(1, 2**31 - 1))


@st.composite
def _buttons(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return link(url=draw(URLS), label=draw(PLAIN), disabled=draw(st.booleans()))
    made = button("?", style=draw(st.integers(1, 4)), label=draw(PLAIN))
    if draw(st.booleans()):
        made["emoji"] = draw(EMOJI)
    return made


@st.composite
def _selects(draw: st.DrawFn) -> dict[str, Any]:
    low = draw(st.integers(0, 3))
    bounds = {"min_values": low, "max_values": draw(st.integers(max(low, 1), 25)), "disabled": draw(st.booleans())}
    kind = draw(st.sampled_from([3, 5, 6, 7, 8]))
    if kind == 3:
        count = draw(st.integers(max(low, 1), 25))
        return string_select("?", options=options(count, default=False), placeholder=draw(PLAIN), **bounds)
    made = select(kind, "?", **bounds)
    if kind == 8:
        made["channel_types"] = draw(st.lists(st.sampled_from([0, 2, 4, 5, 13, 15]), unique=True))
    chosen = draw(st.integers(low, min(bounds["max_values"], 5)))
    names = {5: "user", 6: "role", 7: "user", 8: "channel"}
    made["default_values"] = [{"id": str(number + 1), "type": names[kind]} for number in range(chosen)]
    return made


_rows = st.one_of(st.lists(_buttons(), min_size=1, max_size=5).map(lambda made: row(*made)), _selects().map(row))
_texts = PLAIN.map(text)
_thumbnails = st.builds(thumbnail, URLS, description=st.none() | PLAIN, spoiler=st.booleans())
_sections = st.builds(
    lambda texts, accessory: section(*texts, accessory=accessory),
    st.lists(_texts, min_size=1, max_size=3),
    st.one_of(_buttons(), _thumbnails),
)
_galleries = st.lists(URLS, min_size=1, max_size=10).map(lambda urls: gallery(*urls))
_separators = st.builds(separator, divider=st.booleans(), spacing=st.sampled_from([1, 2]))
_inner = st.one_of(_rows, _texts, _sections, _galleries, _separators)
_containers = st.builds(
    lambda children, colour: container(*children, accent_color=colour),
    st.lists(_inner, min_size=1, max_size=3),
    st.none() | st.integers(0, 0xFFFFFF),
)


def every(tree: Any) -> Iterator[dict[str, Any]]:
    """Every component of a tree, parents first."""
    for node in tree:
        yield node
        for key in ("components", "accessory", "component"):
            child = node.get(key)
            if child is not None:
                yield from every(child if isinstance(child, list) else [child])


@st.composite
def _finished(draw: st.DrawFn, tops: st.SearchStrategy[dict[str, Any]], maximum: int) -> Tree:
    tree = deepcopy(draw(st.lists(tops, min_size=1, max_size=5)))
    while len(list(every(tree))) > maximum:
        tree.pop()
    used = set[int]()
    for number, node in enumerate(every(tree)):
        if "custom_id" in node:
            node["custom_id"] = f"id {number}"
        requested = draw(_ids)
        if requested is not None and requested not in used:
            node["id"] = requested
            used.add(requested or -number)
    return tree


LEGACY = _finished(_rows, 40)
LAYOUTS = _finished(st.one_of(_inner, _containers), 40).filter(bool)
"""Valid trees."""
