"""A server for each module, and people in a guild with voice channels."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from tests.server.load import PASSWORD
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer
from tests.voice.client import Gateway, Voice


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A running server without rate limits."""
    with ForkedServer(tmp_path_factory.mktemp("server") / "data", "--no-demo", "--no-rate-limits") as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client."""
    async with aiohttp.ClientSession() as session:
        yield session


class Hall:
    """A guild of a new owner, with the voice channels General and Other, and text."""

    def __init__(self, server: RunningServer, http: aiohttp.ClientSession, stack: AsyncExitStack, number: int) -> None:
        self.server = server
        self.http = http
        self._stack = stack
        self._number = number
        self._people = 0
        self.owner = ""
        self.guild_id = ""
        self.channels: dict[str, str] = {}

    async def request(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """The answer to a request of the owner, which must succeed."""
        headers = {"Authorization": token or self.owner} if token or self.owner else {}
        async with self.http.request(
            method, f"{self.server.url}/api/v10{path}", json=body, headers=headers
        ) as response:
            text = await response.text()
            assert response.status < 300, f"{method} {path}: {response.status} {text}"
            return await response.json() if text else None

    async def register(self) -> str:
        """The token of a new person."""
        self._people += 1
        name = f"hall{self._number}x{self._people}"
        return str((await self.request("POST", "/auth/register", {"username": name, "password": PASSWORD}))["token"])

    async def build(self) -> None:
        """Register the owner and create everything."""
        self.owner = await self.register()
        self.guild_id = (await self.request("POST", "/guilds", {"name": "Hall"}))["id"]
        for name, kind in (("General", 2), ("Other", 2), ("text", 0)):
            body = {"name": name, "type": kind}
            self.channels[name] = (await self.request("POST", f"/guilds/{self.guild_id}/channels", body))["id"]

    async def member(self) -> Gateway:
        """A new member who is online, and no administrator."""
        token = await self.register()
        invite = await self.request("POST", f"/channels/{self.channels['text']}/invites", {})
        await self.request("POST", f"/invites/{invite['code']}", {}, token=token)
        return await self._stack.enter_async_context(Gateway.online(self.http, self.server.url, token))

    async def bot(self) -> str:
        """The token of a new bot in the guild, an administrator."""
        made = await self.request("POST", "/applications", {"name": "bot"})
        query = f"client_id={made['id']}&scope=bot&permissions=8"
        consent = {"authorize": True, "guild_id": self.guild_id, "permissions": "8"}
        await self.request("POST", f"/oauth2/authorize?{query}", consent)
        return str(made["bot"]["token"])

    async def connection(self, *, version: int = 8) -> Voice:
        """A connection to the voice gateway, open until the test ends."""
        return await self._stack.enter_async_context(Voice.connected(self.http, self.server.url, version=version))

    async def in_voice(
        self, gateway: Gateway, channel: str = "General", *, version: int = 8, **options: Any
    ) -> tuple[Voice, dict[str, Any]]:
        """Join a channel and speak the whole of the voice gateway; the connection, and VOICE_SERVER_UPDATE."""
        sent_before = gateway.count("VOICE_SERVER_UPDATE")
        await gateway.join(self.guild_id, self.channels[channel])
        update = await gateway.event("VOICE_SERVER_UPDATE", skip=sent_before)
        voice = await self.connection(version=version)
        await voice.begin(gateway, update, **options)
        return voice, update


_numbers = iter(range(1_000_000))


@pytest.fixture
async def hall(server: RunningServer, http: aiohttp.ClientSession) -> AsyncIterator[Hall]:
    """A guild."""
    async with AsyncExitStack() as stack:
        built = Hall(server, http, stack, next(_numbers))
        await built.build()
        yield built
