"""Embeds from the payloads of other services: texts are truncated, and invalid values left out.

Payloads are not refused, since such services do not show errors to a user.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from moothall.objects import limits
from moothall.objects.embed import (
    EmbedAuthorInput,
    EmbedFieldInput,
    EmbedFooterInput,
    EmbedInput,
    EmbedMediaInput,
    EmbedTimestamp,
    url_error,
)
from moothall.objects.text import clean
from moothall.objects.wire import Timestamp

_ELLIPSIS: Final = "…"
_READ_FACTOR: Final = 4
"""A text is cut to this multiple of its maximum length before it is cleaned, which bounds the work."""
_URL_MAX: Final = limits.EMBED_URL_MAX
_TIMESTAMP_MAX: Final = 253_402_300_799_000
"""The end of the year 9999, in milliseconds since the Unix epoch."""


class LinkSource(Struct, frozen=True):
    """Unchecked text, URL and icon of an embed's author or footer; invalid values are left out."""

    text: object
    url: object = None
    icon: object = None


class FieldSource(Struct, frozen=True):
    """An unchecked field of an embed."""

    name: object
    value: object
    inline: bool = False


def truncate_text(value: object, maximum: int) -> str:
    """Return a trimmed text of at most `maximum` characters; empty if the value is neither text nor number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    if over := len(text) > _READ_FACTOR * maximum:
        text = text[: _READ_FACTOR * maximum]  # bounds the cost of clean()
    text = clean(text).strip()
    return text if len(text) <= maximum and not over else f"{text[: maximum - 1].rstrip()}{_ELLIPSIS}"


def embed_url(value: object) -> str | None:
    """Return a URL that is valid in embeds; None for any other value."""
    if not isinstance(value, str) or not value or len(value) > _URL_MAX or url_error(value) is not None:
        return None
    return value


def parse_timestamp(seconds: object) -> Timestamp | None:
    """Parse seconds since the Unix epoch, a number or text; None for any other value."""
    if isinstance(seconds, bool) or not isinstance(seconds, str | int | float):
        return None
    try:
        milliseconds = int(float(seconds) * 1000)
    except (ValueError, OverflowError):
        return None
    return Timestamp(milliseconds) if 0 <= milliseconds <= _TIMESTAMP_MAX else None


def build_embed(
    *,
    title: object = None,
    description: object = None,
    url: object = None,
    color: int | None = None,
    author: LinkSource | None = None,
    footer: LinkSource | None = None,
    image: object = None,
    thumbnail: object = None,
    fields: Iterable[FieldSource] = (),
    timestamp: Timestamp | None = None,
) -> EmbedInput | None:
    """Build an embed of the valid values; None if there are none."""
    name = truncate_text(author.text, limits.EMBED_AUTHOR_MAX) if author else ""
    foot = truncate_text(footer.text, limits.EMBED_FOOTER_MAX) if footer else ""
    picture, small = embed_url(image), embed_url(thumbnail)
    embed = EmbedInput(
        title=truncate_text(title, limits.EMBED_TITLE_MAX) or None,
        description=truncate_text(description, limits.EMBED_DESCRIPTION_MAX) or None,
        url=embed_url(url),
        color=color,
        timestamp=None if timestamp is None else EmbedTimestamp(timestamp),
        author=EmbedAuthorInput(name=name, url=embed_url(author.url), icon_url=embed_url(author.icon))
        if author and name
        else None,
        footer=EmbedFooterInput(text=foot, icon_url=embed_url(footer.icon)) if footer and foot else None,
        image=None if picture is None else EmbedMediaInput(url=picture),
        thumbnail=None if small is None else EmbedMediaInput(url=small),
        fields=_embed_fields(fields) or None,
    )
    shown = (embed.title, embed.description, embed.author, embed.footer, embed.image, embed.thumbnail, embed.fields)
    return None if all(value is None for value in shown) else embed


def truncate_embeds(embeds: Sequence[EmbedInput | None]) -> list[EmbedInput]:
    """Return as many of the embeds as fit into one message; the first that exceeds its total length is truncated."""
    left, kept = limits.EMBED_TOTAL_MAX, list[EmbedInput]()
    for embed in embeds:
        if embed is None:
            continue
        if len(kept) == limits.EMBEDS_MAX or left <= 0:
            break
        length = _length(embed)
        if length > left:
            shorter = _shorten(embed, left)
            return kept if shorter is None else [*kept, shorter]
        kept.append(embed)
        left -= length
    return kept


def _embed_fields(sources: Iterable[FieldSource]) -> list[EmbedFieldInput]:
    fields: list[EmbedFieldInput] = []
    for source in sources:
        name = truncate_text(source.name, limits.EMBED_FIELD_NAME_MAX)
        value = truncate_text(source.value, limits.EMBED_FIELD_VALUE_MAX)
        if not name and not value:
            continue
        # A field needs both, so an invisible character replaces an empty one.
        fields.append(
            EmbedFieldInput(name=name or _ZERO_WIDTH_SPACE, value=value or _ZERO_WIDTH_SPACE, inline=source.inline)
        )
        if len(fields) == limits.EMBED_FIELDS_MAX:
            break
    return fields


_ZERO_WIDTH_SPACE: Final = "\u200b"


def _length(embed: EmbedInput) -> int:
    texts = (
        embed.title,
        embed.description,
        embed.author and embed.author.name,
        embed.footer and embed.footer.text,
        *(text for field in embed.fields or () for text in (field.name, field.value)),
    )
    return sum(len(text) for text in texts if text)


def _shorten(embed: EmbedInput, maximum: int) -> EmbedInput | None:
    """Remove last fields from an embed, then shorten its description; None if it stays too long."""
    fields = list(embed.fields or ())
    while fields and _length(embed) > maximum:
        fields.pop()
        embed = structs.replace(embed, fields=fields or None)
    over = _length(embed) - maximum
    if over > 0 and embed.description is not None and len(embed.description) > over + 1:
        embed = structs.replace(embed, description=truncate_text(embed.description, len(embed.description) - over))
        over = _length(embed) - maximum
    return embed if over <= 0 else None
