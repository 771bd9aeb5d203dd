"""HTTP requests to the targets of Activities: one request at a time on each connection of a pool.

httptools parses and uvloop carries, as for the requests of browsers; a general client takes several times the CPU for
what the proxy needs (docs/decisions/0019). Bodies stay as they are encoded, and redirects are responses like others.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import httptools

from moothall.runtime.name_lookups import NameLookups
from moothall.runtime.outgoing import ConnectionFailed, open_socket
from moothall.runtime.waiter import Waiter

if TYPE_CHECKING:
    import ssl

CONNECT_SECONDS: Final = 10.0
"""Time for a connection to a target, the wait for a free one included."""
IDLE_SECONDS: Final = 15.0
"""How long a connection is kept without a request."""
PAUSE_SECONDS: Final = 120.0
"""Maximum pause in a response's body."""
HEAD_BYTES: Final = 65_536
"""Maximum size of a response's head, and of what else is no part of a body."""
_BUFFERED_BYTES: Final = 262_144
"""How much of a body is buffered before reading pauses."""
_CONNECTIONS: Final = 1_024
_CONNECTIONS_PER_TARGET: Final = 128
_INFORMATIONAL: Final = 200
"""Statuses below this one announce a response, and are none."""

RawHeaders = list[tuple[bytes, bytes]]


class Destination(NamedTuple):
    """Where connections lead."""

    host: str
    port: int
    encrypted: bool


class Request(NamedTuple):
    """A request as it is sent."""

    head: bytes
    is_head: bool
    repeatable: bool
    """Whether it can be sent again if a connection that was kept turns out to be closed."""
    body: AsyncIterator[bytes] | None
    chunked: bool


class Response(Waiter):
    """A response, whose body is read in parts. It must be closed."""

    __slots__ = ("_connection", "_parts", "_size", "complete", "error", "headers", "started", "status")

    def __init__(self, connection: "_Connection") -> None:
        super().__init__()
        self.status = 0
        self.headers: RawHeaders = []
        """With their names in lower case."""
        self.started = False
        """Whether all of the head has come."""
        self.complete = False
        """Whether all of the body has come, which may still have to be read."""
        self.error: Exception | None = None
        self._connection = connection
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> bool:
        """Buffer a part of the body; whether there is enough of it for now."""
        self._parts.append(part)
        self._size += len(part)
        return self._size > _BUFFERED_BYTES

    @property
    def buffered(self) -> int:
        """How much of the body has come and has not been read."""
        return self._size

    async def wait_for_head(self) -> None:
        """Wait for the head. Raises TimeoutError, and what ended the connection."""
        while not self.started:
            await self._wait()

    async def read(self) -> bytes:
        """The next part of the body, empty at its end. Raises ConnectionError if the target gave up."""
        while not self._parts and not self.complete:
            await self._wait()
        parts = self._parts
        if not parts:
            return b""
        part = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        self._size = 0
        self._connection.resume_reading()
        return part

    def close(self) -> None:
        """Give the connection back, or end it if it still carries something of this response or of its request."""
        self._connection.end(self)

    async def _wait(self) -> None:
        if self.error is not None:
            raise self.error
        await self.wait()


