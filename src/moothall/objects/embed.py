"""Embeds in requests and responses (resources: message, embed object)."""

from collections.abc import Sequence
from typing import Annotated, Final
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


class EmbedInput(Struct, frozen=True, kw_only=True):
    """An embed in a request. `type`, `provider`, `video` and image dimensions are ignored.

    Null equals absent, and so does a part without any key, as builders of embeds send it.
    """

    title: Annotated[str, Meta(max_length=limits.EMBED_TITLE_MAX)] | None = None
    description: Annotated[str, Meta(max_length=limits.EMBED_DESCRIPTION_MAX)] | None = None
    url: Url | None = None
    timestamp: Timestamp | None = None
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
        embed = reader.embed(source, ("embeds", index))
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
    return total + sum(len(field.name) + len(field.value) for field in embed.fields or ())


_Path = tuple[str | int, ...]


class _Reader:
    """Converts the embeds of a request and collects their errors."""

    def __init__(self, errors: FormErrors) -> None:
        self.errors = errors

    def embed(self, source: EmbedInput, at: _Path) -> Embed:
        embed = Embed(
            title=self.text(source.title),
            description=self.text(source.description),
            url=self.url(source.url, (*at, "url"), _LINK),
            timestamp=UNSET if source.timestamp is None else source.timestamp,
            color=UNSET if source.color is None else source.color,
            footer=self.footer(source.footer, (*at, "footer")),
            image=self.media(source.image, (*at, "image")),
            thumbnail=self.media(source.thumbnail, (*at, "thumbnail")),
            author=self.author(source.author, (*at, "author")),
            fields=[self.field(field, (*at, "fields", n)) for n, field in enumerate(source.fields)]
            if source.fields
            else UNSET,
        )
        shown = (embed.title, embed.description, embed.footer, embed.image, embed.thumbnail, embed.author, embed.fields)
        if all(part is UNSET for part in shown):
            self.errors.add((*at, "description"), *FieldError.required())
        return embed

    def text(self, source: str | None) -> str | UnsetType:
        return (source or "").strip() or UNSET

    def required(self, source: str | None, at: _Path) -> str:
        text = (source or "").strip()
        if not text:
            self.errors.add(at, *FieldError.required())
        return text

    def url(self, source: str | None, at: _Path, schemes: Sequence[str]) -> str | UnsetType:
        if not source:
            return UNSET
        if error := url_error(source, schemes):
            self.errors.add(at, *error)
        return source

    def media(self, source: EmbedMediaInput | None, at: _Path) -> EmbedMedia | UnsetType:
        url = self.url(source.url, (*at, "url"), _MEDIA) if source else UNSET
        return UNSET if url is UNSET else EmbedMedia(url=url)

    def footer(self, source: EmbedFooterInput | None, at: _Path) -> EmbedFooter | UnsetType:
        if source is None or source == EmbedFooterInput():
            return UNSET
        return EmbedFooter(
            text=self.required(source.text, (*at, "text")),
            icon_url=self.url(source.icon_url, (*at, "icon_url"), _MEDIA),
        )

    def author(self, source: EmbedAuthorInput | None, at: _Path) -> EmbedAuthor | UnsetType:
        if source is None or source == EmbedAuthorInput():
            return UNSET
        return EmbedAuthor(
            name=self.required(source.name, (*at, "name")),
            url=self.url(source.url, (*at, "url"), _LINK),
            icon_url=self.url(source.icon_url, (*at, "icon_url"), _MEDIA),
        )

    def field(self, source: EmbedFieldInput, at: _Path) -> EmbedField:
        return EmbedField(
            name=self.required(source.name, (*at, "name")),
            value=self.required(source.value, (*at, "value")),
            inline=bool(source.inline),
        )


def url_error(url: str, schemes: Sequence[str] = _LINK) -> FieldError | None:
    """The error of a URL in a request: malformed, or a scheme not in `schemes`; None for a valid URL."""
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
