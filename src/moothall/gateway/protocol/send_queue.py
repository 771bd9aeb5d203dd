"""Sending messages to one WebSocket without ever waiting for its client."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from moothall.gateway.protocol.frame_writer import FrameWriter, asgi_event
from moothall.gateway.protocol.inline import SuspendedCoroutine, run_inline

_CLOSE_TIMEOUT: Final = 10.0
"""Seconds for a slow client to read up to the close frame; then the connection is aborted."""


class SendQueue:
    """Outgoing messages of a connection: sent inline while the client reads, queued while it does not.

    A client that lets the queue overflow is disconnected, and `on_overflow` called once. Its session can be
    resumed, so no event is lost, and memory stays bounded. So is one whose connection has ended, or fails otherwise:
    nothing that a connection does is raised here.
    """

    __slots__ = (
        "_drained",
        "_max_bytes",
        "_max_frames",
        "_on_overflow",
        "_queue",
        "_queued_bytes",
        "_writer",
        "closed",
    )

    def __init__(
        self, writer: FrameWriter, *, max_frames: int, max_bytes: int, on_overflow: Callable[[], None]
    ) -> None:
        self._writer = writer
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self._on_overflow: Callable[[], None] | None = on_overflow
        self._queue: deque[Any] | None = None
        """None while the client reads."""
        self._queued_bytes = 0
        self._drained: asyncio.Event | None = None
        self.closed = False

    @property
    def socket(self) -> object:
        """The server's object for the WebSocket; None if there is none."""
        return self._writer.socket

    def has_room(self, size: int = 0) -> bool:
        """Whether a message of this size may be pushed that could wait; `drain` first if not.

        Half of the queue is for what cannot wait.
        """
        queue = self._queue
        return queue is None or (
            2 * len(queue) <= self._max_frames and 2 * (self._queued_bytes + size) <= self._max_bytes
        )

    @property
    def unsent_bytes(self) -> int:
        """The bytes that wait for the client to read."""
        buffered = getattr(getattr(self.socket, "transport", None), "get_write_buffer_size", None)
        return self._queued_bytes + (buffered() if buffered is not None else 0)

    def push(self, message: str | bytes) -> None:
        """Send a message, or queue it. Does nothing once closed, and drops a connection that fails; never raises."""
        if self.closed:
            return
        queue = self._queue
        if queue is not None:
            self._queued_bytes += len(message)
            if len(queue) >= self._max_frames or self._queued_bytes > self._max_bytes:
                self.abort()
                if self._on_overflow is not None:
                    with contextlib.suppress(Exception):
                        self._on_overflow()
                return
            queue.append(message)
            return
        try:
            rest = self._writer.write(message)
            if rest is not None:
                self._queue = deque()
                self._start(self._send_queued(rest))
        except Exception:  # noqa: BLE001 - whatever the server raises, the client is disconnected
            self.abort()

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
            rest = run_inline(self._writer.send(message))
            if rest is not None:
                self._start(self._finish(rest))

    def abort(self) -> None:
        """Drop the connection and the queued messages, without a close frame: the client would not read it."""
        self.closed = True
        if self._queue is not None:
            self._queue.clear()
        self._queued_bytes = 0
        self._notify_drained()
        with contextlib.suppress(Exception):
            self._writer.abort()

    def end(self) -> None:
        """Take no more messages, as the connection has ended, and forget whom to tell of an overflow.

        The callback refers to the owner of this queue: as a cycle the two would stay in memory until a collection.
        """
        self.closed = True
        self._on_overflow = None

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
                    await self._writer.send(message)
                else:
                    self._queued_bytes -= len(message)
                    await self._writer.send(asgi_event(message))
        except Exception:  # noqa: BLE001 - as in push()
            self.abort()
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
    def _start(coroutine: Coroutine[object, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


# The event loop has only weak references to its tasks.
_tasks: set[asyncio.Task[None]] = set()
