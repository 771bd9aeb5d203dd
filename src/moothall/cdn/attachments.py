"""Attachments at `/attachments/{channel}/{id}/{filename}`, for requests with a signed URL that has not expired.

A file, or a range of it, is streamed from the store of blobs. Browsers display only images, audio and video and
download everything else; nothing runs in this server's origin.
"""

import asyncio
import re
from contextlib import aclosing
from typing import Final

import msgspec
from msgspec import Struct

from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.api.file_links import FileLinks, FilePath, read_path
from moothall.api.staged import upload_key
from moothall.cdn.formats import MEDIA_TYPES
from moothall.cdn.images import ALWAYS, respond
from moothall.cdn.rendition_cache import RenditionCache
from moothall.cdn.renditions import Rendition, SourceImage, rendition_parameters, select_rendition
from moothall.objects.errors import Refusal
from moothall.objects.message_types import AttachmentFlags
from moothall.resources.message.attachment.queries import StoredFile, select_file
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import WorkRefused
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, StorageError

UNAVAILABLE_BODY: Final = b"This content is no longer available."
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_INLINE_TYPES: Final = re.compile(
    r"image/(?:png|jpeg|gif|webp|avif|bmp)|audio/(?:mpeg|ogg|x-wav|flac|mp4|aac)|video/(?:mp4|webm|ogg|quicktime)"
)
_DOWNLOAD_TYPES: Final = frozenset({"text/plain", "application/pdf", "application/zip", "application/gzip"})
_BINARY: Final = "application/octet-stream"
_RANGE: Final = re.compile(rb"\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*(?:,.*)?", re.DOTALL)


class _Span(Struct, frozen=True):
    """A range of bytes, the end not included."""

    start: int
    end: int


class _Dimensions(Struct):
    """The fields of a stored attachment that describe an image."""

    width: int = 0
    height: int = 0
    flags: int = 0


_dimensions = msgspec.json.Decoder(_Dimensions)


class Attachments:
    """The ASGI application of attachments."""

    PREFIX: Final = "/attachments/"

    def __init__(
        self, database: Database, blobs: Blobs, links: FileLinks, renditions: RenditionCache, limits: AddressLimits
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._links = links
        self._renditions = renditions
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] not in {"GET", "HEAD"}:
            await respond(send, scope, 405, b"", [(b"allow", b"GET, HEAD")])
            return
        query = scope["query_string"].decode("latin-1")
        path = read_path(scope["path"])
        if path is None or not self._links.is_authentic(path, query):
            await respond(send, scope, 404, UNAVAILABLE_BODY, [_TEXT])
            return
        try:
            async with self._database.read() as reader:
                file = await select_file(reader, path)
        except StorageError:
            await respond(send, scope, 503, b"", [])
            return
        if file is None:
            await respond(send, scope, 404, UNAVAILABLE_BODY, [_TEXT])
            return
        parameters = rendition_parameters(query)
        rendition = select_rendition(_source_image(file), parameters) if parameters else None
        if rendition is None or not await self._serve_rendition(scope, send, path, rendition):
            await self._serve(scope, receive, send, path, file)

    async def _serve_rendition(self, scope: Scope, send: Send, path: FilePath, rendition: Rendition) -> bool:
        """Serve a rendition of an image; False if it cannot be made."""
        tag = f'"{path.id}-{rendition.name}"'.encode()
        headers = [(b"content-type", MEDIA_TYPES[rendition.format].encode()), *_headers(tag, path, inline=True)]
        if _is_cached_by_client(scope, tag):
            await respond(send, scope, 304, b"", headers)
            return True
        try:
            data = await self._renditions.get(path.id, rendition, self._limits.client(scope))
        except (Refusal, WorkRefused) as refusal:
            await send_refusal(scope, send, refusal)
            return True
        if data is None:
            return False
        await respond(send, scope, 200, data, headers)
        return True

    async def _serve(self, scope: Scope, receive: Receive, send: Send, path: FilePath, file: StoredFile) -> None:
        tag = b'"%d"' % path.id
        kind = file.content_type.partition(";")[0]
        inline = _INLINE_TYPES.fullmatch(kind) is not None
        content_type = file.content_type if inline or kind in _DOWNLOAD_TYPES else _BINARY
        headers = [*_headers(tag, path, inline=inline), (b"accept-ranges", b"bytes")]
        if _is_cached_by_client(scope, tag):
            await respond(send, scope, 304, b"", headers)
            return
        byte_range = _header(scope, b"range")
        if byte_range is not None and _header(scope, b"if-range") not in {None, tag}:
            byte_range = None
        span = None if byte_range is None else _span(byte_range, file.size)
        if byte_range is not None and span is None and _RANGE.fullmatch(byte_range):
            await respond(send, scope, 416, b"", [*headers, (b"content-range", b"bytes */%d" % file.size)])
            return
        status = 200
        if span is None:
            span = _Span(0, file.size)
        else:
            status = 206
            headers.append((b"content-range", b"bytes %d-%d/%d" % (span.start, span.end - 1, file.size)))
        headers.append((b"content-type", content_type.encode()))
        headers.append((b"content-length", b"%d" % (span.end - span.start)))
        if scope["method"] == "HEAD" or span.start == span.end:
            await _start(send, status, headers)
            await send({"type": "http.response.body", "body": b""})
            return
        await self._stream(receive, send, status, headers, upload_key(path.id), span)

    async def _stream(
        self, receive: Receive, send: Send, status: int, headers: list[tuple[bytes, bytes]], key: str, span: _Span
    ) -> None:
        started = False
        disconnected = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            async with aclosing(self._blobs.stream(key, span.start, span.end)) as portions:
                async for portion in portions:
                    if not started:
                        await _start(send, status, headers)
                        started = True
                    await send({"type": "http.response.body", "body": portion, "more_body": True})
                    if disconnected.done():
                        return
        except FileNotFoundError:
            if started:
                raise
            await _start(send, 404, [_TEXT, (b"content-length", b"%d" % len(UNAVAILABLE_BODY))])
            await send({"type": "http.response.body", "body": UNAVAILABLE_BODY})
            return
        finally:
            disconnected.cancel()
        await send({"type": "http.response.body", "body": b""})


def _source_image(file: StoredFile) -> SourceImage:
    dimensions = _dimensions.decode(file.body)
    return SourceImage(
        file.content_type,
        dimensions.width,
        dimensions.height,
        bool(dimensions.flags & AttachmentFlags.IS_ANIMATED),
        file.size,
    )


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _start(send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *ALWAYS]})


def _headers(tag: bytes, path: FilePath, *, inline: bool) -> list[tuple[bytes, bytes]]:
    disposition = "inline" if inline else "attachment"
    return [
        (b"etag", tag),
        (b"cache-control", b"private, max-age=3600"),
        (b"content-disposition", f'{disposition}; filename="{path.filename}"'.encode()),
    ]


def _header(scope: Scope, name: bytes) -> bytes | None:
    header: bytes | None = next((value for key, value in scope["headers"] if key == name), None)
    return header


def _is_cached_by_client(scope: Scope, tag: bytes) -> bool:
    return any(name == b"if-none-match" and tag in value for name, value in scope["headers"])


def _span(byte_range: bytes, size: int) -> _Span | None:
    """Parse the first range of a Range header; None for an unsatisfiable or malformed one."""
    match = _RANGE.fullmatch(byte_range)
    if match is None:
        return None
    first, last = match[1], match[2]
    if not first:
        length = min(int(last or 0), size)
        return _Span(size - length, size) if length else None
    start = int(first)
    end = min(int(last) + 1, size) if last else size
    return _Span(start, end) if start < end else None
