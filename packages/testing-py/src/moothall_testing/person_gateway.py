"""A person's gateway connection, which voice needs: it sends heartbeats, and hears where to connect for voice."""

import json
import threading
from contextlib import suppress
from typing import Any

from moothall_testing.web_socket import WebSocket, WebSocketClosed


class PersonGateway:
    """A session of a person, from its construction to `close`."""

    def __init__(self, gateway_url: str, token: str) -> None:
        self._socket = WebSocket(f"{gateway_url}?v=10&encoding=json")
        self._lock = threading.Lock()
        interval = json.loads(self._socket.receive())["d"]["heartbeat_interval"] / 1000
        self._send(2, {"token": token, "properties": {"os": "linux", "browser": "moothall", "device": "moothall"}})
        self.session_id = ""
        self._server: dict[str, Any] | None = None
        self._channel_id: str | None = None
        self._changed = threading.Condition()
        while (payload := json.loads(self._socket.receive())).get("t") != "GUILD_CREATE":
            if payload.get("t") == "READY":
                self.session_id = payload["d"]["session_id"]
        self._closed = threading.Event()
        for work in (self._read, lambda: self._beat(interval)):
            threading.Thread(target=work, daemon=True, name="moothall-person").start()

    def set_voice(self, guild_id: str, channel_id: str | None) -> None:
        """Connect to a voice channel, or disconnect with None."""
        if channel_id is None:
            self._server = self._channel_id = None
        self._send(4, {"guild_id": guild_id, "channel_id": channel_id, "self_mute": False, "self_deaf": False})

    def join_voice(self, guild_id: str, channel_id: str, *, within: float) -> dict[str, Any]:
        """Connect to a voice channel; the guild and the token of VOICE_SERVER_UPDATE. Raises TimeoutError."""
        with self._changed:
            if self._server is not None and self._channel_id == channel_id:
                return self._server
            self._server, self._channel_id = None, channel_id
        self.set_voice(guild_id, channel_id)
        with self._changed:
            server = self._changed.wait_for(lambda: self._server, within)
        if server is None:
            raise TimeoutError("the platform did not tell where to connect for voice: may they connect there?")
        return server

    def close(self) -> None:
        """Go offline. Does nothing the second time."""
        self._closed.set()
        self._socket.close()

    def _send(self, op: int, data: Any) -> None:
        with self._lock:
            self._socket.send(json.dumps({"op": op, "d": data}))

    def _read(self) -> None:
        with suppress(WebSocketClosed):
            while True:
                payload = json.loads(self._socket.receive())
                if payload.get("t") == "VOICE_SERVER_UPDATE":
                    with self._changed:
                        self._server = payload["d"]
                        self._changed.notify_all()
        self._closed.set()

    def _beat(self, interval: float) -> None:
        with suppress(WebSocketClosed):
            while not self._closed.wait(interval * 0.9):
                self._send(1, None)
