"""The embed of a page, image or video, built from what was read of it, without I/O."""

import re
from typing import Final
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, UnsetType

from moothall.api.file_links import FileLinks
from moothall.objects import limits
from moothall.objects.embed import Embed, EmbedAuthor, EmbedMedia, EmbedProvider, url_error
from moothall.objects.text import clean_name
from moothall.resources.link_preview.page import Page

_TITLE_MAX: Final = 256
_DESCRIPTION_MAX: Final = 350
_NAME_MAX: Final = 256
_COLOUR: Final = re.compile(r"#(?:[0-9a-f]{6}|[0-9a-f]{3})", re.IGNORECASE)
_VIDEO_TYPES: Final = frozenset({"video/mp4", "video/webm", "video/ogg", "video/quicktime"})
_GIF: Final = "image/gif"
_PIXELS_MAX: Final = 16_384


class OEmbed(Struct, frozen=True):
    """An oEmbed document; what is missing or of another type is empty."""

    type: str = ""
    title: str = ""
    author_name: str = ""
    author_url: str = ""
    provider_name: str = ""
    provider_url: str = ""
    thumbnail_url: str = ""


class RemoteImage(Struct, frozen=True):
    """An image of another server that was looked at: its URL, media type, and size in pixels."""

    url: str
    content_type: str
    width: int
    height: int


class PageParts(Struct, frozen=True, kw_only=True):
    """Everything that the embed of a page is built from. URLs are absolute."""

    link: str
    """The link in the message."""
    page: Page
    oembed: OEmbed = OEmbed()
    image: RemoteImage | None = None
    video: str = ""


def is_video(content_type: str) -> bool:
    """Whether browsers play a media type as a video."""
    return content_type in _VIDEO_TYPES


def image_embed(links: FileLinks, link: str, image: RemoteImage) -> Embed:
    """The embed of a link to an image."""
    return Embed(type="image", url=link, thumbnail=_media(links, image))


def video_embed(links: FileLinks, link: str, content_type: str) -> Embed:
    """The embed of a link to a video."""
    return Embed(type="video", url=link, video=_video(links, link, content_type))


def page_embed(links: FileLinks, parts: PageParts) -> Embed | None:
    """The embed of a link to a page; None for a page that says nothing about itself."""
    page, oembed = parts.page, parts.oembed
    title = page.first("og:title", "twitter:title") or oembed.title or page.title
    description = page.first("og:description", "twitter:description", "description")
    video = _player(links, parts)
    if not (title or description or parts.image or video):
        return None
    kind = _kind(parts, video)
    return Embed(
        type=kind,
        url=parts.link,
        title=_text(title, _TITLE_MAX),
        description=_text(description, _DESCRIPTION_MAX),
        color=_colour(page.first("theme-color")),
        provider=_provider(parts, required=kind == "rich"),
        author=_author(oembed),
        thumbnail=UNSET if parts.image is None else _media(links, parts.image),
        video=UNSET if video is None else video,
    )


def _kind(parts: PageParts, video: EmbedMedia | None) -> str:
    page = parts.page
    if video is not None:
        moving = parts.image is not None and parts.image.content_type == _GIF
        return "gifv" if moving and video.proxy_url is not UNSET else "video"
    if parts.oembed.type == "rich":
        return "rich"
    large = page.first("twitter:card") == "summary_large_image"
    return "article" if page.first("og:type").startswith("article") or large else "link"


def _player(links: FileLinks, parts: PageParts) -> EmbedMedia | None:
    """The video of a page: a file, which is proxied, or the page of a player."""
    page, url = parts.page, parts.video
    if not url:
        return None
    sizes = _pixels(page.first("og:video:width")), _pixels(page.first("og:video:height"))
    kind = page.first("og:video:type", "og:video:secure_url:type").partition(";")[0].strip().lower()
    if is_video(kind):
        return _video(links, url, kind, *sizes)
    if kind and kind != "text/html":
        return None
    return EmbedMedia(url=url, width=sizes[0], height=sizes[1])


def _video(
    links: FileLinks, url: str, content_type: str, width: int | UnsetType = UNSET, height: int | UnsetType = UNSET
) -> EmbedMedia:
    proxied = links.proxy(url, video=True)
    return EmbedMedia(
        url=url,
        proxy_url=UNSET if proxied is None else proxied,
        width=width,
        height=height,
        content_type=content_type,
    )


def _media(links: FileLinks, image: RemoteImage) -> EmbedMedia:
    proxied = links.proxy(image.url)
    return EmbedMedia(
        url=image.url,
        proxy_url=UNSET if proxied is None else proxied,
        width=image.width,
        height=image.height,
        content_type=image.content_type,
    )


def _provider(parts: PageParts, *, required: bool) -> EmbedProvider | UnsetType:
    name = clean_name(parts.oembed.provider_name or parts.page.first("og:site_name"))[:_NAME_MAX]
    if not name and required:
        name = urlsplit(parts.link).hostname or ""
    return EmbedProvider(name=name, url=_url(parts.oembed.provider_url)) if name else UNSET


def _author(oembed: OEmbed) -> EmbedAuthor | UnsetType:
    name = clean_name(oembed.author_name)[: limits.EMBED_AUTHOR_MAX]
    return EmbedAuthor(name=name, url=_url(oembed.author_url)) if name else UNSET


def _url(url: str) -> str | UnsetType:
    return url if url and len(url) <= limits.EMBED_URL_MAX and url_error(url) is None else UNSET


def _text(text: str, maximum: int) -> str | UnsetType:
    """A text in one line of bounded length."""
    line = clean_name(text[: maximum * 4])
    if len(line) > maximum:
        line = line[: maximum - 1].rstrip() + "\u2026"
    return line or UNSET


def _colour(text: str) -> int | UnsetType:
    if not _COLOUR.fullmatch(text):
        return UNSET
    digits = text[1:]
    return int(digits if len(digits) == 6 else "".join(digit * 2 for digit in digits), 16)


def _pixels(text: str) -> int | UnsetType:
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:6]) <= _PIXELS_MAX else UNSET
