"""Requests that a worker passes on to the process that writes, over a Unix socket.

A worker answers reads of the API. Everything else goes, as it came, over a connection of a pool to the process that
writes, with the client's address in a header that only this socket is trusted for: it lies in a folder that no other
user may enter.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, Final, cast

import httptools

from moothall.api.pipeline import refusal_response
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.waiter import Waiter

Application = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("moothall.workers")

_ADDRESSES: Final = b"x-moothall-addresses"
"""The client's address and port, and those that it has connected to, between spaces."""
_NOT_PASSED_ON: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"expect", b"upgrade", b"transfer-encoding", _ADDRESSES}
)
_NOT_PASSED_BACK: Final = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"date"})
_MAX_IDLE: Final = 64
_HIGH_WATER: Final = 256 * 1024
"""Bytes of a response that may wait for the client before the connection is not read on."""
_CONNECT_SECONDS: Final = 10.0
"""How long a request waits for the process that writes, which may be starting again."""

IDLE_SECONDS: Final = 86_400
"""After how long the process that writes closes an idle connection; never while a worker is using it."""


class WriterLost(Exception):
    """The connection ended before the response: whether the request had an effect is unknown."""


class _Connection(Waiter, asyncio.Protocol):
    """One connection to the process that writes; one request at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.reusable = False
        """Whether the last response ended, and the connection may carry another request."""
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._is_head = False
        self._parts: deque[MutableMapping[str, Any]] = deque()
        self._buffered = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._complete = False
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake who waits."""
        del exc
        self.closed = True
        self._writable.set()
        self.wake()

    def pause_writing(self) -> None:
        """Let `write` wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let `write` go on."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Parse a part of the response."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            log.exception("the process that writes sent no response")
            self.abort()
        if self._buffered > _HIGH_WATER and self._transport is not None:
            self._transport.pause_reading()
        self.wake()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header that the client gets."""
        name = name.lower()
        if name not in _NOT_PASSED_BACK:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Pass on the head; an informational one is none."""
        status = self._parser.get_status_code()
        headers, self._headers = self._headers, []
        self._parts.append({"type": "http.response.start", "status": status, "headers": headers})
        if self._is_head:
            self._complete = True
            self._parts.append({"type": "http.response.body", "body": b"", "more_body": False})

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._buffered += len(body)
        self._parts.append({"type": "http.response.body", "body": body, "more_body": True})

    def on_message_complete(self) -> None:
        """Note the end of the response."""
        if self._complete:
            return
        self._complete = True
        self.reusable = self._parser.should_keep_alive()
        last = self._parts[-1]
        if last["type"] == "http.response.body":
            last["more_body"] = False
        else:
            self._parts.append({"type": "http.response.body", "body": b"", "more_body": False})

    def begin(self, method: str) -> None:
        """Prepare for the response to a request. That to a HEAD has no body, which the parser does not know."""
        self._is_head = method == "HEAD"
        self._complete = self.reusable = False

    async def write(self, data: bytes) -> None:
        """Write a part of the request. Raises WriterLost."""
        if self.closed or self._transport is None:
            raise WriterLost
        self._transport.write(data)
        if not self._writable.is_set():
            await self._writable.wait()

    async def parts(self) -> list[MutableMapping[str, Any]]:
        """The next parts of the response, as ASGI's messages. Raises WriterLost."""
        while not self._parts:
            if self.closed:
                raise WriterLost
            await self.wait()
        parts = list(self._parts)
        self._parts.clear()
        if self._buffered > _HIGH_WATER and self._transport is not None and not self.closed:
            self._transport.resume_reading()
        self._buffered = 0
        return parts

    def abort(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.abort()


class WriterRelay:
    """An ASGI application that passes HTTP requests on to the process behind the socket at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._idle: list[_Connection] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on one request. If the other process ends meanwhile, the response is 503."""
        started = False
        connection: _Connection | None = None
        upload: asyncio.Task[None] | None = None
        watch: asyncio.Task[None] | None = None
        try:
            connection = await self._take()
            connection.begin(scope["method"])
            upload = await _send_request(connection, scope, receive)
            more = True
            while more:
                for part in await connection.parts():
                    await send(part)
                    started = True
                    more = part.get("more_body", True)
                if more and watch is None and (upload is None or upload.done()):
                    watch = asyncio.get_running_loop().create_task(_abort_when_left(receive, connection))
        except WriterLost:
            if started:
                raise
            await _refuse(scope, send)
        finally:
            for task in (upload, watch):
                if task is not None:
                    task.cancel()
            if connection is not None:
                sent = upload is None or upload.done()
                self._give_back(connection, reusable=connection.reusable and sent)

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().abort()

    async def _take(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed:
                return connection
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                while True:
                    try:
                        _, made = await loop.create_unix_connection(_Connection, self._path)
                    except OSError:
                        await asyncio.sleep(0.05)
                    else:
                        return made
        except TimeoutError:
            raise WriterLost from None

    def _give_back(self, connection: _Connection, *, reusable: bool) -> None:
        if reusable and not connection.closed and len(self._idle) < _MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.abort()


async def _send_request(connection: _Connection, scope: Scope, receive: Receive) -> asyncio.Task[None] | None:
    """Send the head; a task that sends the body, if there is one: a refusal may come before its end."""
    length = chunked = False
    for name, _ in scope["headers"]:
        length = length or name == b"content-length"
        chunked = chunked or name == b"transfer-encoding"
    await connection.write(b"".join(_head(scope, chunked=chunked)))
    if not (length or chunked):
        return None
    return asyncio.get_running_loop().create_task(_send_body(connection, receive, chunked=chunked))


async def _send_body(connection: _Connection, receive: Receive, *, chunked: bool) -> None:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            connection.abort()
            return
        try:
            await connection.write(_chunk(message, chunked=chunked))
        except WriterLost:
            return
        more = message.get("more_body", False)


def _chunk(message: MutableMapping[str, Any], *, chunked: bool) -> bytes:
    body: bytes = message.get("body", b"")
    if not chunked:
        return body
    data = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return data if message.get("more_body") else data + b"0\r\n\r\n"


def _head(scope: Scope, *, chunked: bool) -> Iterator[bytes]:
    query = scope["query_string"]
    target = b"%b?%b" % (scope["raw_path"], query) if query else scope["raw_path"]
    yield b"%b %b HTTP/1.1\r\n" % (scope["method"].encode(), target)
    for name, value in scope["headers"]:
        if name not in _NOT_PASSED_ON:
            yield b"%b: %b\r\n" % (name, value)
    if chunked:
        yield b"transfer-encoding: chunked\r\n"
    client, server = scope.get("client") or ("", 0), scope.get("server") or ("", 0)
    yield b"%b: %b %d %b %d\r\n\r\n" % (_ADDRESSES, client[0].encode(), client[1], server[0].encode(), server[1] or 0)


async def _abort_when_left(receive: Receive, connection: _Connection) -> None:
    """End the connection of a response that comes in parts once its client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    connection.abort()


async def _refuse(scope: Scope, send: Send) -> None:
    response = refusal_response(Refusal(errors.UNAVAILABLE))
    body = b"" if scope["method"] == "HEAD" else response.body
    headers = [*response.headers, (b"content-length", b"%d" % len(response.body))]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class RelayedRequests:
    """An ASGI application that restores the addresses of requests that workers pass on, for the application behind."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. One over TCP, whose header anyone may have written, is left as it is."""
        if scope["type"] == "http" and scope.get("server") is None:
            headers = []
            for name, value in scope["headers"]:
                if name == _ADDRESSES:
                    client, client_port, server, server_port = value.decode().split(" ")
                    scope["client"], scope["server"] = (client, int(client_port)), (server, int(server_port))
                else:
                    headers.append((name, value))
            scope["headers"] = headers
        await self._application(scope, receive, send)
