"""Images and videos of other servers at `/external/{signature}/{kind}/{url}`, which never see readers' addresses.

Only URLs that this server has signed are requested, and only at public addresses. An image is read whole, verified by
its header, cached on the disk, and scaled like an attachment; a video is passed on while it is read. What is neither is
not passed on, whatever its server calls it.
"""

import asyncio
import hashlib
import logging
import re
from functools import partial
from io import BytesIO
from typing import Final

from msgspec import Struct

from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.api.file_links import FileLinks
from moothall.cdn.formats import MEDIA_TYPES
from moothall.cdn.images import ALWAYS, respond
from moothall.cdn.renditions import Rendition, SourceImage, make_rendition_or, rendition_parameters, select_rendition
from moothall.cdn.sizes import SIZE_MAX
from moothall.objects import errors
from moothall.objects.clock import CLOCK
from moothall.objects.errors import Refusal
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.background import BackgroundTask
from moothall.runtime.budgets import Payer, WorkRefused
from moothall.runtime.cache import Cache
from moothall.runtime.fair_slots import FairSlots
from moothall.runtime.outgoing import Outgoing, OutgoingFailed, ResponseStream, read_whole
from moothall.runtime.single_flight import SingleFlight
from moothall.runtime.work_pool import WorkPool
from moothall.storage.disk_cache import DiskCache

_TYPES: Final = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
}
"""Formats of images that are passed on, as Pillow names them."""
_VIDEO_TYPES: Final = frozenset({"video/mp4", "video/webm", "video/ogg", "video/quicktime"})
_IMAGE_BYTES_MAX: Final = 16 * 1024 * 1024
_IMAGE_SECONDS: Final = 20.0
_VIDEO_BYTES_MAX: Final = 100 * 1024 * 1024
_VIDEO_SECONDS: Final = 300.0
_VIDEOS_MAX: Final = 16
_REDIRECTS: Final = 4
_SLOTS: Final = 32
_SLOTS_EACH: Final = 8
_WAITING_MAX: Final = 512
_WAITING_EACH: Final = 128
_FAILURE_SECONDS: Final = 60.0
_FAILURES_MAX: Final = 4096
_RANGE: Final = re.compile(rb"bytes=\d{0,15}-\d{0,15}")
_CONTENT_RANGE: Final = re.compile(r"bytes \d{1,15}-\d{1,15}/(?:\d{1,15}|\*)")
_SOURCE: Final = "source"
_CACHE_CONTROL: Final = (b"cache-control", b"public, max-age=86400")
_PLAIN: Final = (b"content-type", b"text/plain; charset=utf-8")
_UNAVAILABLE: Final = b"This image cannot be shown."

log = logging.getLogger("moothall.files")


class _Source(Struct, frozen=True):
    """An image of another server."""

    data: bytes
    image: SourceImage


