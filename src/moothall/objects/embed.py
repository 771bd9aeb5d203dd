"""Embeds in requests and responses (resources: message, embed object)."""

import re
from collections.abc import Sequence
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.wire import Timestamp

Url = Annotated[str, Meta(max_length=limits.EMBED_URL_MAX)]


class EmbedMedia(Struct, frozen=True, kw_only=True):
    """An image or video of an embed. The server sets all fields but `url`."""

    url: str | UnsetType = UNSET
    proxy_url: str | UnsetType = UNSET
    height: int | UnsetType = UNSET
    width: int | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    placeholder: str | UnsetType = UNSET
    placeholder_version: int | UnsetType = UNSET
    description: str | UnsetType = UNSET
    flags: int | UnsetType = UNSET


class EmbedFooter(Struct, frozen=True, kw_only=True):
    """The footer of an embed."""

    text: str
    icon_url: str | UnsetType = UNSET
    proxy_icon_url: str | UnsetType = UNSET


class EmbedAuthor(Struct, frozen=True, kw_only=True):
    """The author line of an embed."""

    name: str
    url: str | UnsetType = UNSET
    icon_url: str | UnsetType = UNSET
    proxy_icon_url: str | UnsetType = UNSET


class EmbedProvider(Struct, frozen=True, kw_only=True):
    """The site of a link preview."""

    name: str | UnsetType = UNSET
    url: str | UnsetType = UNSET


class EmbedField(Struct, frozen=True, kw_only=True):
    """A field of an embed; `inline` fields stand side by side."""

    name: str
    value: str
    inline: bool = False


class Embed(Struct, frozen=True, kw_only=True):
    """An embed in responses; fields that were not set are absent."""

    type: str = "rich"
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    timestamp: Timestamp | UnsetType = UNSET
    color: int | UnsetType = UNSET
    footer: EmbedFooter | UnsetType = UNSET
    image: EmbedMedia | UnsetType = UNSET
    thumbnail: EmbedMedia | UnsetType = UNSET
    video: EmbedMedia | UnsetType = UNSET
    provider: EmbedProvider | UnsetType = UNSET
    author: EmbedAuthor | UnsetType = UNSET
    fields: list[EmbedField] | UnsetType = UNSET
    flags: int | UnsetType = UNSET


class EmbedMediaInput(Struct, frozen=True, kw_only=True):
    """An image in a request: an http, https or attachment:// URL; other keys are ignored."""

    url: Url | None = None


class EmbedFooterInput(Struct, frozen=True, kw_only=True):
    """A footer in a request."""

    text: Annotated[str, Meta(max_length=limits.EMBED_FOOTER_MAX)] | None = None
    icon_url: Url | None = None


class EmbedAuthorInput(Struct, frozen=True, kw_only=True):
    """An author line in a request."""

    name: Annotated[str, Meta(max_length=limits.EMBED_AUTHOR_MAX)] | None = None
    url: Url | None = None
    icon_url: Url | None = None


class EmbedFieldInput(Struct, frozen=True, kw_only=True):
    """A field in a request."""

    name: Annotated[str, Meta(max_length=limits.EMBED_FIELD_NAME_MAX)]
    value: Annotated[str, Meta(max_length=limits.EMBED_FIELD_VALUE_MAX)]
    inline: bool | None = None


