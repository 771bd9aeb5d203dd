"""Slack's attachments as embeds."""

import re
from collections.abc import Iterable
from typing import Any, Final

from moothall.objects.embed import EmbedInput
from moothall.resources.webhook.slack.blocks import Rendered, render
from moothall.resources.webhook.slack.mrkdwn import plain, translate, unescape
from moothall.resources.webhook.validation import Cell, Link, fit_embed, fit_moment

_NAMED: Final = {"good": 0x2EB886, "warning": 0xDAA038, "danger": 0xA30200}
_HEX: Final = re.compile(r"#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})")
_HEX_SHORT: Final = 3
_MAX_FIELDS: Final = 100
"""Fields that are looked at, empty ones among them, of which an embed shows a quarter."""


def read_color(given: object) -> int | None:
    """A colour as an embed has it: one of Slack's three names, or hexadecimal; None for what is neither."""
    if not isinstance(given, str):
        return None
    if given in _NAMED:
        return _NAMED[given]
    found = _HEX.fullmatch(given)
    if found is None:
        return None
    digits = found[1] if len(found[1]) > _HEX_SHORT else "".join(digit * 2 for digit in found[1])
    return int(digits, 16)


def as_embeds(given: object) -> list[EmbedInput | None]:
    """Embeds for one attachment: one, and others for further pictures of its blocks."""
    if not isinstance(given, dict):
        return []
    blocks = render(given.get("blocks"))
    text, fallback = _text(given, "text"), _text(given, "fallback")
    described = "\n\n".join(part for part in (_text(given, "pretext"), text, blocks.text) if part)
    cells = [*_cells(given.get("fields")), *blocks.cells]
    pictures = [given.get("image_url"), *blocks.images]
    shown = described or cells or any(given.get(key) for key in _SHOWN) or blocks.images
    color = read_color(given.get("color"))
    first = fit_embed(
        title=_plain(given, "title"),
        url=given.get("title_link"),
        description=described if shown else fallback,
        color=color,
        author=Link(_plain(given, "author_name"), given.get("author_link"), given.get("author_icon")),
        footer=Link(_plain(given, "footer"), icon=given.get("footer_icon")),
        image=next((picture for picture in pictures if picture), None),
        thumbnail=given.get("thumb_url"),
        cells=cells,
        moment=fit_moment(given.get("ts")),
    )
    further = [picture for picture in pictures if picture][1:]
    return [first, *(fit_embed(image=picture, color=color) for picture in further)]


def block_embeds(blocks: Rendered) -> list[EmbedInput | None]:
    """Embeds for what of a message's own blocks is no text: pictures and fields."""
    embeds: list[EmbedInput | None] = [fit_embed(cells=blocks.cells)] if blocks.cells else []
    return [*embeds, *(fit_embed(image=picture) for picture in blocks.images)]


_SHOWN: Final = ("title", "author_name", "image_url", "thumb_url", "footer")


def _text(given: dict[str, Any], key: str) -> str:
    value = given.get(key)
    return translate(value).strip() if isinstance(value, str) else ""


def _plain(given: dict[str, Any], key: str) -> str | None:
    value = given.get(key)
    return plain(value) if isinstance(value, str) else None


def _cells(given: object) -> Iterable[Cell]:
    for field in given[:_MAX_FIELDS] if isinstance(given, list) else ():
        if not isinstance(field, dict):
            continue
        name, value = field.get("title", field.get("name")), field.get("value")
        yield Cell(
            unescape(name) if isinstance(name, str) else name,
            translate(value) if isinstance(value, str) else value,
            inline=bool(field.get("short", field.get("inline"))),
        )
