"""Files in embeds: `attachment://name` becomes the URL of the file, with the dimensions of the image."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import unquote

from msgspec import UNSET, UnsetType, structs

from moothall.api.file_links import FileLinks
from moothall.objects.embed import Embed, EmbedAuthor, EmbedFooter, EmbedMedia
from moothall.objects.message import Attachment

_SCHEME: Final = "attachment://"
_Line = TypeVar("_Line", EmbedAuthor, EmbedFooter)


def embed_files(embeds: Sequence[Embed], files: Sequence[Attachment], links: FileLinks) -> list[Embed]:
    """Embeds with the images among a message's files in place of their names or URLs; other URLs stay as they are."""
    if not files:
        return list(embeds)
    resolver = _Resolver({file.filename: file for file in reversed(files)}, files, links)
    return [resolver.embed(embed) for embed in embeds]


def proxy_embeds(embeds: Sequence[Embed], links: FileLinks) -> list[Embed]:
    """Embeds with proxied URLs of the images of other servers."""
    return [
        structs.replace(
            embed,
            image=UNSET if embed.image is UNSET else _proxied_media(embed.image, links),
            thumbnail=UNSET if embed.thumbnail is UNSET else _proxied_media(embed.thumbnail, links),
            author=UNSET if embed.author is UNSET else _proxied_icon(embed.author, links),
            footer=UNSET if embed.footer is UNSET else _proxied_icon(embed.footer, links),
        )
        for embed in embeds
    ]


def _proxied_media(media: EmbedMedia, links: FileLinks) -> EmbedMedia:
    proxied = _proxied_url(media.url, media.proxy_url, links)
    return media if proxied is None else structs.replace(media, proxy_url=proxied)


def _proxied_icon(line: _Line, links: FileLinks) -> _Line:
    proxied = _proxied_url(line.icon_url, line.proxy_icon_url, links)
    return line if proxied is None else structs.replace(line, proxy_icon_url=proxied)


def _proxied_url(url: str | UnsetType, known: str | UnsetType, links: FileLinks) -> str | None:
    """The proxied URL of an image; None if it has one already, cannot have one, or is no image of a server."""
    if url is UNSET or known is not UNSET or not url.startswith(("http://", "https://")):
        return None
    return links.proxy(url)


class _Resolver:
    def __init__(self, by_name: Mapping[str, Attachment], files: Sequence[Attachment], links: FileLinks) -> None:
        self._by_name = by_name
        self._by_id = {int(file.id): file for file in files}
        self._links = links

    def embed(self, embed: Embed) -> Embed:
        return structs.replace(
            embed,
            image=UNSET if embed.image is UNSET else self._media(embed.image),
            thumbnail=UNSET if embed.thumbnail is UNSET else self._media(embed.thumbnail),
            author=UNSET if embed.author is UNSET else self._line(embed.author),
            footer=UNSET if embed.footer is UNSET else self._line(embed.footer),
        )

    def _media(self, media: EmbedMedia) -> EmbedMedia:
        file = self._find(media.url or "")
        if file is None:
            return media
        return EmbedMedia(
            url=file.url,
            proxy_url=file.proxy_url,
            height=file.height or UNSET,
            width=file.width or UNSET,
            content_type=file.content_type,
            description=file.description,
        )

    def _line(self, line: _Line) -> _Line:
        file = self._find(line.icon_url or "")
        return line if file is None else structs.replace(line, icon_url=file.url, proxy_icon_url=file.proxy_url)

    def _find(self, url: str) -> Attachment | None:
        """The image among the files that a URL names."""
        if url.startswith(_SCHEME):
            name = url.removeprefix(_SCHEME)
            file = self._by_name.get(name) or self._by_name.get(unquote(name))
        else:
            path = self._links.find(url)
            file = None if path is None else self._by_id.get(int(path.id))
        return file if file is not None and file.width else None
