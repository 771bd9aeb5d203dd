"""Sending messages to one WebSocket without ever waiting for its client."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from struct import Struct
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from moothall.gateway.inline import SuspendedCoroutine, run_inline

_CLOSE_TIMEOUT: Final = 10.0
"""Seconds for a slow client to read up to the close frame; then the connection is aborted."""

_OPEN: Final = State.OPEN
_TEXT, _BINARY = 0x81, 0x82
"""The first byte of a message in one frame: FIN and the opcode (RFC 6455, 5.2)."""
_SHORT, _MEDIUM, _LONG = Struct("!BB"), Struct("!BBH"), Struct("!BBQ")

Send = Callable[[Any], Awaitable[None]]


class SendQueue:
    """Outgoing messages of a connection: sent inline while the client reads, queued while it does not.

    A client that lets the queue overflow is disconnected, and `on_overflow` called once. Its session can be
    resumed, so no event is lost, and memory stays bounded.
    """

    __slots__ = (
        "_drained",
        "_max_bytes",
        "_max_frames",
        "_on_overflow",
        "_queue",
        "_queued_bytes",
        "_send",
        "_socket",
        "closed",
    )

    def __init__(self, send: Send, *, max_frames: int, max_bytes: int, on_overflow: Callable[[], None]) -> None:
        self._send = send
        owner = self.socket
        self._socket = owner if isinstance(owner, WebSocketsSansIOProtocol) else None
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self._on_overflow = on_overflow
        self._queue: deque[Any] | None = None
        """None while the client reads."""
        self._queued_bytes = 0
        self._drained: asyncio.Event | None = None
        self.closed = False

    @property
    def socket(self) -> object:
        """The object of which `send` is a method; None for a function."""
        return getattr(self._send, "__self__", None)

    def push(self, message: str | bytes) -> None:
        """Send a message, or queue it. Does nothing once closed."""
        if self.closed:
            return
        queue = self._queue
        if queue is not None:
            self._queued_bytes += len(message)
            if len(queue) >= self._max_frames or self._queued_bytes > self._max_bytes:
                self.abort()
                self._on_overflow()
                return
            queue.append(message)
            return
        socket = self._socket
        if socket is not None and socket.conn.state is _OPEN and socket.writable.is_set():
            # At less cost than uvicorn's send. A server's frames are not masked, and no extension is negotiated.
            socket.transport.write(encode_frame(message))
            return
        try:
            rest = run_inline(self._send(_asgi_event(message)))  # type: ignore[arg-type]  # ASGI's send is a coroutine function
        except Exception:  # noqa: BLE001 - whatever the server raises, the client is disconnected
            self.closed = True
            return
        if rest is not None:
            self._queue = deque()
            self._start(self._send_queued(rest))

    async def drain(self) -> None:
        """Wait until the queue is empty, or the connection is closed."""
        while self._queue is not None and not self.closed:
            if self._drained is None:
                self._drained = asyncio.Event()
            await self._drained.wait()

    def close(self, code: int, reason: str) -> None:
        """Send a close frame after the queued messages. Does nothing the second time."""
        if self.closed:
            return
        message = {"type": "websocket.close", "code": code, "reason": reason}
        self.closed = True
        if self._queue is not None:
            self._queue.append(message)
            asyncio.get_running_loop().call_later(_CLOSE_TIMEOUT, self._abort_if_queued)
            return
        with contextlib.suppress(Exception):
            rest = run_inline(self._send(message))  # type: ignore[arg-type]
            if rest is not None:
                self._start(self._finish(rest))

    def abort(self) -> None:
        """Drop the connection and the queued messages, without a close frame: the client would not read it."""
        self.closed = True
        if self._queue is not None:
            self._queue.clear()
        self._queued_bytes = 0
        self._notify_drained()
        # ASGI has no event for this, and a close handshake waits for the client to read. uvicorn's protocol, whose
        # bound method `send` is, has the transport.
        transport = getattr(self.socket, "transport", None)
        if transport is not None:
            transport.abort()

    def _abort_if_queued(self) -> None:
        if self._queue is not None:
            self.abort()

    async def _send_queued(self, rest: SuspendedCoroutine) -> None:
        queue = self._queue
        assert queue is not None  # noqa: S101 - push() created it just before
        try:
            await rest
            while queue:
                message = queue.popleft()
                if isinstance(message, dict):
                    await self._send(message)
                else:
                    self._queued_bytes -= len(message)
                    await self._send(_asgi_event(message))
        except Exception:  # noqa: BLE001 - as in push()
            self.closed = True
        finally:
            self._queue = None
            self._queued_bytes = 0
            self._notify_drained()

    async def _finish(self, rest: SuspendedCoroutine) -> None:
        with contextlib.suppress(Exception):
            await rest

    def _notify_drained(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    @staticmethod
    def _start(coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


# The event loop has only weak references to its tasks.
_tasks: set[asyncio.Task[None]] = set()


def _asgi_event(message: str | bytes) -> dict[str, Any]:
    if isinstance(message, str):
        return {"type": "websocket.send", "text": message}
    return {"type": "websocket.send", "bytes": message}


def encode_frame(message: str | bytes) -> bytes:
    """Encode a message as one WebSocket frame of a server (RFC 6455, 5.2): text for `str`, else binary."""
    data, first = (message.encode(), _TEXT) if isinstance(message, str) else (message, _BINARY)
    size = len(data)
    if size < 126:
        return _SHORT.pack(first, size) + data
    if size < 65_536:
        return _MEDIUM.pack(first, 126, size) + data
    return _LONG.pack(first, 127, size) + data
