"""Embeds: what requests may carry and what answers show (resources: message, embed object)."""

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
    """A picture or video of an embed. The API supplies all but `url`."""

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
    """The last line of an embed."""

    text: str
    icon_url: str | UnsetType = UNSET
    proxy_icon_url: str | UnsetType = UNSET


class EmbedAuthor(Struct, frozen=True, kw_only=True):
    """The first line of an embed."""

    name: str
    url: str | UnsetType = UNSET
    icon_url: str | UnsetType = UNSET
    proxy_icon_url: str | UnsetType = UNSET


class EmbedProvider(Struct, frozen=True, kw_only=True):
    """The site that a link's embed comes from."""

    name: str | UnsetType = UNSET
    url: str | UnsetType = UNSET


class EmbedField(Struct, frozen=True, kw_only=True):
    """A titled cell of an embed; `inline` ones stand side by side."""

    name: str
    value: str
    inline: bool = False


class Embed(Struct, frozen=True, kw_only=True):
    """An embed as answers show it: what was not given is absent."""

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
    """A picture as a request names it: http, https or attachment://; its other keys are ignored."""

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
    """An embed in a request. `type`, `provider`, `video` and the measures of pictures are ignored; null is absent."""

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
"""The `embeds` of a request's body."""

_LINK: Final = ("http", "https")
_MEDIA: Final = ("http", "https", "attachment")


def read_embeds(inputs: Sequence[EmbedInput], errors: FormErrors) -> list[Embed]:
    """A request's embeds as answers will show them, always of type rich, texts trimmed.

    What is wrong with them is added to `errors` below `embeds`: a blank author, footer or field, an
    embed with nothing in it, bad URLs, and more than 6000 characters in all of them together. The
    result counts for nothing then.
    """
    reader = _Reader(errors)
    embeds = []
    total = 0
    for index, given in enumerate(inputs):
        embed = reader.embed(given, ("embeds", index))
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
    """How many characters an embed counts towards the 6000 of its message."""
    total = len(embed.title or "") + len(embed.description or "")
    if embed.footer:
        total += len(embed.footer.text)
    if embed.author:
        total += len(embed.author.name)
    return total + sum(len(field.name) + len(field.value) for field in embed.fields or ())


_Path = tuple[str | int, ...]


class _Reader:
    """Turns one request's embeds into answers', noting what is wrong with them."""

    def __init__(self, errors: FormErrors) -> None:
        self.errors = errors

    def embed(self, given: EmbedInput, at: _Path) -> Embed:
        embed = Embed(
            title=self.text(given.title),
            description=self.text(given.description),
            url=self.url(given.url, (*at, "url"), _LINK),
            timestamp=UNSET if given.timestamp is None else given.timestamp,
            color=UNSET if given.color is None else given.color,
            footer=UNSET if given.footer is None else self.footer(given.footer, (*at, "footer")),
            image=self.media(given.image, (*at, "image")),
            thumbnail=self.media(given.thumbnail, (*at, "thumbnail")),
            author=UNSET if given.author is None else self.author(given.author, (*at, "author")),
            fields=[self.field(field, (*at, "fields", n)) for n, field in enumerate(given.fields)]
            if given.fields
            else UNSET,
        )
        shown = (embed.title, embed.description, embed.footer, embed.image, embed.thumbnail, embed.author, embed.fields)
        if all(part is UNSET for part in shown):
            self.errors.add((*at, "description"), *FieldError.required())
        return embed

    def text(self, given: str | None) -> str | UnsetType:
        return (given or "").strip() or UNSET

    def required(self, given: str | None, at: _Path) -> str:
        text = (given or "").strip()
        if not text:
            self.errors.add(at, *FieldError.required())
        return text

    def url(self, given: str | None, at: _Path, schemes: Sequence[str]) -> str | UnsetType:
        if not given:
            return UNSET
        if error := url_error(given, schemes):
            self.errors.add(at, *error)
        return given

    def media(self, given: EmbedMediaInput | None, at: _Path) -> EmbedMedia | UnsetType:
        url = self.url(given.url, (*at, "url"), _MEDIA) if given else UNSET
        return UNSET if url is UNSET else EmbedMedia(url=url)

    def footer(self, given: EmbedFooterInput, at: _Path) -> EmbedFooter:
        return EmbedFooter(
            text=self.required(given.text, (*at, "text")),
            icon_url=self.url(given.icon_url, (*at, "icon_url"), _MEDIA),
        )

    def author(self, given: EmbedAuthorInput, at: _Path) -> EmbedAuthor:
        return EmbedAuthor(
            name=self.required(given.name, (*at, "name")),
            url=self.url(given.url, (*at, "url"), _LINK),
            icon_url=self.url(given.icon_url, (*at, "icon_url"), _MEDIA),
        )

    def field(self, given: EmbedFieldInput, at: _Path) -> EmbedField:
        return EmbedField(
            name=self.required(given.name, (*at, "name")),
            value=self.required(given.value, (*at, "value")),
            inline=bool(given.inline),
        )


def url_error(url: str, schemes: Sequence[str] = _LINK) -> FieldError | None:
    """What is wrong with a URL in a request, if anything: its form, or a scheme that is none of `schemes`."""
    malformed = FieldError(FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
    if " " in url or not url.isprintable():  # no other space is printable
        return malformed
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port  # raises where it is no port number
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