class EmbedTimestamp(Timestamp):
    """The moment of an embed in a request. The first moment of 1970 is none, and so are 0, false and an empty text."""

    __slots__ = ()

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read a moment as Timestamp does, or a value that libraries send for none."""
        return super().from_wire(value) if value else cls(0)


class EmbedInput(Struct, frozen=True, kw_only=True):
    """An embed in a request. `type`, `provider`, `video` and image dimensions are ignored.

    Null equals absent, and so does a part without any key, as builders of embeds send it.
    """

    title: Annotated[str, Meta(max_length=limits.EMBED_TITLE_MAX)] | None = None
    description: Annotated[str, Meta(max_length=limits.EMBED_DESCRIPTION_MAX)] | None = None
    url: Url | None = None
    timestamp: EmbedTimestamp | None = None
    color: Annotated[int, Meta(ge=0, le=limits.COLOR_MAX)] | None = None
    footer: EmbedFooterInput | None = None
    image: EmbedMediaInput | None = None
    thumbnail: EmbedMediaInput | None = None
    author: EmbedAuthorInput | None = None
    fields: Annotated[list[EmbedFieldInput], Meta(max_length=limits.EMBED_FIELDS_MAX)] | None = None


EmbedInputs = Annotated[list[EmbedInput], Meta(max_length=limits.EMBEDS_MAX)]
"""The type of `embeds` in request bodies."""

_LINK: Final = ("http", "https")
_MEDIA: Final = ("http", "https", "attachment")


def read_embeds(inputs: Sequence[EmbedInput], errors: FormErrors) -> list[Embed]:
    """Convert the embeds of a request to those of responses, of type rich and with trimmed texts.

    Errors are added to `errors` below `embeds`: a blank author, footer or field, an empty embed, invalid URLs, and more
    than 6000 characters in all embeds together. The result is meaningless then.
    """
    reader = _Reader(errors)
    embeds = []
    total = 0
    for index, source in enumerate(inputs):
        embed = reader.embed(source, index)
        embeds.append(embed)
        within = total <= limits.EMBED_TOTAL_MAX
        total += embed_length(embed)
        if within and total > limits.EMBED_TOTAL_MAX:
            errors.add(
                ("embeds", index),
                FormCode.MAX_EMBED_SIZE_EXCEEDED,
                f"Embed size exceeds maximum size of {limits.EMBED_TOTAL_MAX}",
            )
    return embeds


def embed_length(embed: Embed) -> int:
    """The number of characters that an embed counts towards `EMBED_TOTAL_MAX`."""
    total = len(embed.title or "") + len(embed.description or "")
    if embed.footer:
        total += len(embed.footer.text)
    if embed.author:
        total += len(embed.author.name)
    for field in embed.fields or ():
        total += len(field.name) + len(field.value)
    return total


_USUAL_URL: Final = re.compile(r"https?://[A-Za-z0-9.-]+(?:[/?#][!-~]*)?")
"""Nearly every URL: a host name without a port, and no character that has to be looked at."""
_NO_FOOTER: Final = EmbedFooterInput()
_NO_AUTHOR: Final = EmbedAuthorInput()


class _Reader:
    """Converts the embeds of a request and collects their errors. The paths of fields are only built for errors."""

    def __init__(self, errors: FormErrors) -> None:
        self._errors = errors
        self._index = 0

    def embed(self, source: EmbedInput, index: int) -> Embed:
        self._index = index
        embed = Embed(
            title=_text(source.title),
            description=_text(source.description),
            url=self._url(source.url, _LINK, "url"),
            timestamp=source.timestamp or UNSET,
            color=UNSET if source.color is None else source.color,
            footer=self._footer(source.footer),
            image=self._media(source.image, "image"),
            thumbnail=self._media(source.thumbnail, "thumbnail"),
            author=self._author(source.author),
            fields=self._fields(source.fields) if source.fields else UNSET,
        )
        shown = (embed.title, embed.description, embed.footer, embed.image, embed.thumbnail, embed.author, embed.fields)
        if all(part is UNSET for part in shown):
            self._add(FieldError.required(), "description")
        return embed

    def _add(self, error: FieldError, *keys: str | int) -> None:
        self._errors.add(("embeds", self._index, *keys), *error)

    def _required(self, source: str | None, *keys: str | int) -> str:
        text = source.strip() if source else ""
        if not text:
            self._add(FieldError.required(), *keys)
        return text

    def _url(self, source: str | None, schemes: Sequence[str], *keys: str) -> str | UnsetType:
        if not source:
            return UNSET
        # All that is usual is valid in embeds.
        if _USUAL_URL.fullmatch(source) is None and (error := url_error(source, schemes)):
            self._add(error, *keys)
        return source

    def _media(self, source: EmbedMediaInput | None, key: str) -> EmbedMedia | UnsetType:
        url = self._url(source.url, _MEDIA, key, "url") if source else UNSET
        return UNSET if url is UNSET else EmbedMedia(url=url)

    def _footer(self, source: EmbedFooterInput | None) -> EmbedFooter | UnsetType:
        if source is None or source == _NO_FOOTER:
            return UNSET
        return EmbedFooter(
            text=self._required(source.text, "footer", "text"),
            icon_url=self._url(source.icon_url, _MEDIA, "footer", "icon_url"),
        )

    def _author(self, source: EmbedAuthorInput | None) -> EmbedAuthor | UnsetType:
        if source is None or source == _NO_AUTHOR:
            return UNSET
        return EmbedAuthor(
            name=self._required(source.name, "author", "name"),
            url=self._url(source.url, _LINK, "author", "url"),
            icon_url=self._url(source.icon_url, _MEDIA, "author", "icon_url"),
        )

    def _fields(self, sources: Sequence[EmbedFieldInput]) -> list[EmbedField]:
        fields = [
            EmbedField(name=source.name.strip(), value=source.value.strip(), inline=source.inline is True)
            for source in sources
        ]
        for number, field in enumerate(fields):
            if not (field.name and field.value):
                self._required(field.name, "fields", number, "name")
                self._required(field.value, "fields", number, "value")
        return fields


def _text(source: str | None) -> str | UnsetType:
    return (source.strip() or UNSET) if source else UNSET


def url_error(url: str, schemes: Sequence[str] = _LINK) -> FieldError | None:
    """The error of a URL in a request: malformed, or a scheme not in `schemes`; None for a valid URL."""
    if _USUAL_URL.fullmatch(url) is not None and url.partition(":")[0] in schemes:
        return None
    malformed = FieldError(FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
    if " " in url or not url.isprintable():  # other spaces are not printable
        return malformed
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return malformed
    if not parts.scheme:
        return malformed
    if parts.scheme not in schemes:
        names = ", ".join(map(repr, schemes))
        return FieldError(
            FormCode.URL_TYPE_INVALID_SCHEME,
            f'Scheme "{parts.scheme}" is not supported. Scheme must be one of ({names}).',
        )
    return None if host or (parts.scheme == "attachment" and parts.netloc) else malformed
