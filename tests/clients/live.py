"""A Moothall server as a process, and people who use it over HTTP as a browser would."""

import signal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import aiohttp
import discord
import discord.gateway
import yarl
from discord.http import Route

from tests.conformance.public_schema import check_answer
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer

PRIVILEGED_FLAGS = 1 << 13 | 1 << 15 | 1 << 19
"""The flags of an application that may use every privileged intent."""
ADMINISTRATOR = 8
PIXEL = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00"
    b"\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
)
"""An image."""
CLIP = Path(__file__).with_name("clip.webm")
"""A video of 64 x 36 pixels that takes less than a second."""


class Server:
    """`moothall serve` on a free port, which it keeps when it is started again.

    `settings` are those of the environment, by name: `rate_limits="false"`.
    """

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self.port = 0
        self.resident: tuple[int, str, str] | None = None
        """The id, name and token of the person whom most tests are about."""
        self._settings = {f"MOOTHALL_{name.upper()}": value for name, value in settings.items()}
        self._running: RunningServer | None = None

    def start(self) -> None:
        """Start it and wait until it serves."""
        arguments = ("--no-demo", "--port", str(self.port))
        self._running = self._prepare(*arguments).__enter__()
        self.port = int(self._running.url.rpartition(":")[2])

    def _prepare(self, *arguments: str) -> RunningServer:
        return ForkedServer(self.data, *arguments, settings=self._settings)

    def stop(self, kind: signal.Signals = signal.SIGTERM) -> int:
        """End it and return its exit code; one that has ended already is fine."""
        running, self._running = self._running, None
        return 0 if running is None else running.stop(kind)

    @property
    def url(self) -> str:
        """Where it serves, without a slash at the end."""
        return f"http://localhost:{self.port}"

    def point_discord_py(self) -> None:
        """Tell discord.py of this server, as docs/compatibility.md says."""
        Route.BASE = f"{self.url}/api/v10"
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"ws://localhost:{self.port}/gateway")
        discord.asset.Asset.BASE = self.url


class Refused(Exception):
    """An answer of 400 or above to a person."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.code: int = body.get("code", 0)


class Person:
    """A user with a session token."""

    def __init__(self, world: "World", user_id: int, name: str, token: str) -> None:
        self.world = world
        self.id = user_id
        self.name = name
        self.token = token

    async def request(self, method: str, path: str, body: Any = None, *, reason: str | None = None) -> Any:
        """The parsed answer, None for one without a body. Raises Refused."""
        headers = {"Authorization": self.token}
        if reason is not None:
            headers["X-Audit-Log-Reason"] = quote(reason)
        url = f"{self.world.server.url}/api/v10{path}"
        async with self.world.session.request(method, url, json=body, headers=headers) as answer:
            content = await answer.json() if answer.content_type == "application/json" else None
            if answer.status >= 400:
                raise Refused(answer.status, content)
            check_answer(method, path.partition("?")[0], answer.status, await answer.read())
            return content

    async def get(self, path: str) -> Any:
        return await self.request("GET", path)

    async def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return await self.request("POST", path, body, **options)

    async def put(self, path: str, body: Any = None, **options: Any) -> Any:
        return await self.request("PUT", path, body, **options)

    async def patch(self, path: str, body: Any = None, **options: Any) -> Any:
        return await self.request("PATCH", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Any:
        return await self.request("DELETE", path, **options)

    async def say(self, channel_id: int, content: str, **fields: Any) -> Any:
        """Send a message."""
        return await self.post(f"/channels/{channel_id}/messages", {"content": content, **fields})

    async def invite(self, channel_id: int, *guests: "Person") -> None:
        """Let people join the guild of a channel."""
        invite = await self.post(f"/channels/{channel_id}/invites", {"max_age": 0})
        for guest in guests:
            await guest.post(f"/invites/{invite['code']}", {})


class Bot(NamedTuple):
    """An application's bot."""

    application_id: int
    id: int
    token: str


class World:
    """People, guilds and bots on one server; names are never taken twice."""

    _made = 0

    def __init__(self, server: Server, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session

    async def person(self, name: str = "person") -> Person:
        """A new account."""
        World._made += 1
        name = f"{name}{World._made}"
        body = {"username": name, "password": "correct horse battery"}
        async with self.session.post(f"{self.server.url}/api/v10/auth/register", json=body) as answer:
            assert answer.status == 201, await answer.text()
            login = await answer.json()
        return Person(self, int(login["user_id"]), name, login["token"])

    async def resident(self) -> Person:
        """An account that is made once for each server: hashing a password costs more than most tests."""
        if self.server.resident is None:
            made = await self.person("owner")
            self.server.resident = (made.id, made.name, made.token)
        return Person(self, *self.server.resident)

    async def guild(self, owner: Person, name: str = "Guild", **fields: Any) -> int:
        """A new guild's id; it has the default channels, and no messages greet its members."""
        made = await owner.post("/guilds", {"name": name, "system_channel_flags": 1, **fields})
        return int(made["id"])

    async def bot(
        self, owner: Person, *guild_ids: int, permissions: int = ADMINISTRATOR, flags: int = PRIVILEGED_FLAGS
    ) -> Bot:
        """A new application's bot that is a member of these guilds."""
        World._made += 1
        made = await owner.post("/applications", {"name": f"bot{World._made}"})
        if flags:
            await owner.patch(f"/applications/{made['id']}", {"flags": flags})
        bot = Bot(int(made["id"]), int(made["bot"]["id"]), made["bot"]["token"])
        for guild_id in guild_ids:
            await self.add_bot(owner, bot, guild_id, permissions=permissions)
        return bot

    async def add_bot(self, owner: Person, bot: Bot, guild_id: int, *, permissions: int = ADMINISTRATOR) -> None:
        """Let a bot into a guild, as its owner's browser does."""
        query = f"client_id={bot.application_id}&scope=bot&permissions={permissions}"
        consent = {"authorize": True, "guild_id": str(guild_id), "permissions": str(permissions)}
        await owner.post(f"/oauth2/authorize?{query}", consent)

    async def text_channel(self, owner: Person, guild_id: int) -> int:
        """The guild's first text channel."""
        channels = await owner.get(f"/guilds/{guild_id}/channels")
        return next(int(channel["id"]) for channel in channels if channel["type"] == 0)
