"""One WebSocket of a bot, as the test server sees it: what passes through, and how it can break."""

import zlib
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
import zstandard

from moothall.gateway.protocol import etf
from moothall.runtime.asgi import Scope

Message = Scope
_IDENTIFY, _RESUME, _HEARTBEAT = 2, 6, 1


class StreamReader:
    """Reads what the server sends, as a client does: JSON or terms, plain or in a compressed stream."""

    def __init__(self, query_string: bytes) -> None:
        query = parse_qs(query_string.decode("latin-1"))
        self.etf = query.get("encoding", ["json"])[0] == "etf"
        transport = query.get("compress", [""])[0]
        self._decompress: Callable[[bytes], bytes] | None = None
        if transport == "zlib-stream":
            self._decompress = zlib.decompressobj().decompress
        elif transport == "zstd-stream":
            self._decompress = zstandard.ZstdDecompressor().decompressobj().decompress

    def read(self, message: str | bytes) -> Any:
        """The payload of a message that is sent to the client."""
        if isinstance(message, str):
            return msgspec.json.decode(message)
        if self._decompress is not None:
            message = self._decompress(message)
        elif not self.etf:
            message = zlib.decompress(message)
        return self._decoded(message)

    def _decoded(self, data: bytes) -> Any:
        return etf.decode(data.rstrip(b" ")) if self.etf else msgspec.json.decode(data)

    def read_command(self, message: str | bytes) -> Any:
        """The payload of a message of the client, which is never compressed; None if it is none."""
        try:
            return etf.decode(message) if isinstance(message, bytes) and self.etf else msgspec.json.decode(message)
        except ValueError:
            return None


class GatewaySocket:
    """Wraps the `receive` and `send` of a WebSocket.

    `on_payload` is called with each payload that is sent, `on_token` with the token of the client's IDENTIFY or RESUME.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
        *,
        on_payload: Callable[["GatewaySocket", Any], None],
        on_token: Callable[["GatewaySocket", str, str], None],
    ) -> None:
        self._receive = receive
        self._send = send
        self._reader = StreamReader(scope.get("query_string", b""))
        self._on_payload = on_payload
        self._on_token = on_token
        self.actor = ""
        """The name of the bot or person; empty before it identified."""
        self.names: frozenset[str] = frozenset()
        self.user_id = 0
        self.bot = False
        self.close_code = 0
        """With which the platform closed it; 0 if it did not."""
        self.silent = False
        """Half-open: nothing passes in either direction, and neither side is told."""
        self.ignores_heartbeats = False

    @property
    def transport(self) -> Any:
        """The TCP connection, which an overflowing send queue aborts."""
        return getattr(getattr(self._send, "__self__", None), "transport", None)

    def drop(self) -> None:
        """Break the TCP connection, without a close frame."""
        if self.transport is not None:
            self.transport.abort()

    async def send(self, message: Message) -> None:
        """Pass a message on to the client."""
        if message["type"] == "websocket.send":
            text = message.get("text")
            payload = self._reader.read(text if text is not None else message["bytes"])
            if self.silent:
                return
            await self._send(message)
            self._on_payload(self, payload)
            return
        if message["type"] == "websocket.close":
            self.close_code = message.get("code", 1000)
        await self._send(message)

    async def receive(self) -> Message:
        """The next message of the client that the platform is to see."""
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            text = message.get("text")
            command = self._reader.read_command(text if text is not None else message.get("bytes") or b"")
            op = command.get("op") if isinstance(command, dict) else None
            if self.silent or (op == _HEARTBEAT and self.ignores_heartbeats):
                continue
            if op in {_IDENTIFY, _RESUME} and isinstance(command.get("d"), dict):
                token = command["d"].get("token")
                self._on_token(self, "RESUME" if op == _RESUME else "IDENTIFY", token if isinstance(token, str) else "")
            return message


CLOSE_CODES: Final = {
    4004: "the token is invalid",
    4013: "the intents are invalid",
    4014: "a privileged intent is not enabled for the application",
}
"""Close codes after which a bot cannot connect again."""
