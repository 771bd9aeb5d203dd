"""Files in embeds: `attachment://name` becomes the URL of the file, with the dimensions of the image."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import unquote

from msgspec import UNSET, structs

from moothall.kernel.file_links import FileLinks
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
