"""Conversion of Slack's blocks to text, images and fields; interactive elements are left out."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from moothall.objects.json_object import JsonObject
from moothall.resources.webhook.slack.mrkdwn import translate, unescape
from moothall.resources.webhook.validation import FieldSource

_MAX_DEPTH: Final = 12
_MAX_INDENT: Final = 8
_MAX_ITEMS: Final = 500
"""The limit of items read from one list: ten times that of Slack."""


class RenderedBlocks(Struct):
    """The text, images and fields of a list of blocks."""

    text: str = ""
    images: list[str] = []
    fields: list[FieldSource] = []


def render(blocks: object) -> RenderedBlocks:
    """Render the blocks of a message or attachment; empty if the value is no list."""
    rendered = RenderedBlocks()
    parts = [_block(block, rendered) for block in _items(blocks) if isinstance(block, dict)]
    rendered.text = "\n".join(part for part in parts if part)
    return rendered


def _block(block: JsonObject, rendered: RenderedBlocks) -> str:
    kind = block.get("type")
    renderer = _BLOCKS.get(kind) if isinstance(kind, str) else None
    return "" if renderer is None else renderer(block, rendered)


def _header(block: JsonObject, _rendered: RenderedBlocks) -> str:
    text = _text(block.get("text"))
    return f"# {text}" if text else ""


def _divider(_block: JsonObject, _rendered: RenderedBlocks) -> str:
    return "───"


def _image(block: JsonObject, rendered: RenderedBlocks) -> str:
    _picture(block, rendered)
    return _text(block.get("title"))


def _markdown(block: JsonObject, _rendered: RenderedBlocks) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _rich_text(block: JsonObject, _rendered: RenderedBlocks) -> str:
    return "\n".join(_rich_lines(block.get("elements"), 0))


def _video(block: JsonObject, _rendered: RenderedBlocks) -> str:
    title, url = _text(block.get("title")), block.get("title_url") or block.get("video_url")
    return f"[{title}]({url})" if title and isinstance(url, str) else title


def _section(block: JsonObject, rendered: RenderedBlocks) -> str:
    fields = block.get("fields")
    rendered.fields += [FieldSource("", text, inline=True) for text in map(_text, _items(fields)) if text]
    accessory = block.get("accessory")
    if isinstance(accessory, dict):
        if accessory.get("type") == "image":
            _picture(accessory, rendered)
        elif link := _button(accessory):
            return "\n".join(part for part in (_text(block.get("text")), link) if part)
    return _text(block.get("text"))


def _context(block: JsonObject, rendered: RenderedBlocks) -> str:
    texts = []
    for element in _items(block.get("elements")):
        if isinstance(element, dict) and element.get("type") == "image":
            _picture(element, rendered)
        elif text := _text(element):
            texts.append(text)
    return f"-# {' '.join(texts)}".replace("\n", "\n-# ") if texts else ""


def _button(element: JsonObject) -> str:
    label, url = _text(element.get("text")), element.get("url")
    return f"[{label}]({url})" if element.get("type") == "button" and label and isinstance(url, str) else ""


def _picture(element: JsonObject, rendered: RenderedBlocks) -> None:
    url = element.get("image_url")
    if url is None and isinstance(element.get("slack_file"), dict):
        url = element["slack_file"].get("url")
    if isinstance(url, str) and url:
        rendered.images.append(url)


def _text(value: object) -> str:
    """Convert a text object or a text."""
    if isinstance(value, str):
        return translate(value)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return ""
    text: str = value["text"]
    return unescape(text) if value.get("type") == "plain_text" else translate(text)


def _items(value: object) -> list[Any]:
    return value[:_MAX_ITEMS] if isinstance(value, list) else []


def _rich_lines(elements: object, depth: int) -> Iterator[str]:
    for element in _items(elements):
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


def _list_lines(element: JsonObject, depth: int) -> Iterator[str]:
    ordered = element.get("style") == "ordered"
    offset, indent = element.get("offset"), element.get("indent")
    number = offset + 1 if isinstance(offset, int) and 0 <= offset < 1 << 31 else 1
    margin = "  " * min(indent, _MAX_INDENT) if isinstance(indent, int) else ""
    for line in _rich_lines(element.get("elements"), depth + 1):
        yield f"{margin}{f'{number}.' if ordered else '-'} {line}"
        number += 1


def _inline(elements: object, *, code: bool = False) -> str:
    return "".join(_pieces(_items(elements), code=code))


def _pieces(elements: Iterable[object], *, code: bool) -> Iterator[str]:
    for element in elements:
        if not isinstance(element, dict):
            continue
        text = _leaf(element)
        yield text if code or not text else _styled(text, element.get("style"))


def _field(element: JsonObject, name: str) -> str:
    value = element.get(name)
    return value if isinstance(value, str) else ""


def _leaf(element: JsonObject) -> str:
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


_BLOCKS: Final[dict[str, Callable[[JsonObject, RenderedBlocks], str]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "divider": _divider,
    "image": _image,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "video": _video,
}
