"""Browsers that reach the server by TCP alone: datagrams in frames, each with its length before it (RFC 4571, 6544).

The port is that of the datagrams, where nothing else listens there. What comes is handled as datagrams are; an address
has a third part, so that it is never taken for one of UDP.
"""

import asyncio
import logging
import socket
from collections import Counter
from contextlib import suppress
from typing import Final, cast

from moothall.voice import packets
from moothall.voice.datagrams import Datagrams
from moothall.voice.rooms import Rooms
from moothall.voice.webrtc.stun import is_stun

log = logging.getLogger("moothall.voice")

KIND: Final = "tcp"
"""The third part of an address."""
_LENGTH: Final = 2
_UNPROVEN_SECONDS: Final = 10.0
"""How long a connection may be open without an authentic check."""
_MAX_CONNECTIONS: Final = 1024
_PER_HOST: Final = 32
_DTLS: Final = 20
"""First bytes below are of STUN, and of the address discovery of other clients."""
_UNSENT_BYTES: Final = 16 * 1024
"""What waits for a client that is slow; sound beyond it is late and is dropped."""


class Streams:
    """The connections of all browsers that use TCP."""

    def __init__(self, rooms: Rooms, datagrams: Datagrams) -> None:
        self.rooms = rooms
        self.datagrams = datagrams
        self._servers: list[asyncio.Server] = []
        self._connections: set[StreamConnection] = set()
        self._per_host: Counter[str] = Counter()

    async def start(self) -> None:
        """Listen at the addresses of the datagrams, unless something else does."""
        loop = asyncio.get_running_loop()
        try:
            for each in self.datagrams.sockets:
                host, port = each.getsockname()[:2]
                self._servers.append(
                    await loop.create_server(lambda: StreamConnection(self), host, port, family=each.family)
                )
        except OSError:
            self.close()
            log.info("voice has no fallback by TCP: something else listens at its port")
            return
        self.datagrams.has_streams = True

    def close(self) -> None:
        """End everything."""
        self.datagrams.has_streams = False
        for server in self._servers:
            server.close()
        self._servers.clear()
        for connection in list(self._connections):
            connection.end()

    def add(self, connection: "StreamConnection") -> bool:
        """Count a connection; whether there may be one more."""
        if len(self._connections) >= _MAX_CONNECTIONS or self._per_host[connection.host] >= _PER_HOST:
            return False
        self._connections.add(connection)
        self._per_host[connection.host] += 1
        return True

    def remove(self, connection: "StreamConnection") -> None:
        """Forget a connection that has ended, and that its client was there."""
        if connection in self._connections:
            self._connections.discard(connection)
            self._per_host[connection.host] -= 1
            if not self._per_host[connection.host]:
                del self._per_host[connection.host]
            self.rooms.lose_path(connection.address)

    def sweep(self, now: float) -> None:
        """End the connections that belong to no session."""
        for connection in list(self._connections):
            is_proven = connection.address in self.rooms.by_address
            if not is_proven and now - connection.opened_at > _UNPROVEN_SECONDS:
                connection.end()


class StreamConnection(asyncio.Protocol):
    """One connection; it stands where a datagram has its socket."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self.host = ""
        self.address: tuple[str, int, str] = "", 0, KIND
        self.opened_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note who connects; one connection too many is ended."""
        self._transport = cast("asyncio.Transport", transport)  # that of uvloop is no subclass
        peer = transport.get_extra_info("peername")
        self.host, self.address = peer[0], (peer[0], peer[1], KIND)
        self.opened_at = asyncio.get_running_loop().time()
        sock = transport.get_extra_info("socket")
        with suppress(OSError, AttributeError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._streams.add(self):
            self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        del exc
        self._streams.remove(self)

    def data_received(self, data: bytes) -> None:
        """Handle the frames that are complete. The first one of a connection is a check, else it ends."""
        received = self._received
        received += data
        at = 0
        while len(received) - at >= _LENGTH:
            size = int.from_bytes(received[at : at + _LENGTH], "big")
            if not 0 < size <= packets.MAX_PACKET:
                self.end()
                return
            if len(received) - at - _LENGTH < size:
                break
            frame = bytes(received[at + _LENGTH : at + _LENGTH + size])
            at += _LENGTH + size
            if not is_stun(frame) and (frame[0] < _DTLS or self.address not in self._streams.rooms.by_address):
                self.end()
                return
            try:
                self._streams.datagrams.handle(self, frame, self.address)
            except Exception:
                log.exception("a frame could not be handled")
        del received[:at]

    def sendto(self, data: bytes, _address: object) -> None:
        """Send a frame, unless the client is slow."""
        transport = self._transport
        if transport is not None and transport.get_write_buffer_size() < _UNSENT_BYTES:
            transport.write(len(data).to_bytes(_LENGTH, "big") + data)

    def end(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()