class _Connection(asyncio.Protocol):
    """A connection to a target."""

    def __init__(self, pool: "Upstream", destination: Destination) -> None:
        self.destination = destination
        self.is_open = False
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser = httptools.HttpResponseParser(self)
        self._response: Response | None = None
        self._sender: asyncio.Task[None] | None = None
        self._is_head = False
        self._has_length = False
        self._reusable = False
        self._unparsed = 0
        """Bytes received since a part of a body, or the end of a response."""
        self._reading_paused = False
        self._writable: asyncio.Future[None] | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def start(self, request: Request, seconds: float) -> Response:
        """Send a request, whose response's head has so many seconds to come."""
        response = self._response = Response(self)
        self._is_head = request.is_head
        self._has_length = self._reusable = False
        self._unparsed = 0
        self._set_deadline(seconds)
        self._transport.write(request.head)
        if request.body is not None:
            self._sender = self._loop.create_task(self._send(request.body, chunked=request.chunked))
        return response

    def end(self, response: Response) -> None:
        """End a response."""
        if self._response is not response:
            return
        self._response = None
        sent = self._sender is None or self._sender.done()
        if self._sender is not None:
            self._sender.cancel()
            self._sender = None
        if response.complete and sent and self._reusable and self.is_open and not self._reading_paused:
            self._set_deadline(IDLE_SECONDS)
            self._pool.keep(self)
        else:
            self.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()
        self._lost()

    def resume_reading(self) -> None:
        """Read on, after what was buffered has been taken."""
        if self._reading_paused and self.is_open:
            self._reading_paused = False
            self._set_deadline(PAUSE_SECONDS)
            self._transport.resume_reading()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Parse data. What comes without a request ends the connection."""
        response = self._response
        if response is None or response.complete:
            self.abort()
            return
        self._unparsed += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            self._fail(ConnectionFailed(f"the target's response is not valid: {problem}"))
            return
        if self._unparsed > HEAD_BYTES:
            self._fail(ConnectionFailed("the head of the target's response is too large"))
            return
        if response.started and not self._reading_paused:
            self._deadline = self._loop.time() + PAUSE_SECONDS
        response.wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the response: completely if its end is that of the connection."""
        response = self._response
        if response is not None and not response.complete:
            if response.started and not self._has_length and exc is None:
                response.complete = True
            elif response.error is None:
                response.error = ConnectionFailed("the target closed the connection")
            response.wake()
        self._lost()

    def pause_writing(self) -> None:
        """Let the body of the request wait."""
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """Let the body of the request go on."""
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    # httptools

    def on_message_begin(self) -> None:
        """Note a second response to one request."""
        if self._response is None or self._response.started:
            self._reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. Trailers are dropped."""
        response = self._response
        if response is not None and not response.started:
            response.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Let the response start, unless it is an informational one."""
        response, status = self._response, self._parser.get_status_code()
        if response is None or response.started:
            return
        if status < _INFORMATIONAL:
            response.headers.clear()
            return
        response.status = status
        response.started = True
        self._has_length = any(name in {b"content-length", b"transfer-encoding"} for name, _ in response.headers)
        # The parser expects the body that a response to HEAD announces.
        response.complete = self._is_head
        self._reusable = self._parser.should_keep_alive() and not self._is_head

    def on_body(self, body: bytes) -> None:
        """Buffer a part of the body."""
        self._unparsed = 0
        response = self._response
        if response is not None and not response.complete and response.add(body) and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()
            # The browser is slow, not the target; the proxy bounds the whole.
            self._deadline = float("inf")

    def on_message_complete(self) -> None:
        """Complete the response."""
        self._unparsed = 0
        if self._response is not None and self._response.started:
            self._response.complete = True

    async def _send(self, body: AsyncIterator[bytes], *, chunked: bool) -> None:
        """Send the body of a request."""
        try:
            async for part in body:
                if not self.is_open:
                    return
                self._transport.write(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
                if self._writable is not None:
                    await self._writable
            if chunked:
                self._transport.write(b"0\r\n\r\n")
        except ConnectionError as problem:
            self._fail(problem)

    def _fail(self, problem: Exception) -> None:
        """End the connection, and a response that is not complete with an exception."""
        response = self._response
        if response is not None and not response.complete:
            response.error = problem
            response.wake()
        self.abort()

    def _lost(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.resume_writing()
        self._pool.forget(self)

    def _set_deadline(self, seconds: float) -> None:
        """End the connection after so many seconds, unless another deadline is set before. One timer serves many."""
        self._deadline = self._loop.time() + seconds
        if self._timer is None or self._timer_at > self._deadline:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = self._deadline
            self._timer = self._loop.call_at(self._deadline, self._check_deadline)

    def _check_deadline(self) -> None:
        self._timer = None
        if self._loop.time() >= self._deadline:
            self._fail(TimeoutError("the target is silent"))
        else:
            self._timer_at = min(self._deadline, self._loop.time() + PAUSE_SECONDS)
            self._timer = self._loop.call_at(self._timer_at, self._check_deadline)


class Upstream:
    """The connections to targets: to public addresses only, unless `allow_private`, which the resolver checks."""

    def __init__(self) -> None:
        self._idle: dict[Destination, list[_Connection]] = {}
        self._open: set[_Connection] = set()
        self._count: Counter[Destination] = Counter()
        """Connections, those included that are being made."""
        self._waiting: dict[Destination, deque[asyncio.Future[None]]] = {}
        self._lookups = NameLookups()

    async def request(
        self, destination: Destination, request: Request, *, seconds: float, allow_private: bool
    ) -> Response:
        """Send a request; its response, once the head has come, which it must within so many seconds.

        Raises ConnectionFailed, OSError, TimeoutError, and what the body raises.
        """
        while True:
            connection = self._kept(destination)
            is_kept = connection is not None
            if connection is None:
                connection = await self._connect(destination, allow_private=allow_private)
            response = connection.start(request, seconds)
            try:
                await response.wait_for_head()
            except ConnectionFailed:
                response.close()
                if not (is_kept and request.repeatable):
                    raise
            except BaseException:
                response.close()
                raise
            else:
                return response

    def keep(self, connection: _Connection) -> None:
        """Keep a connection for the next request to its destination."""
        self._idle.setdefault(connection.destination, []).append(connection)
        self._wake(connection.destination)

    def forget(self, connection: _Connection) -> None:
        """Note the end of a connection."""
        self._open.discard(connection)
        idle = self._idle.get(connection.destination)
        if idle is not None:
            with contextlib.suppress(ValueError):
                idle.remove(connection)
            if not idle:
                del self._idle[connection.destination]
        self._release(connection.destination)

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return len(self._open)

    def close(self) -> None:
        """Close all connections."""
        for connection in list(self._open):
            connection.abort()

    @cached_property
    def tls(self) -> "ssl.SSLContext":
        """Checks the certificates of targets, for WebSockets too."""
        import ssl  # noqa: PLC0415 reading the authorities takes 20 milliseconds

        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def _kept(self, destination: Destination) -> _Connection | None:
        idle = self._idle.get(destination)
        return idle.pop() if idle else None

    async def _connect(self, destination: Destination, *, allow_private: bool) -> _Connection:
        """A connection that is kept as soon as there is one, or a new one as soon as there is room for it."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                while not self._has_room(destination):
                    waiter = asyncio.get_running_loop().create_future()
                    self._waiting.setdefault(destination, deque()).append(waiter)
                    await waiter
                    connection = self._kept(destination)
                    if connection is not None:
                        return connection
                return await self._open_connection(destination, allow_private=allow_private)
        except TimeoutError:
            raise ConnectionFailed("no connection was made in time") from None

    async def _open_connection(self, destination: Destination, *, allow_private: bool) -> _Connection:
        self._count[destination] += 1
        try:
            sock = await open_socket(destination.host, destination.port, self._lookups, allow_private=allow_private)
            try:
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: _Connection(self, destination),
                    sock=sock,
                    ssl=self.tls if destination.encrypted else None,
                    server_hostname=destination.host if destination.encrypted else None,
                )
            except BaseException:
                sock.close()
                raise
        except BaseException:
            self._release(destination)
            raise
        self._open.add(connection)
        return connection

    def _has_room(self, destination: Destination) -> bool:
        """Whether another connection may be made, for which one to another destination may have to end."""
        if self._count[destination] >= _CONNECTIONS_PER_TARGET:
            return False
        if self._count.total() >= _CONNECTIONS:
            for others in list(self._idle.values()):
                others[0].abort()
                return True
            raise ConnectionFailed("all connections are in use")
        return True

    def _release(self, destination: Destination) -> None:
        self._count[destination] -= 1
        if not self._count[destination]:
            del self._count[destination]
        self._wake(destination)

    def _wake(self, destination: Destination) -> None:
        """Let the next request try that waits for a connection."""
        waiting = self._waiting.get(destination)
        while waiting:
            waiter = waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                break
        if not waiting:
            self._waiting.pop(destination, None)
