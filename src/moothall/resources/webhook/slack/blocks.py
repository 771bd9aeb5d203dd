"""Slack's blocks as text, pictures and fields, as far as those go; interactive parts are left out."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from moothall.resources.webhook.slack.mrkdwn import translate, unescape
from moothall.resources.webhook.validation import Cell

_MAX_DEPTH: Final = 12
_MAX_INDENT: Final = 8
_MAX_LISTED: Final = 500
"""Blocks, fields or elements of one list: ten times what Slack takes."""


class Rendered(Struct):
    """What a list of blocks comes to."""

    text: str = ""
    images: list[str] = []
    cells: list[Cell] = []


def render(given: object) -> Rendered:
    """The blocks of a message or an attachment; what is no list of blocks comes to nothing."""
    done = Rendered()
    parts = [_block(block, done) for block in _listed(given) if isinstance(block, dict)]
    done.text = "\n".join(part for part in parts if part)
    return done


def _block(block: dict[str, Any], done: Rendered) -> str:
    kind = block.get("type")
    renderer = _BLOCKS.get(kind) if isinstance(kind, str) else None
    return "" if renderer is None else renderer(block, done)


def _header(block: dict[str, Any], _done: Rendered) -> str:
    text = _text(block.get("text"))
    return f"# {text}" if text else ""


def _divider(_block: dict[str, Any], _done: Rendered) -> str:
    return "───"


def _image(block: dict[str, Any], done: Rendered) -> str:
    _picture(block, done)
    return _text(block.get("title"))


def _markdown(block: dict[str, Any], _done: Rendered) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _rich_text(block: dict[str, Any], _done: Rendered) -> str:
    return "\n".join(_rich_lines(block.get("elements"), 0))


def _video(block: dict[str, Any], _done: Rendered) -> str:
    title, url = _text(block.get("title")), block.get("title_url") or block.get("video_url")
    return f"[{title}]({url})" if title and isinstance(url, str) else title


def _section(block: dict[str, Any], done: Rendered) -> str:
    fields = block.get("fields")
    done.cells += [Cell("", text, inline=True) for text in map(_text, _listed(fields)) if text]
    accessory = block.get("accessory")
    if isinstance(accessory, dict):
        if accessory.get("type") == "image":
            _picture(accessory, done)
        elif link := _button(accessory):
            return "\n".join(part for part in (_text(block.get("text")), link) if part)
    return _text(block.get("text"))


def _context(block: dict[str, Any], done: Rendered) -> str:
    texts = []
    for element in _listed(block.get("elements")):
        if isinstance(element, dict) and element.get("type") == "image":
            _picture(element, done)
        elif text := _text(element):
            texts.append(text)
    return f"-# {' '.join(texts)}".replace("\n", "\n-# ") if texts else ""


def _button(element: dict[str, Any]) -> str:
    label, url = _text(element.get("text")), element.get("url")
    return f"[{label}]({url})" if element.get("type") == "button" and label and isinstance(url, str) else ""


def _picture(element: dict[str, Any], done: Rendered) -> None:
    url = element.get("image_url")
    if url is None and isinstance(element.get("slack_file"), dict):
        url = element["slack_file"].get("url")
    if isinstance(url, str) and url:
        done.images.append(url)


def _text(given: object) -> str:
    """A text object, or a text."""
    if isinstance(given, str):
        return translate(given)
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        return ""
    text: str = given["text"]
    return unescape(text) if given.get("type") == "plain_text" else translate(text)


def _listed(given: object) -> list[Any]:
    return given[:_MAX_LISTED] if isinstance(given, list) else []


def _rich_lines(elements: object, depth: int) -> Iterator[str]:
    for element in _listed(elements):
        if not isinstance(element, dict) or depth > _MAX_DEPTH:
            continue
        inner = element.get("elements")
        match element.get("type"):
            case "rich_text_section":
                yield _inline(inner)
            case "rich_text_quote":
                yield "> " + _inline(inner).replace("\n", "\n> ")
            case "rich_text_preformatted":
                yield f"```\n{_inline(inner, code=True)}\n```"
            case "rich_text_list":
                yield from _list_lines(element, depth)


def _list_lines(element: dict[str, Any], depth: int) -> Iterator[str]:
    ordered = element.get("style") == "ordered"
    offset, indent = element.get("offset"), element.get("indent")
    number = offset + 1 if isinstance(offset, int) and 0 <= offset < 1 << 31 else 1
    margin = "  " * min(indent, _MAX_INDENT) if isinstance(indent, int) else ""
    for line in _rich_lines(element.get("elements"), depth + 1):
        yield f"{margin}{f'{number}.' if ordered else '-'} {line}"
        number += 1


def _inline(elements: object, *, code: bool = False) -> str:
    return "".join(_pieces(_listed(elements), code=code))


def _pieces(elements: Iterable[object], *, code: bool) -> Iterator[str]:
    for element in elements:
        if not isinstance(element, dict):
            continue
        text = _leaf(element)
        yield text if code or not text else _styled(text, element.get("style"))


def _field(element: dict[str, Any], name: str) -> str:
    value = element.get(name)
    return value if isinstance(value, str) else ""


def _leaf(element: dict[str, Any]) -> str:
    kind = element.get("type")
    if kind == "link":
        url, text = _field(element, "url"), _field(element, "text")
        return f"[{text}]({url})" if text and text != url else url
    if kind == "emoji":
        return _emoji(_field(element, "unicode")) or f":{_field(element, 'name')}:"
    if kind == "date":
        moment, template = element.get("timestamp"), _field(element, "format") or "{date}"
        if not isinstance(moment, int):
            return ""
        return translate(f"<!date^{moment}^{template}|{_field(element, 'fallback')}>")
    if isinstance(kind, str) and kind in _MENTIONS:
        before, field = _MENTIONS[kind]
        return translate(f"<{before}{_field(element, field)}>")
    return _field(element, {"text": "text", "color": "value"}.get(str(kind), ""))


_MENTIONS: Final = {
    "user": ("@", "user_id"),
    "channel": ("#", "channel_id"),
    "usergroup": ("!subteam^", "usergroup_id"),
    "broadcast": ("!", "range"),
}


def _emoji(points: str) -> str:
    try:
        return "".join(chr(int(point, 16)) for point in points.split("-")) if points else ""
    except (ValueError, OverflowError):
        return ""


def _styled(text: str, style: object) -> str:
    if not isinstance(style, dict):
        return text
    inner = text.strip()
    if not inner:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    for name, mark in (("code", "`"), ("bold", "**"), ("italic", "_"), ("strike", "~~"), ("underline", "__")):
        if style.get(name):
            inner = f"{mark}{inner}{mark}"
    return f"{before}{inner}{after}"


_BLOCKS: Final[dict[str, Callable[[dict[str, Any], Rendered], str]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "divider": _divider,
    "image": _image,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "video": _video,
}
