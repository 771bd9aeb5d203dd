"""Handing messages to one WebSocket without ever waiting for it."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from moothall.gateway.eager import Rest, run_eagerly

_PATIENCE: Final = 10.0
"""Seconds in which a slow reader may read up to the close frame."""

Send = Callable[[Any], Awaitable[None]]


class Outbox:
    """The way out of a connection: at once while the peer reads, through a bounded queue while it does not.

    A peer that lets the queue run full is cut off (`on_overflow` is called, once). The session behind
    it can be resumed, so nothing is lost but time, and memory stays bounded.
    """

    __slots__ = (
        "_drained",
        "_max_bytes",
        "_max_frames",
        "_on_overflow",
        "_queue",
        "_queued_bytes",
        "_send",
        "closed",
    )

    def __init__(self, send: Send, *, max_frames: int, max_bytes: int, on_overflow: Callable[[], None]) -> None:
        self._send = send
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self._on_overflow = on_overflow
        self._queue: deque[Any] | None = None
        """None while the peer reads."""
        self._queued_bytes = 0
        self._drained: asyncio.Event | None = None
        self.closed = False

    def push(self, message: str | bytes) -> None:
        """Send a message, or queue it. Does nothing once closed."""
        if self.closed:
            return
        queue = self._queue
        if queue is not None:
            self._queued_bytes += len(message)
            if len(queue) >= self._max_frames or self._queued_bytes > self._max_bytes:
                self.cut()
                self._on_overflow()
                return
            queue.append(message)
            return
        try:
            rest = run_eagerly(self._send(_event(message)))  # type: ignore[arg-type]  # ASGI's send is a coroutine function
        except Exception:  # noqa: BLE001 - whatever the server raises, the peer is gone
            self.closed = True
            return
        if rest is not None:
            self._queue = deque()
            self._keep(asyncio.get_running_loop().create_task(self._drain(rest)))

    async def drained(self) -> None:
        """Wait until nothing is queued, or the connection is closed."""
        while self._queue is not None and not self.closed:
            if self._drained is None:
                self._drained = asyncio.Event()
            await self._drained.wait()

    def close(self, code: int, reason: str) -> None:
        """Send a close frame, behind what is queued. Does nothing the second time."""
        if self.closed:
            return
        message = {"type": "websocket.close", "code": code, "reason": reason}
        self.closed = True
        if self._queue is not None:
            self._queue.append(message)
            asyncio.get_running_loop().call_later(_PATIENCE, self._cut_if_waiting)
            return
        with contextlib.suppress(Exception):
            rest = run_eagerly(self._send(message))  # type: ignore[arg-type]
            if rest is not None:
                self._keep(asyncio.get_running_loop().create_task(self._finish(rest)))

    def cut(self) -> None:
        """Drop the connection and what is queued, without a goodbye that nobody would read."""
        self.closed = True
        if self._queue is not None:
            self._queue.clear()
        self._queued_bytes = 0
        self._wake()
        # ASGI has no word for it, and a polite close waits for the peer to read. uvicorn's protocol, whose
        # bound method `send` is, has the transport.
        transport = getattr(getattr(self._send, "__self__", None), "transport", None)
        if transport is not None:
            transport.abort()

    def _cut_if_waiting(self) -> None:
        if self._queue is not None:
            self.cut()

    async def _drain(self, rest: Rest) -> None:
        queue = self._queue
        assert queue is not None  # noqa: S101 - push() made it in the step before
        try:
            await rest
            while queue:
                message = queue.popleft()
                if isinstance(message, dict):
                    await self._send(message)
                else:
                    self._queued_bytes -= len(message)
                    await self._send(_event(message))
        except Exception:  # noqa: BLE001 - as in push()
            self.closed = True
        finally:
            self._queue = None
            self._queued_bytes = 0
            self._wake()

    async def _finish(self, rest: Rest) -> None:
        with contextlib.suppress(Exception):
            await rest

    def _wake(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    def _keep(self, task: asyncio.Task[None]) -> None:
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


# The event loop holds its tasks weakly.
_tasks: set[asyncio.Task[None]] = set()


def _event(message: str | bytes) -> dict[str, Any]:
    if isinstance(message, str):
        return {"type": "websocket.send", "text": message}
    return {"type": "websocket.send", "bytes": message}
