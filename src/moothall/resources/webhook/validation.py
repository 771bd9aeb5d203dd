"""Embeds out of what other services send: texts cut to what fits, and whatever no embed can hold left out.

Nobody reads the error that such a service gets, so nothing of it is refused.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from moothall.objects import limits
from moothall.objects.embed import (
    EmbedAuthorInput,
    EmbedFieldInput,
    EmbedFooterInput,
    EmbedInput,
    EmbedMediaInput,
    url_error,
)
from moothall.objects.text import clean
from moothall.objects.wire import Timestamp

_ELLIPSIS: Final = "…"
_CLEANED: Final = 4
"""So many times of what fits is looked at: more than that need not be read to know how it begins."""
_URL_MAX: Final = limits.EMBED_URL_MAX
_MOMENT_MAX: Final = 253_402_300_799_000
"""The last moment that can be written, in milliseconds since the Unix epoch."""


class Link(Struct, frozen=True):
    """A text that may lead somewhere, and may have an icon: what is no text or URL is left out."""

    text: Any
    url: Any = None
    icon: Any = None


class Cell(Struct, frozen=True):
    """A field of an embed."""

    name: Any
    value: Any
    inline: bool = False


def fit_text(given: object, maximum: int) -> str:
    """A text of at most `maximum` characters, trimmed; empty for what is no text."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return ""
    text = str(given).strip()
    if over := len(text) > _CLEANED * maximum:
        text = text[: _CLEANED * maximum]  # a megabyte is not cleaned for the sake of a line
    text = clean(text).strip()
    return text if len(text) <= maximum and not over else f"{text[: maximum - 1].rstrip()}{_ELLIPSIS}"


def fit_url(given: object) -> str | None:
    """A URL that embeds may hold; None for what is none."""
    if not isinstance(given, str) or not given or len(given) > _URL_MAX or url_error(given) is not None:
        return None
    return given


def fit_moment(seconds: object) -> Timestamp | None:
    """A moment from seconds since the Unix epoch, which may be a text; None for what is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, str | int | float):
        return None
    try:
        moment = int(float(seconds) * 1000)
    except (ValueError, OverflowError):
        return None
    return Timestamp(moment) if 0 <= moment <= _MOMENT_MAX else None


def fit_embed(
    *,
    title: object = None,
    description: object = None,
    url: object = None,
    color: int | None = None,
    author: Link | None = None,
    footer: Link | None = None,
    image: object = None,
    thumbnail: object = None,
    cells: Iterable[Cell] = (),
    moment: Timestamp | None = None,
) -> EmbedInput | None:
    """An embed of what can be shown; None where nothing is left."""
    name = fit_text(author.text, limits.EMBED_AUTHOR_MAX) if author else ""
    foot = fit_text(footer.text, limits.EMBED_FOOTER_MAX) if footer else ""
    picture, small = fit_url(image), fit_url(thumbnail)
    embed = EmbedInput(
        title=fit_text(title, limits.EMBED_TITLE_MAX) or None,
        description=fit_text(description, limits.EMBED_DESCRIPTION_MAX) or None,
        url=fit_url(url),
        color=color,
        timestamp=moment,
        author=EmbedAuthorInput(name=name, url=fit_url(author.url), icon_url=fit_url(author.icon))
        if author and name
        else None,
        footer=EmbedFooterInput(text=foot, icon_url=fit_url(footer.icon)) if footer and foot else None,
        image=None if picture is None else EmbedMediaInput(url=picture),
        thumbnail=None if small is None else EmbedMediaInput(url=small),
        fields=_fit_cells(cells) or None,
    )
    shown = (embed.title, embed.description, embed.author, embed.footer, embed.image, embed.thumbnail, embed.fields)
    return None if all(part is None for part in shown) else embed


def fit_message(embeds: Sequence[EmbedInput | None]) -> list[EmbedInput]:
    """As many of the embeds as one message takes, the first one that is too long for it cut to what is left."""
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


def _fit_cells(cells: Iterable[Cell]) -> list[EmbedFieldInput]:
    found: list[EmbedFieldInput] = []
    for cell in cells:
        name = fit_text(cell.name, limits.EMBED_FIELD_NAME_MAX)
        value = fit_text(cell.value, limits.EMBED_FIELD_VALUE_MAX)
        if not name and not value:
            continue
        # A field shows both; what looks like nothing stands for the one that is missing.
        found.append(EmbedFieldInput(name=name or _NOTHING, value=value or _NOTHING, inline=cell.inline))
        if len(found) == limits.EMBED_FIELDS_MAX:
            break
    return found


_NOTHING: Final = "\u200b"


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
    """An embed without its last fields, then with a shorter description; None if that does not suffice."""
    fields = list(embed.fields or ())
    while fields and _length(embed) > maximum:
        fields.pop()
        embed = structs.replace(embed, fields=fields or None)
    over = _length(embed) - maximum
    if over > 0 and embed.description is not None and len(embed.description) > over + 1:
        embed = structs.replace(embed, description=fit_text(embed.description, len(embed.description) - over))
        over = _length(embed) - maximum
    return embed if over <= 0 else None
