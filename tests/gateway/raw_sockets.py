"""WebSocket clients on plain sockets: many of them, and such as reset their connections."""

import json
import socket
import struct
from asyncio import StreamReader, StreamWriter, open_connection
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit

_CLOSE, _PING = 0x88, 0x89


class RawClient:
    """A client of the gateway that reads only when told."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.seq = 0

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect, and wait until the WebSocket is accepted."""
        address = urlsplit(url)
        reader, writer = await open_connection(address.hostname, address.port)
        head = (
            f"GET {address.path}?{address.query} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        writer.write(head.encode())
        try:
            await reader.readuntil(b"\r\n\r\n")
        except BaseException:
            writer.transport.abort()
            raise
        return cls(reader, writer)

    def send(self, op: int, data: Any) -> None:
        """Send a payload, in one frame with a mask of zeros."""
        payload = json.dumps({"op": op, "d": data}).encode()
        size = bytes((0x80 | len(payload),)) if len(payload) < 126 else struct.pack("!BH", 0x80 | 126, len(payload))
        self.writer.write(b"\x81" + size + bytes(4) + payload)

    def identify(self, token: str, **fields: Any) -> None:
        """Send Identify."""
        self.send(2, {"token": token, "properties": {}, **fields})

    def resume(self, token: str, session_id: str, seq: int) -> None:
        """Send Resume."""
        self.send(6, {"token": token, "session_id": session_id, "seq": seq})

    async def receive(self) -> dict[str, Any] | None:
        """The next payload; None for a close frame. Raises IncompleteReadError at the end of the connection."""
        while True:
            first, size = await self.reader.readexactly(2)
            if size == 126:
                (size,) = struct.unpack("!H", await self.reader.readexactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", await self.reader.readexactly(8))
            data = await self.reader.readexactly(size)
            if first == _CLOSE:
                return None
            if first != _PING:
                break
        payload: dict[str, Any] = json.loads(data)
        self.seq = payload["s"] or self.seq
        return payload

    async def until(self, name: str) -> Any:
        """The data of the next dispatch of a name; other payloads are passed over."""
        while (payload := await self.receive()) is not None:
            if payload["t"] == name:
                return payload["d"]
        raise ConnectionResetError(f"closed before {name}")

    async def close(self) -> None:
        """End the connection, which may have ended already."""
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    def reset(self) -> None:
        """End the connection by RST, so that what the server writes next fails."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
