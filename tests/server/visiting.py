"""Requests of an address straight into a whole server, without sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from moothall.app.application import App
from moothall.settings import Settings
from tests.api.forms import TYPE, form, part

STRANGER = "203.0.113.7"
OTHER = "198.51.100.9"


class Answered(Struct):
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body parsed."""
        return json.loads(self.body)


class Visited:
    """A server, and what one asks of it."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.token = ""

    async def get(
        self,
        path: str,
        *,
        client: str = STRANGER,
        method: str = "GET",
        body: bytes = b"",
        server: tuple[str, int] = ("192.0.2.1", 3333),
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Answered:
        """One request of an address, that has come in by the address and port `server`."""
        sent: list[Any] = []
        bodies = [body]

        async def receive() -> Any:
            if not bodies:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": (client, 5000),
            "server": server,
        }
        await self.app(scope, receive, send)
        shown = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answered(sent[0]["status"], shown, b"".join(message.get("body", b"") for message in sent[1:]))

    async def call(self, method: str, path: str, data: Any = None) -> Any:
        """A request to the API that succeeds, of a person once there is one; its JSON."""
        raw, kind = (data, TYPE) if isinstance(data, bytes) else (json.dumps(data).encode(), "application/json")
        headers = {"content-type": kind, "content-length": str(len(raw))}
        if self.token:
            headers["authorization"] = self.token
        answer = await self.get(f"/api/v10{path}", client="127.0.0.1", method=method, body=raw, headers=headers)
        assert answer.status < 300, answer
        return answer.json if answer.body else None

    async def send(self, filename: str, data: bytes) -> str:
        """Send a file in a guild of one's own; the path and query of its URL."""
        if not self.token:
            registered = await self.call(
                "POST", "/auth/register", {"username": "sender", "password": "9f-k3q-zw7-long"}
            )
            self.token = registered["token"]
            guild = await self.call("POST", "/guilds", {"name": "Pictures"})
            channels = await self.call("GET", f"/guilds/{guild['id']}/channels")
            self.channel = next(channel["id"] for channel in channels if channel["type"] == 0)
        message = await self.call("POST", f"/channels/{self.channel}/messages", form(part("files[0]", data, filename)))
        self.message = message["id"]
        url: str = message["attachments"][0]["url"]
        return url[url.index("/attachments/") :]

    async def change_avatar(self, data_uri: str) -> str:
        """Give the person an avatar; its path without an ending."""
        user = await self.call("PATCH", "/users/@me", {"avatar": data_uri})
        return f"/avatars/{user['id']}/{user['avatar']}"


@asynccontextmanager
async def visited(data: Path, **settings: Any) -> AsyncIterator[Visited]:
    """A server over a data folder, with the settings given."""
    app = App(Settings(data=data, demo=False, **settings))
    await app.start()
    try:
        yield Visited(app)
    finally:
        await app.stop()
