"""A WebSocket in memory whose connection may be reset at any moment, on both paths by which the gateway sends."""

import asyncio
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices


class ClientDisconnected(OSError):
    """What a server's `send` raises once the client has disconnected."""


class SimulatedTransport:
    """The transport below a WebSocket: a write after it has closed raises, as uvloop's does."""

    def __init__(self, socket: "SimulatedSocket") -> None:
        self._socket = socket
        self.closed = False

    def write(self, data: bytes) -> None:
        """Send bytes. Raises RuntimeError once closed."""
        if self.closed:
            raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")
        self._socket.choose_fault_before_write()
        if self.closed:
            raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")
        self._socket.carry(read_frame(data))

    def is_closing(self) -> bool:
        """Whether it is closed."""
        return self.closed

    def abort(self) -> None:
        """Drop the connection and what is not sent yet."""
        self._socket.reset()

    def close(self) -> None:
        """As `abort`."""
        self._socket.reset()


class SimulatedSocket:
    """One WebSocket between a client and a node. `on_message` and `on_close` are the client's."""

    def __init__(
        self,
        loop: SimulatedLoop,
        choices: Choices,
        on_message: Callable[[str], None],
        on_close: Callable[[int], None],
        *,
        failing: float,
    ) -> None:
        self._loop = loop
        self._choices = choices
        self._on_message = on_message
        self._on_close = on_close
        self.failing = failing
        """The probability that a write is the one that fails."""
        self._inbound: deque[dict[str, Any]] = deque([{"type": "websocket.connect"}])
        self._arrived: asyncio.Future[None] | None = None
        self._outbound: deque[str | int] = deque()
        self._client_closed = False
        self._arrives_at = 0.0
        """When the newest message of the client arrives."""
        self._lost = False
        self._close_code = 1006
        self.transport = SimulatedTransport(self)
        self.writable = asyncio.Event()
        self.writable.set()
        self.conn = SimpleNamespace(state=State.OPEN)
        self.unread = False
        self.read_again_at = 0.0
        """When the client began to read again after it had stopped."""
        self.on_fault: Callable[[str], None] = lambda _kind: None
        """Called with the kind of each fault of the connection."""

    # The server's side

    async def receive(self) -> dict[str, Any]:
        """ASGI: the next event of the client."""
        while not self._inbound:
            self._arrived = self._loop.create_future()
            await self._arrived
        return self._inbound.popleft()

    async def send(self, event: dict[str, Any]) -> None:
        """ASGI: send an event once the client reads. Raises OSError once it has disconnected."""
        await self.writable.wait()
        self.choose_fault_before_write()
        if self._lost or self.transport.closed:
            raise ClientDisconnected
        if event["type"] == "websocket.send":
            self.carry(event.get("text") or event["bytes"].decode())
        elif event["type"] == "websocket.close":
            self.conn.state = State.CLOSING
            self._close_code = event.get("code", 1000)
            self._queue(self._close_code)

    def choose_fault_before_write(self) -> None:
        """Let the connection break at this write, or the client stop reading."""
        if self.failing and not self.transport.closed and self._choices.fault("connection reset", self.failing):
            self.on_fault("reset")
            self.reset()
        elif self.failing and self.writable.is_set() and self._choices.fault("slow reader", self.failing / 2):
            self.on_fault("slow reader")
            self.stop_reading(self._choices.delay(1.0, 30.0))

    def carry(self, message: str) -> None:
        """Take a message to the client."""
        self._queue(message)

    def _queue(self, item: str | int) -> None:
        self._outbound.append(item)
        if not self.unread:
            self._loop.call_later(self._choices.delay(0.002, 0.05), self._deliver)

    def _deliver(self) -> None:
        if self._client_closed or self.unread or not self._outbound:
            return
        item = self._outbound.popleft()
        if isinstance(item, str):
            self._on_message(item)
        else:
            self._end(item)

    # Events of the network and of the client

    def client_send(self, text: str) -> None:
        """A message of the client, which arrives after a while, and after those before it."""
        self._arrives_at = max(self._arrives_at + 1e-5, self._loop.time() + self._choices.delay(0.002))
        self._loop.call_at(self._arrives_at, self._arrive, {"type": "websocket.receive", "text": text})

    def client_close(self, code: int) -> None:
        """The client closes the WebSocket."""
        if not self._client_closed:
            self._client_closed = True
            self._loop.call_later(self._choices.delay(0.002, 0.5), self._lose, code)

    def reset(self) -> None:
        """The connection breaks: nothing that is on its way arrives. The server's protocol hears of it later."""
        if self.transport.closed:
            return
        self.transport.closed = True
        self._outbound.clear()
        self._loop.call_later(self._choices.delay(0.001, 0.3), self._lose, 1006)
        self._loop.call_later(self._choices.delay(0.01, 2.0), self._end, 1006)

    def stop_reading(self, seconds: float) -> None:
        """The client reads nothing for a while."""
        if self._lost or self.unread:
            return
        self.unread = True
        self._loop.call_later(self._choices.delay(0.01, 1.0), self._fill)
        self._loop.call_later(seconds, self.resume_reading)

    def _fill(self) -> None:
        """The buffers between server and client are full."""
        if self.unread and not self._lost:
            self.writable.clear()

    def resume_reading(self) -> None:
        """The client reads again."""
        if not self.unread:
            return
        self.unread, self.read_again_at = False, self._loop.time()
        self.writable.set()
        for _ in range(len(self._outbound)):
            self._loop.call_later(self._choices.delay(0.002), self._deliver)

    def _arrive(self, event: dict[str, Any]) -> None:
        if self._lost:
            return
        self._inbound.append(event)
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    def _lose(self, code: int) -> None:
        """The server's protocol hears that the connection has ended."""
        self.transport.closed = True
        self.conn.state = State.CLOSED
        self._arrive({"type": "websocket.disconnect", "code": code})
        self._lost = True
        self.writable.set()

    def _end(self, code: int) -> None:
        """The client hears that the connection has ended."""
        if not self._client_closed:
            self._client_closed = True
            self._on_close(code)
            self._loop.call_later(self._choices.delay(0.002, 0.2), self._lose_once, code)

    def _lose_once(self, code: int) -> None:
        if not self._lost:
            self._lose(code)


class SansIOSocket(SimulatedSocket, WebSocketsSansIOProtocol):  # type: ignore[misc]  # all but `isinstance` is simulated
    """A socket of uvicorn's own protocol, to whose transport the gateway writes directly."""


def read_frame(data: bytes) -> str:
    """The text of one frame of a server."""
    size, start = data[1], 2
    if size == 126:
        size, start = int.from_bytes(data[2:4], "big"), 4
    elif size == 127:
        size, start = int.from_bytes(data[2:10], "big"), 10
    assert data[0] == 0x81
    assert len(data) == start + size
    return data[start:].decode()
