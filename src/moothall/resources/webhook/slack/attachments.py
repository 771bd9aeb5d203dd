"""Conversion of Slack's attachments to embeds."""

import re
from collections.abc import Iterable
from typing import Final

from moothall.objects.embed import EmbedInput
from moothall.objects.json_object import JsonObject
from moothall.resources.webhook.slack.blocks import RenderedBlocks, render
from moothall.resources.webhook.slack.mrkdwn import plain, translate, unescape
from moothall.resources.webhook.validation import FieldSource, LinkSource, build_embed, parse_timestamp

_NAMED: Final = {"good": 0x2EB886, "warning": 0xDAA038, "danger": 0xA30200}
_HEX: Final = re.compile(r"#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})")
_HEX_SHORT: Final = 3
_MAX_FIELDS: Final = 100
"""The limit of fields that are read, including empty ones; an embed has 25."""


def read_color(value: object) -> int | None:
    """Read a colour, one of Slack's three names or hexadecimal; None for any other value."""
    if not isinstance(value, str):
        return None
    if value in _NAMED:
        return _NAMED[value]
    match = _HEX.fullmatch(value)
    if match is None:
        return None
    digits = match[1] if len(match[1]) > _HEX_SHORT else "".join(digit * 2 for digit in match[1])
    return int(digits, 16)


def as_embeds(attachment: object) -> list[EmbedInput | None]:
    """Convert an attachment to an embed, and further ones for more images of its blocks."""
    if not isinstance(attachment, dict):
        return []
    blocks = render(attachment.get("blocks"))
    text, fallback = _text(attachment, "text"), _text(attachment, "fallback")
    described = "\n\n".join(part for part in (_text(attachment, "pretext"), text, blocks.text) if part)
    fields = [*_fields(attachment.get("fields")), *blocks.fields]
    pictures = [attachment.get("image_url"), *blocks.images]
    shown = described or fields or any(attachment.get(key) for key in _SHOWN) or blocks.images
    color = read_color(attachment.get("color"))
    first = build_embed(
        title=_plain(attachment, "title"),
        url=attachment.get("title_link"),
        description=described if shown else fallback,
        color=color,
        author=LinkSource(
            _plain(attachment, "author_name"), attachment.get("author_link"), attachment.get("author_icon")
        ),
        footer=LinkSource(_plain(attachment, "footer"), icon=attachment.get("footer_icon")),
        image=next((picture for picture in pictures if picture), None),
        thumbnail=attachment.get("thumb_url"),
        fields=fields,
        timestamp=parse_timestamp(attachment.get("ts")),
    )
    further = [picture for picture in pictures if picture][1:]
    return [first, *(build_embed(image=picture, color=color) for picture in further)]


def block_embeds(blocks: RenderedBlocks) -> list[EmbedInput | None]:
    """Convert the fields and images of a message's blocks to embeds."""
    embeds: list[EmbedInput | None] = [build_embed(fields=blocks.fields)] if blocks.fields else []
    return [*embeds, *(build_embed(image=picture) for picture in blocks.images)]


_SHOWN: Final = ("title", "author_name", "image_url", "thumb_url", "footer")


def _text(attachment: JsonObject, key: str) -> str:
    value = attachment.get(key)
    return translate(value).strip() if isinstance(value, str) else ""


def _plain(attachment: JsonObject, key: str) -> str | None:
    value = attachment.get(key)
    return plain(value) if isinstance(value, str) else None


def _fields(values: object) -> Iterable[FieldSource]:
    for field in values[:_MAX_FIELDS] if isinstance(values, list) else ():
        if not isinstance(field, dict):
            continue
        name, value = field.get("title", field.get("name")), field.get("value")
        yield FieldSource(
            unescape(name) if isinstance(name, str) else name,
            translate(value) if isinstance(value, str) else value,
            inline=bool(field.get("short", field.get("inline"))),
        )
