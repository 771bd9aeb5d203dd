"""A WebSocket client of the standard library: text messages to a server on this machine, blocking (RFC 6455)."""

import base64
import os
import socket
import struct
from typing import Final
from urllib.parse import urlsplit

_TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x1, 0x2, 0x8, 0x9, 0xA
_FINAL: Final = 0x80
_MASKED: Final = 0x80
_CONNECT_SECONDS: Final = 10.0


class WebSocketClosed(ConnectionError):
    """The connection has ended."""


class WebSocket:
    """A connection to a `ws://` URL. Messages are received by one thread, and sent by one at a time."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 80), _CONNECT_SECONDS)
        self._received = bytearray()
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        status = self._read_head()
        if " 101 " not in f"{status} ":
            raise WebSocketClosed(f"the gateway answered {status!r}")
        self._socket.settimeout(None)

    def send(self, text: str) -> None:
        """Send a message. Raises WebSocketClosed."""
        self._send(_TEXT, text.encode())

    def receive(self) -> str:
        """Wait for the next message. Raises WebSocketClosed."""
        message = bytearray()
        while True:
            first, second = self._read(2)
            opcode, size = first & 0x0F, second & 0x7F
            if size >= 126:
                kind = "!H" if size == 126 else "!Q"
                (size,) = struct.unpack(kind, self._read(struct.calcsize(kind)))
            data = self._read(size)
            if opcode == _CLOSE:
                raise WebSocketClosed("the gateway closed the connection")
            if opcode == _PING:
                self._send(_PONG, data)
            elif opcode != _PONG:
                message += data
                if first & _FINAL:
                    return message.decode()

    def close(self) -> None:
        """End the connection. Does nothing the second time."""
        try:
            self._send(_CLOSE, struct.pack("!H", 1000))
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended
        self._socket.close()

    def _send(self, opcode: int, data: bytes) -> None:
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        size = len(data)
        if size < 126:
            length = struct.pack("!B", size | _MASKED)
        elif size < 65_536:
            length = struct.pack("!BH", 126 | _MASKED, size)
        else:
            length = struct.pack("!BQ", 127 | _MASKED, size)
        try:
            self._socket.sendall(bytes((opcode | _FINAL,)) + length + mask + masked)
        except OSError as error:
            raise WebSocketClosed(str(error)) from None

    def _read_head(self) -> str:
        while b"\r\n\r\n" not in self._received:
            self._receive_more()
        head, _, rest = bytes(self._received).partition(b"\r\n\r\n")
        self._received = bytearray(rest)
        return head.split(b"\r\n")[0].decode("latin-1")

    def _read(self, size: int) -> bytes:
        while len(self._received) < size:
            self._receive_more()
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    def _receive_more(self) -> None:
        try:
            data = self._socket.recv(65_536)
        except OSError as error:
            raise WebSocketClosed(str(error)) from None
        if not data:
            raise WebSocketClosed("the connection was cut off")
        self._received += data