class ExternalMedia(BackgroundTask):
    """The ASGI application of proxied images and videos. As a background task, it indexes its cache at the start."""

    PREFIX: Final = "/external/"
    CONNECTIONS: Final = 40
    CONNECTIONS_PER_HOST: Final = 8

    def __init__(self, links: FileLinks, outgoing: Outgoing, cache: DiskCache, limits: AddressLimits) -> None:
        super().__init__()
        self._links = links
        self._outgoing = outgoing
        self._cache = cache
        self._limits = limits
        self._slots = FairSlots(_SLOTS, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH, each=_SLOTS_EACH)
        self._pool = WorkPool(
            "external", limits.scaling, threads=2, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH
        )
        self._loading = SingleFlight[str, _Source | None]()
        self._failures: Cache[str, float] = Cache(_FAILURES_MAX)
        self._videos = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] not in {"GET", "HEAD"}:
            await respond(send, scope, 405, b"", [(b"allow", b"GET, HEAD")])
            return
        proxied = self._links.read_proxied(scope["path"])
        if proxied is None:
            await respond(send, scope, 404, _UNAVAILABLE, [_PLAIN])
            return
        try:
            if proxied.video:
                await self._serve_video(scope, receive, send, proxied.url)
            else:
                await self._serve_image(scope, send, proxied.url)
        except (Refusal, WorkRefused) as refusal:
            await send_refusal(scope, send, refusal)

    async def close(self) -> None:
        """Cancel the requests in flight."""
        await self.stop()
        await self._loading.close()
        await self._outgoing.close()
        self._pool.close()
        self._cache.close()

    async def _run(self) -> None:
        try:
            await self._cache.load()
        except Exception:
            log.exception("the cache of images of other servers cannot be read")

    # Images

    async def get_image(self, url: str, ending: str, size: int | None, client: Payer) -> bytes | None:
        """An image of another server in a format, with at most `size` pixels on its longer side; None if there is none.

        Raises Refusal: 429 if the client has caused too much work; Overloaded if too many requests wait.
        """
        source = await self._source(url, client)
        if source is None:
            return None
        rendition = select_rendition(source.image, {"format": ending, "size": str(size or SIZE_MAX)})
        if rendition is not None:
            return await self._rendition(url, source, rendition, client) or None
        return source.data if source.image.content_type == MEDIA_TYPES[ending] else None

    async def _serve_image(self, scope: Scope, send: Send, url: str) -> None:
        client = self._limits.client(scope)
        source = await self._source(url, client)
        if source is None:
            await respond(send, scope, 404, _UNAVAILABLE, [_PLAIN, (b"cache-control", b"public, max-age=60")])
            return
        parameters = rendition_parameters(scope["query_string"].decode("latin-1"))
        rendition = select_rendition(source.image, parameters) if parameters else None
        data, content_type = source.data, source.image.content_type
        if rendition is not None:
            scaled = await self._rendition(url, source, rendition, client)
            if scaled:
                data, content_type = scaled, MEDIA_TYPES[rendition.format]
        await respond(send, scope, 200, data, [(b"content-type", content_type.encode()), _CACHE_CONTROL])

    async def _source(self, url: str, client: Payer) -> _Source | None:
        """An image of the cache, or requested now; None if there is none. Raises Overloaded if too many wait."""
        failed_at = self._failures.get(url)
        if failed_at is not None and CLOCK.monotonic() - failed_at < _FAILURE_SECONDS:
            return None
        return await self._loading.get(url, partial(self._load, url, client))

    async def _load(self, url: str, client: Payer) -> _Source | None:
        group = _group(url)
        data = await self._cache.get(group, _SOURCE)
        if data is None:
            async with self._slots.slot(client.lane):
                data = await self._fetch(url)
            source = None if data is None else await self._pool.run(client, partial(_read_image, data))
            if data is None or source is None:
                self._failures.keep(url, CLOCK.monotonic())
                return None
            await self._cache.put(group, _SOURCE, data)
            return source
        return await self._pool.run(client, partial(_read_image, data))

    async def _fetch(self, url: str) -> bytes | None:
        """The bytes of a response; None if there is no successful one."""
        try:
            response = await self._outgoing.get(
                url,
                {"accept": "image/*"},
                seconds=_IMAGE_SECONDS,
                read=partial(read_whole, maximum=_IMAGE_BYTES_MAX),
                redirects=_REDIRECTS,
            )
        except OutgoingFailed as problem:
            log.info("%s cannot be passed on: %s", url, problem)
            return None
        return response.body if response.status == 200 else None

    async def _rendition(self, url: str, source: _Source, rendition: Rendition, client: Payer) -> bytes:
        """A rendition of an image; empty if it cannot be made. Raises Refusal: 429; Overloaded."""
        group = _group(url)
        cached = await self._cache.get(group, rendition.name)
        if cached is not None:
            return cached
        data = await self._pool.run(client, partial(make_rendition_or, b"", source.data, rendition))
        await self._cache.put(group, rendition.name, data)
        return data

    # Videos

    async def _serve_video(self, scope: Scope, receive: Receive, send: Send, url: str) -> None:
        """Pass a video on, or the range of it that is requested. Raises Refusal: 503 if too many are passed on."""
        if self._videos >= _VIDEOS_MAX:
            raise Refusal(errors.UNAVAILABLE, headers={"retry-after": "2"})
        requested = next((value for name, value in scope["headers"] if name == b"range"), b"")
        headers = {"range": requested.decode()} if _RANGE.fullmatch(requested) else {}
        started = _Started()
        transfer = asyncio.create_task(
            self._outgoing.get(
                url,
                {"accept": "video/*", **headers},
                seconds=_VIDEO_SECONDS,
                read=partial(_pass_on, scope, send, started),
                redirects=_REDIRECTS,
            )
        )
        disconnected = asyncio.create_task(_wait_for_disconnect(receive))
        self._videos += 1
        try:
            await asyncio.wait({transfer, disconnected}, return_when=asyncio.FIRST_COMPLETED)
            if transfer.done():
                transfer.result()
        except OutgoingFailed as problem:
            log.info("%s cannot be passed on: %s", url, problem)
            if not started.started:
                await respond(send, scope, 404, _UNAVAILABLE, [_PLAIN])
        finally:
            self._videos -= 1
            transfer.cancel()
            disconnected.cancel()
            await asyncio.gather(transfer, disconnected, return_exceptions=True)


class _Started:
    """Whether a response was started."""

    started = False


async def _pass_on(scope: Scope, send: Send, started: _Started, response: ResponseStream) -> None:
    """Send a video as it is read. Raises OutgoingFailed for what is no video, and one that is too large."""
    content_type = response.content_type.partition(";")[0].strip().lower()
    if response.status not in {200, 206} or content_type not in _VIDEO_TYPES:
        raise OutgoingFailed(f"status {response.status} and type {content_type}")
    length = response.headers.get("content-length", "")
    if not length.isdigit() or int(length) > _VIDEO_BYTES_MAX:
        raise OutgoingFailed("the video is too large, or does not say its size")
    headers = [(b"content-type", content_type.encode()), (b"content-length", length.encode()), _CACHE_CONTROL]
    content_range = response.headers.get("content-range", "")
    if response.status == 206 and _CONTENT_RANGE.fullmatch(content_range):
        headers.append((b"content-range", content_range.encode()))
    if response.status == 206 or response.headers.get("accept-ranges") == "bytes":
        headers.append((b"accept-ranges", b"bytes"))
    started.started = True
    await send({"type": "http.response.start", "status": response.status, "headers": [*headers, *ALWAYS]})
    if scope["method"] != "HEAD":
        async for chunk in response.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _group(url: str) -> int:
    """The group of a URL in the cache."""
    return int.from_bytes(hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:8])


def _read_image(data: bytes) -> _Source | None:
    """An image of a format that browsers show; None for anything else. Blocking."""
    from PIL import Image  # noqa: PLC0415 see moothall.cdn.formats

    try:
        with Image.open(BytesIO(data), formats=tuple(_TYPES)) as image:
            kind, animated = _TYPES[image.format or ""], bool(getattr(image, "is_animated", False))
            return _Source(data, SourceImage(kind, image.width, image.height, animated, len(data)))
    except Exception:  # noqa: BLE001 decoders raise anything for malicious files
        return None
