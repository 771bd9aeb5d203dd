"""The WebSockets of the gateway: uvicorn's protocol, which keeps less memory for each connection."""

from asyncio import Event
from collections import deque
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from moothall.kernel.waiter import Waiter

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent


class GatewayWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol, which waits without asyncio's queue and event, and forgets the handshake once it is over."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.queue = _Inbox()  # type: ignore[assignment]  # what the base class calls of a queue
        self.writable = _Gate()  # type: ignore[assignment]  # and of an event

    async def send(self, message: "ASGISendEvent") -> None:
        """Send an event of ASGI."""
        await super().send(message)
        if message["type"] == "websocket.accept" and self.handshake_complete:
            # The parser of websockets refers to the request as long as the connection is open.
            self.request.headers.clear()
            del self.request, self.response


class _Inbox(Waiter):
    """A queue with one reader that takes no memory while it is empty."""

    __slots__ = ("_events",)

    def __init__(self) -> None:
        super().__init__()
        self._events: deque[ASGIReceiveEvent] | None = None

    def put_nowait(self, event: "ASGIReceiveEvent") -> None:
        """Append an event."""
        if self._events is None:
            self._events = deque()
        self._events.append(event)
        self.wake()

    def empty(self) -> bool:
        """Whether there is no event."""
        return self._events is None

    async def get(self) -> "ASGIReceiveEvent":
        """Take the oldest event; wait for one if there is none."""
        while (events := self._events) is None:
            await self.wait()
        event = events.popleft()
        if not events:
            self._events = None
        return event


class _Gate:
    """An event of asyncio that is set nearly always, and takes memory only while it is not."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: Event | None = None

    def is_set(self) -> bool:
        """Whether nothing has to wait."""
        return self._event is None

    def set(self) -> None:
        """Let what waits go on."""
        event, self._event = self._event, None
        if event is not None:
            event.set()

    def clear(self) -> None:
        """Let `wait` wait."""
        if self._event is None:
            self._event = Event()

    async def wait(self) -> bool:
        """Wait until it is set."""
        if self._event is not None:
            await self._event.wait()
        return True
