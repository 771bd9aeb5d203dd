"""How messages of a connection reach its WebSocket: through ASGI, or as frames written to the transport."""

from collections.abc import Awaitable, Callable
from struct import Struct
from typing import Any, Final, Protocol

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from moothall.gateway.protocol.inline import SuspendedCoroutine, run_inline
from moothall.objects.json_object import JsonObject

Send = Callable[[Any], Awaitable[None]]

_OPEN: Final = State.OPEN
_TEXT, _BINARY = 0x81, 0x82
"""The first byte of a message in one frame: FIN and the opcode (RFC 6455, 5.2)."""
_SHORT, _MEDIUM, _LONG = Struct("!BB"), Struct("!BBH"), Struct("!BBQ")


class FrameWriter(Protocol):
    """Writes the messages of one connection. Every method but `abort` may raise whatever the server raises."""

    @property
    def socket(self) -> object:
        """The server's object for the WebSocket; None if `send` is a function."""

    def write(self, message: str | bytes) -> SuspendedCoroutine | None:
        """Send a message; what is left to await if the client does not read."""

    async def send(self, event: JsonObject) -> None:
        """Send an event of ASGI, waiting for the client to read."""

    def abort(self) -> None:
        """Drop the connection without a close frame."""


class AsgiWriter:
    """Writes through ASGI's `send`, which every server has."""

    __slots__ = ("_send",)

    def __init__(self, send: Send) -> None:
        self._send = send

    @property
    def socket(self) -> object:
        """The object of which `send` is a method; None for a function."""
        return getattr(self._send, "__self__", None)

    def write(self, message: str | bytes) -> SuspendedCoroutine | None:
        """Send a message by `send`, run inline as far as it does not wait."""
        return run_inline(self._send(asgi_event(message)))  # type: ignore[arg-type]  # ASGI's send is a coroutine function

    async def send(self, event: JsonObject) -> None:
        """Send an event."""
        await self._send(event)

    def abort(self) -> None:
        """Abort the transport: ASGI has no event for this, and a close handshake waits for the client to read."""
        # uvicorn's protocol, whose bound method `send` is, has the transport.
        transport = getattr(self.socket, "transport", None)
        if transport is not None:
            transport.abort()


class TransportWriter(AsgiWriter):
    """Writes frames to the transport of uvicorn's protocol while the client reads, at less cost than its `send`."""

    __slots__ = ("_protocol",)

    def __init__(self, send: Send, protocol: WebSocketsSansIOProtocol) -> None:
        super().__init__(send)
        self._protocol = protocol

    def write(self, message: str | bytes) -> SuspendedCoroutine | None:
        """Write one frame, or leave it to `send` if the client does not read.

        A transport that is being closed drops the frame, and a closed one raises RuntimeError (uvloop).
        """
        protocol = self._protocol
        if protocol.conn.state is _OPEN and protocol.writable.is_set():
            # A server's frames are not masked, and no extension is negotiated.
            protocol.transport.write(encode_frame(message))
            return None
        return AsgiWriter.write(self, message)


def frame_writer(send: Send, *, direct: bool) -> FrameWriter:
    """The writer of a connection; with `direct` one that writes to the transport, if it is one of uvicorn."""
    protocol = getattr(send, "__self__", None)
    if direct and isinstance(protocol, WebSocketsSansIOProtocol):
        return TransportWriter(send, protocol)
    return AsgiWriter(send)


def asgi_event(message: str | bytes) -> JsonObject:
    """A message as an event of ASGI."""
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
