"""A WebSocket client for attackers: it sends bytes of their choice, and reads only if they want."""

import asyncio
import base64
import contextlib
import json
import os
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.abuse.target import Target

TEXT, CLOSE = 1, 8


def frame(opcode: int, payload: bytes = b"", *, final: bool = True) -> bytes:
    """A frame of a client, masked with zeros."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    if size > 65_535:
        length = b"\xff" + size.to_bytes(8, "big")
    return bytes([(0x80 if final else 0) | opcode]) + length + bytes(4) + payload


class RawWebSocket:
    """A connection to the gateway of a target. Errors of the connection are OSError or EOFError."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def __aenter__(self) -> Self:
        """Connect and upgrade. Raises OSError or EOFError if the server refuses."""
        parts = urlsplit(self._target.gateway)
        self.reader, self.writer = await asyncio.open_connection(parts.hostname, parts.port)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {parts.path}?{parts.query} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            *(f"{name}: {value}" for name, value in self._target.headers.items()),
        ]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            self.writer.close()
            raise ConnectionRefusedError(head.partition(b"\r\n")[0].decode())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop the connection."""
        self.writer.transport.abort()

    async def flood(self, data: bytes, seconds: float) -> int:
        """Send the same bytes for some time, or until the connection ends; how many were sent."""
        sent = 0
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.writer.transport.is_closing():
                    self.writer.write(data)
                    await self.writer.drain()
                    sent += len(data)
                    await asyncio.sleep(0)
        return sent

    def send(self, payload: Any) -> None:
        """Send a payload as a JSON text message."""
        self.writer.write(frame(TEXT, json.dumps(payload).encode()))

    def identify(self, token: str, **fields: Any) -> None:
        """Send IDENTIFY."""
        data = {"token": token, "properties": {"os": "linux", "browser": "x", "device": "x"}, "intents": 0, **fields}
        self.send({"op": 2, "d": data})

    async def receive(self) -> tuple[int, bytes]:
        """The opcode and payload of the next frame. Raises EOFError."""
        first, length = await self.reader.readexactly(2)
        if length >= 126:
            length = int.from_bytes(await self.reader.readexactly(2 if length == 126 else 8), "big")
        return first & 0x0F, await self.reader.readexactly(length)

    async def close_code(self) -> int:
        """Read up to the close frame; 1006 without one."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                opcode, payload = await self.receive()
                if opcode == CLOSE:
                    return int.from_bytes(payload[:2], "big")
        return 1006
