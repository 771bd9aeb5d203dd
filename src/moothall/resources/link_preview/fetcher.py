"""Previews of links: fetched from their servers, outside any transaction, and cached in the database.

A request that a message causes goes to public addresses only, has a bounded time, size and number of redirects, and no
more than a few run at once for a host. Failures are cached too, so that a link is not requested again for each message.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

import msgspec
from msgspec import Raw, Struct

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.embed import Embed, url_error
from moothall.objects.limits import EMBED_URL_MAX
from moothall.objects.wire import Timestamp, encode
from moothall.resources.link_preview import queries
from moothall.resources.link_preview.building import (
    OEmbed,
    PageParts,
    RemoteImage,
    image_embed,
    is_video,
    page_embed,
    video_embed,
)
from moothall.resources.link_preview.page import parse_page
from moothall.runtime.budgets import Payer
from moothall.runtime.lanes import enter_lane
from moothall.runtime.outgoing import Outgoing, OutgoingFailed, ResponseStream, read_start
from moothall.runtime.single_flight import SingleFlight
from moothall.runtime.work_pool import PayerPool, WorkPool

if TYPE_CHECKING:
    from moothall.api.context import Services

CACHED_MAX: Final = 20_000
"""The number of cached links; those that expire first are removed."""
_EMBED_MS: Final = 24 * 3600_000
_NOTHING_MS: Final = 3600_000
_FAILURE_MS: Final = 300_000

_SECONDS: Final = 10.0
"""For one request with its redirects."""
_REDIRECTS: Final = 4
_PAGE_BYTES: Final = 512 * 1024
_IMAGE_BYTES: Final = 256 * 1024
"""The beginning of an image, which has its size in pixels."""
_OEMBED_BYTES: Final = 64 * 1024
_CONNECTIONS: Final = 20
_CONNECTIONS_PER_HOST: Final = 2
_IMAGE_TYPES: Final = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
}
"""The formats of images that browsers show, as Pillow names them, with their media types."""
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_-]{1,40})", re.IGNORECASE)
_PAGE_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_ACCEPT: Final = {"accept": "text/html,application/xhtml+xml,image/*;q=0.9,video/*;q=0.8,*/*;q=0.5"}

log = logging.getLogger("moothall.link_previews")


class _Response(Struct, frozen=True):
    """The beginning of a response."""

    status: int
    url: str
    content_type: str
    charset: str
    body: bytes


class _Result(Struct, frozen=True):
    """The embeds of a link as JSON objects, and how long they may be cached, in milliseconds."""

    embeds: list[Raw]
    valid_ms: int


class LinkPreviews:
    """Fetches and caches the embeds of links. A link is fetched once however many messages ask for it meanwhile."""

    def __init__(self, services: "Services") -> None:
        self._services = services
        self._fetching = SingleFlight[str, list[Raw]]()
        self._pool = WorkPool("previews", services.budgets, threads=2)
        limits = services.limits
        self.outgoing = Outgoing(
            allow_private=limits.allow_private_addresses,
            agent=f"Mozilla/5.0 (compatible; Moothall/1.0; +{limits.public_url})",
            proxy=limits.outgoing_proxy,
            connections=_CONNECTIONS,
            connections_per_host=_CONNECTIONS_PER_HOST,
        )

    async def get_all(self, links: Sequence[str], payer: Payer) -> dict[str, list[Raw]]:
        """The embeds of links as JSON objects, by link: of the cache, or fetched. Raises StorageError, WorkRefused.

        The CPU time of those that are fetched is charged to `payer`, unless another one has begun to fetch them.
        """
        async with self._services.database.read() as reader:
            cached = await queries.select_previews(reader, links, Timestamp.now())
        missing = [link for link in links if link not in cached]
        if missing:
            self._services.budgets.check(payer)
        fetched = await asyncio.gather(
            *(self._fetching.get(link, partial(self._fetch_and_cache, link, payer)) for link in missing)
        )
        return cached | dict(zip(missing, fetched, strict=True))

    async def close(self) -> None:
        """Cancel the requests in flight."""
        await self._fetching.close()
        await self.outgoing.close()
        self._pool.close()

    async def _fetch_and_cache(self, link: str, payer: Payer) -> list[Raw]:
        # A task of its own: what it waits for, it waits for on behalf of the author.
        enter_lane(lambda: payer.lane)
        try:
            result = await self._fetch(link, self._pool.for_payer(payer))
        except OutgoingFailed as problem:
            log.info("no preview of %s: %s", link, problem)
            result = _Result([], _FAILURE_MS)

        async def store(ctx: Context) -> None:
            await queries.upsert_preview(ctx.tx, link, result.embeds, Timestamp(ctx.now + result.valid_ms))
            await queries.delete_previews(ctx.tx, ctx.now, maximum=CACHED_MAX)

        await unit_of_work.run(self._services, ANONYMOUS, store, fires=())
        return result.embeds

    async def _fetch(self, link: str, pool: PayerPool) -> _Result:
        response = await self._get(link, page_bytes=_PAGE_BYTES)
        if response.status != 200:
            return _Result([], _NOTHING_MS if 400 <= response.status < 500 else _FAILURE_MS)
        embed: Embed | None = None
        links = self._services.links
        if response.content_type in _PAGE_TYPES:
            embed = await self._page(link, response, pool)
        elif response.content_type.startswith("image/"):
            image = await _image_of(response, pool)
            embed = None if image is None else image_embed(links, link, msgspec.structs.replace(image, url=link))
        elif is_video(response.content_type):
            embed = video_embed(links, link, response.content_type)
        return _Result([], _NOTHING_MS) if embed is None else _Result([Raw(encode(embed))], _EMBED_MS)

    async def _page(self, link: str, response: _Response, pool: PayerPool) -> Embed | None:
        page = await pool.run(partial(parse_page, response.body, response.charset))
        base = urljoin(response.url, page.base) if page.base else response.url
        oembed = await self._oembed(_absolute(base, page.oembed)) if page.oembed else OEmbed()
        named = page.first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
        image_url = _absolute(base, named or oembed.thumbnail_url)
        parts = PageParts(
            link=link,
            page=page,
            oembed=oembed,
            image=await self._image(image_url, pool) if image_url else None,
            video=_absolute(base, page.first("og:video:secure_url", "og:video:url", "og:video")),
        )
        return page_embed(self._services.links, parts)

    async def _oembed(self, url: str) -> OEmbed:
        """An oEmbed document; empty if there is none."""
        if not url:
            return OEmbed()
        try:
            response = await self._get(url, page_bytes=_OEMBED_BYTES)
            fields = msgspec.json.decode(response.body) if response.status == 200 else {}
        except (OutgoingFailed, ValueError, RecursionError):
            return OEmbed()
        if not isinstance(fields, dict):
            return OEmbed()
        texts = {name: value for name, value in fields.items() if isinstance(value, str) and value.isprintable()}
        return msgspec.convert(texts, OEmbed)

    async def _image(self, url: str, pool: PayerPool) -> RemoteImage | None:
        """The image at a URL; None if there is none that browsers show."""
        try:
            response = await self._get(url, page_bytes=0)
        except OutgoingFailed:
            return None
        image = await _image_of(response, pool) if response.status == 200 else None
        return None if image is None else msgspec.structs.replace(image, url=url)

    async def _get(self, url: str, *, page_bytes: int) -> _Response:
        read = partial(_read_response, page_bytes=page_bytes)
        return await self.outgoing.get(url, _ACCEPT, seconds=_SECONDS, read=read, redirects=_REDIRECTS)


async def _image_of(response: _Response, pool: PayerPool) -> RemoteImage | None:
    return await pool.run(partial(_read_image, response.url, response.body))


async def _read_response(response: ResponseStream, *, page_bytes: int) -> _Response:
    """Read the beginning of a page, of which there are `page_bytes`, or of an image; of others nothing."""
    kind, _, parameters = response.content_type.partition(";")
    content_type = kind.strip().lower()
    maximum = _IMAGE_BYTES if content_type.startswith("image/") else 0 if is_video(content_type) else page_bytes
    return _Response(
        status=response.status,
        url=response.url,
        content_type=content_type,
        charset=_charset(parameters),
        body=await read_start(response, maximum=maximum) if maximum else b"",
    )


def _charset(parameters: str) -> str:
    """The charset among the parameters of a media type; "" without one."""
    match = _CHARSET.search(parameters)
    return "" if match is None else match[1]


def _read_image(url: str, data: bytes) -> RemoteImage | None:
    """Read the type and size of an image from its beginning; None if browsers do not show it. Blocking."""
    from PIL import Image  # noqa: PLC0415 only what decodes images imports it

    try:
        with Image.open(BytesIO(data), formats=tuple(_IMAGE_TYPES)) as image:
            return RemoteImage(url, _IMAGE_TYPES[image.format or ""], image.width, image.height)
    except Exception:  # noqa: BLE001 decoders raise anything for malicious files
        return None


def _absolute(base: str, url: str) -> str:
    """A URL of a page that is fit for an embed; "" for any other."""
    try:
        absolute = urljoin(base, url.strip()) if url else ""
    except ValueError:
        return ""
    fits = len(absolute) <= EMBED_URL_MAX and url_error(absolute) is None
    return absolute if absolute and fits else ""
