"""Entries of the transcript as lines for people: contents and components as they are drawn, other data folded away."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET

from moothall.objects.json_object import JsonObject
from moothall.test_server.transcript import Entry

_MAX_TEXT: Final = 200
_FAILURES: Final = ("message", "code", "reason_code")
_BUTTON, _TEXT_INPUT, _TEXT, _SEPARATOR, _FILE, _MEDIA, _THUMBNAIL = 2, 4, 10, 14, 13, 12, 11
_SELECTS: Final = frozenset({3, 5, 6, 7, 8})
_COMMAND, _COMPONENT, _AUTOCOMPLETE, _MODAL = 2, 3, 4, 5
_SUBCOMMANDS: Final = frozenset({1, 2})


def line_of(entry: Entry) -> str:
    """An entry in a line: when, what kind, who, what."""
    actor = "" if entry.actor is UNSET else f"{entry.actor} "
    return f"  {entry.at[11:23]} {entry.kind:<9} {actor}{description(entry)}"


def description(entry: Entry) -> str:
    """What an entry is about."""
    fields = [entry.name, entry.method, entry.path, entry.status, _last_line(entry.text)]
    details = [str(each) for each in fields if each is not UNSET and each != ""]
    return " ".join([*details, *_described(entry)])


def _last_line(text: object) -> object:
    """The last line: of a traceback, what happened."""
    return (text.strip().splitlines() or [""])[-1] if isinstance(text, str) else text


def _described(entry: Entry) -> Iterator[str]:
    data = entry.data
    if not isinstance(data, dict):
        return
    if entry.name == "INTERACTION_CREATE":
        yield _used(data)
        return
    if entry.kind == "request" and isinstance(entry.status, int) and entry.status >= 400:
        yield from (f"{key}={_short(data[key])!r}" for key in _FAILURES if data.get(key))
        return
    for text in (data.get("content"), *_titles(data)):
        if isinstance(text, str) and text:
            yield repr(_short(text))
    yield from drawn(data.get("components"))


def _short(value: object) -> object:
    return f"{value[:_MAX_TEXT]}..." if isinstance(value, str) and len(value) > _MAX_TEXT else value


def _titles(data: JsonObject) -> Iterator[Any]:
    for embed in data.get("embeds") or ():
        if isinstance(embed, dict):
            yield embed.get("title") or embed.get("description")


def _used(data: JsonObject) -> str:
    """What a person has used: a command with its options, a component, a modal."""
    used, kind = data.get("data") or {}, data.get("type")
    if kind in {_COMMAND, _AUTOCOMPLETE}:
        return " ".join([f"/{used.get('name', '')}", *_options(used.get("options") or ())])
    if kind == _COMPONENT:
        return " ".join([f"uses {used.get('custom_id', '')!r}", *map(str, used.get("values") or ())])
    return f"submits {used.get('custom_id', '')!r}" if kind == _MODAL else ""


def _options(options: Any) -> Iterator[str]:
    for option in options:
        if option.get("type") in _SUBCOMMANDS:
            yield str(option.get("name"))
            yield from _options(option.get("options") or ())
        else:
            focused = "…" if option.get("focused") else ""
            yield f"{option.get('name')}={_short(option.get('value'))!r}{focused}"


def drawn(components: object) -> Iterator[str]:
    """Components as they are drawn: `[Button]`, `(Disabled)`, `<Select ▾>`, `Label: ____`, texts as they are."""
    if isinstance(components, dict):
        components = [components]
    for component in components if isinstance(components, list) else ():
        if isinstance(component, dict):
            yield from _drawn_one(component)
            for key in ("component", "components", "accessory"):
                yield from drawn(component.get(key))


def _drawn_one(component: JsonObject) -> Iterator[str]:
    kind = component.get("type")
    if kind == _BUTTON:
        name = component.get("label") or (component.get("emoji") or {}).get("name") or component.get("custom_id")
        yield f"({name})" if component.get("disabled") else f"[{name}]"
    elif kind in _SELECTS:
        yield f"<{component.get('placeholder') or component.get('custom_id')} ▾>"
    elif kind == _TEXT_INPUT:
        yield f"{component.get('label') or component.get('custom_id')}: ____"
    elif kind == _TEXT:
        yield repr(_short(component.get("content")))
    elif kind == _SEPARATOR:
        yield "---"
    elif kind in {_FILE, _MEDIA, _THUMBNAIL}:
        yield "<image>" if kind != _FILE else "<file>"
    elif isinstance(component.get("label"), str):
        yield component["label"]
