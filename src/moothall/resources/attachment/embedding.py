"""Files in embeds: `attachment://name` becomes the file's own URL, and the file is not listed a second time."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import UNSET, Struct, structs

from moothall.kernel.file_links import FileLinks, FilePath
from moothall.objects.embed import Embed, EmbedAuthor, EmbedFooter, EmbedMedia
from moothall.objects.ids import ChannelId
from moothall.objects.message import Attachment

_SCHEME: Final = "attachment://"
_Line = TypeVar("_Line", EmbedAuthor, EmbedFooter)


class Embedded(Struct, frozen=True):
    """Embeds with their files in place, and which files of the message they show."""

    embeds: list[Embed]
    shown: frozenset[int]


def embed_files(
    embeds: Sequence[Embed], files: Sequence[Attachment], links: FileLinks, channel_id: ChannelId
) -> Embedded:
    """Put pictures among a message's files where embeds name them; a name that is none of theirs stays as it is.

    URLs of this server's files are renewed whenever they are shown, if they are of the same channel or
    still good.
    """
    resolver = _Resolver({file.filename: file for file in reversed(files)}, links, channel_id)
    done = [resolver.embed(embed) for embed in embeds]
    return Embedded(done, frozenset(resolver.shown))


def files_shown(embeds: Sequence[Embed], files: Sequence[Attachment]) -> frozenset[int]:
    """Which files the embeds of a stored message show."""
    by_url = {file.url: int(file.id) for file in files}
    pictures = [media.url for embed in embeds for media in (embed.image, embed.thumbnail) if media]
    icons = [line.icon_url for embed in embeds for line in (embed.author, embed.footer) if line]
    return frozenset(by_url[url] for url in (*pictures, *icons) if url in by_url)


def own_mark(url: str, links: FileLinks, channel_id: ChannelId) -> FilePath | None:
    """The file of this server that a URL names, if it may be shown in a channel; None for any other URL."""
    path = links.find(url)
    if path is None:
        return None
    if path.channel_id == channel_id or links.is_authentic(path, urlsplit(url).query):
        return path
    return None


class _Resolver:
    def __init__(self, files: Mapping[str, Attachment], links: FileLinks, channel_id: ChannelId) -> None:
        self.shown: set[int] = set()
        self._files = files
        self._by_id = {int(file.id): file for file in files.values()}
        self._links = links
        self._channel_id = channel_id

    def embed(self, embed: Embed) -> Embed:
        return structs.replace(
            embed,
            image=UNSET if embed.image is UNSET else self._media(embed.image),
            thumbnail=UNSET if embed.thumbnail is UNSET else self._media(embed.thumbnail),
            author=UNSET if embed.author is UNSET else self._line(embed.author),
            footer=UNSET if embed.footer is UNSET else self._line(embed.footer),
        )

    def _media(self, media: EmbedMedia) -> EmbedMedia:
        url = media.url or ""
        file = self._find(url)
        if file is None:
            path = own_mark(url, self._links, self._channel_id)
            return media if path is None else EmbedMedia(url=path.mark, proxy_url=path.mark)
        return EmbedMedia(
            url=file.url,
            proxy_url=file.proxy_url,
            height=file.height or UNSET,
            width=file.width or UNSET,
            content_type=file.content_type,
            description=file.description,
        )

    def _line(self, line: _Line) -> _Line:
        url = line.icon_url or ""
        file = self._find(url)
        if file is not None:
            return structs.replace(line, icon_url=file.url, proxy_icon_url=file.proxy_url)
        path = own_mark(url, self._links, self._channel_id)
        return line if path is None else structs.replace(line, icon_url=path.mark, proxy_icon_url=path.mark)

    def _find(self, url: str) -> Attachment | None:
        """The picture of this message that a URL names."""
        if url.startswith(_SCHEME):
            name = url.removeprefix(_SCHEME)
            file = self._files.get(name) or self._files.get(unquote(name))
        else:
            path = self._links.find(url)
            file = None if path is None else self._by_id.get(int(path.id))
        if file is None or not file.width:
            return None
        self.shown.add(int(file.id))
        return file
