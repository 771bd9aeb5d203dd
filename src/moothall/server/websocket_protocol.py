"""The WebSockets of the gateway: uvicorn's protocol, with bounds on frames, and less memory for each connection."""

from asyncio import Event
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from moothall.runtime.waiter import Waiter
from moothall.runtime.websocket_frames import EXTENSION, FRAMES_PER_TURN, FrameBudget, FrameScanner

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
    from websockets.http11 import Request

LINGER_SECONDS: Final = 2.0
"""Time between the close frame for a client that exceeds a limit and the end of its connection."""


class GatewayWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol, which waits without asyncio's queue and event, and forgets the handshake once it is over.

    Of what a client has sent, one message or `FRAMES_PER_TURN` frames are parsed in one turn of the event loop. The
    rest waits, and nothing more is read meanwhile. A client that exceeds its `FrameBudget` is disconnected.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.queue = _Inbox()  # type: ignore[assignment]  # what the base class calls of a queue
        self.writable = _Gate()  # type: ignore[assignment]  # and of an event
        self.frame_budget = FrameBudget(self.loop.time)
        self._scanner = FrameScanner()
        self._unparsed: bytes | None = None
        self._position = 0
        """Where the part of `_unparsed` begins that has not been parsed."""
        self._scheduled = False
        """Whether `_parse_next` is about to be called."""
        self._refused = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what has not been parsed, and the parser."""
        self._unparsed = None
        self.frame_budget.leave()
        super().connection_lost(exc)
        self._end_parser()

    def _end_parser(self) -> None:
        """Break the cycles of the parser: a generator, whose frame refers to what it belongs to, as tracebacks do."""
        self.conn.parser.close()
        errors: list[BaseException | None] = [self.conn.parser_exc, self.conn.handshake_exc]
        while errors:
            if (error := errors.pop()) is not None:
                error.__traceback__ = None
                errors.append(error.__cause__ or error.__context__)

    def handle_connect(self, event: "Request") -> None:
        """Start the application."""
        super().handle_connect(event)
        if not self.close_sent:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[EXTENSION] = self.frame_budget

    def data_received(self, data: bytes) -> None:
        """Parse frames, or keep them until it is their turn."""
        if not self.handshake_initiated:
            super().data_received(data)
            return
        if self._refused:
            return
        if not self.frame_budget.take_bytes(len(data)):
            self._refuse()
        elif self._unparsed is not None:
            # Reading is paused; a transport over TLS may have decrypted more.
            self._unparsed = self._unparsed[self._position :] + data
            self._position = 0
        else:
            self._unparsed = data
            if self.handshake_complete and not self.read_paused:
                self._parse()
            else:
                self._pause()

    async def send(self, message: "ASGISendEvent") -> None:
        """Send an event of ASGI. Raises ClientDisconnected after a limit was exceeded."""
        if self._refused:
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.accept" and self.handshake_complete:
            # The parser of websockets refers to the request as long as the connection is open.
            self.request.headers.clear()
            del self.request, self.response
            self._read_on()
        elif message["type"] == "websocket.close":
            self._read_on()

    async def receive(self) -> "ASGIReceiveEvent":
        """Take the oldest event; once there is no other, the next frames are parsed or read."""
        message = await self.queue.get()
        self._read_on()
        return message

    def _parse(self) -> None:
        """Parse the frames of one turn."""
        data, start = self._unparsed, self._position
        if data is None:
            return
        end, frames, idle = self._scanner.scan(data, start, FRAMES_PER_TURN)
        if self.close_sent:
            idle = frames  # of what follows our close frame, only the client's own has an effect
        if idle and not self.frame_budget.take_idle(idle):
            self._refuse()
            return
        if end == len(data):
            self._unparsed, self._position = None, 0
            self.conn.receive_data(data[start:] if start else data)
        else:
            self._position = end
            self.conn.receive_data(data[start:end])
        if self.conn.parser_exc is not None:
            self._unparsed = None
            self.handle_parser_exception()
            return
        self.handle_events()
        if self._unparsed is not None:
            self._pause()
        if self.read_paused:
            self._read_on()

    def _read_on(self) -> None:
        """Once the application has every message, parse what follows in the next turn, or read again."""
        if not self.handshake_complete or self._refused or self.transport.is_closing():
            return
        if not self.queue.empty() and not self.close_sent:
            return
        if self._unparsed is None:
            if self.read_paused:
                self.read_paused = False
                self.transport.resume_reading()
        elif not self._scheduled:
            self._scheduled = True
            self.loop.call_soon(self._parse_next)

    def _parse_next(self) -> None:
        self._scheduled = False
        if not self._refused and not self.transport.is_closing():
            self._parse()

    def _pause(self) -> None:
        if not self.read_paused and not self.transport.is_closing():
            self.read_paused = True
            self.transport.pause_reading()

    def _refuse(self) -> None:
        """Read no more, send a close frame, and end the connection when the client has had time to read it."""
        self._refused = True
        self._unparsed = None
        if self.transport.is_closing():
            return
        self._pause()
        if self.close_timer is not None:
            self.close_timer.cancel()
        # With a timer, the end of the application does not end the connection.
        self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        if not self.handshake_complete or self.conn.state is not State.OPEN:
            return
        code, reason = self.frame_budget.close_code, "Too many frames without a message."
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})


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
