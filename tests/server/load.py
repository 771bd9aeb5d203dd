"""People who write to a server without pause, and remember what was acknowledged."""

import asyncio
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec
from msgspec import Struct, field

from tests.conformance.public_schema import check_answer

PASSWORD = "a long enough password"
MAX_ROLES = 240
"""Below the limit of a guild."""


class Acknowledged(Struct):
    """What the server said it had done."""

    messages: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Channel and content, by id."""
    roles: dict[int, int] = field(default_factory=dict)
    """The guild, by id."""


class Load:
    """One person's writing: `write` until the connection breaks."""

    def __init__(self, url: str, acknowledged: Acknowledged) -> None:
        self.url = url
        self.acknowledged = acknowledged
        self.guild_id = 0
        self.channel_id = 0
        self.webhook = ""
        self.token = ""
        self.odd: list[tuple[int, Any]] = []
        """Answers that are neither success nor the end of the server."""

    async def __aenter__(self) -> Self:
        self.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.session.close()

    async def register(self, name: str) -> None:
        """Take an account; requests are this person's from now on."""
        made = await self.ask("POST", "/auth/register", {"username": name, "password": PASSWORD})
        self.token = self.session.headers["Authorization"] = made["token"]

    async def create_guild(self) -> None:
        """Make a guild with a webhook in its first text channel."""
        guild = await self.ask("POST", "/guilds", {"name": "Load"})
        self.guild_id = int(guild["id"])
        channels = await self.ask("GET", f"/guilds/{self.guild_id}/channels")
        self.channel_id = next(int(channel["id"]) for channel in channels if channel["type"] == 0)
        webhook = await self.ask("POST", f"/channels/{self.channel_id}/webhooks", {"name": "Writer"})
        self.webhook = f"/webhooks/{webhook['id']}/{webhook['token']}?wait=true"

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request that must succeed."""
        async with self.session.request(method, f"{self.url}/api/v10{path}", json=body) as answer:
            body = await answer.read()
        assert answer.status < 300, (method, path, answer.status, body)
        check_answer(method, path.partition("?")[0], answer.status, body)
        return msgspec.json.decode(body) if body else None

    async def try_to(self, method: str, path: str, body: Any = None) -> Any:
        """A request that may be refused: what it was answered, None where the connection broke before that."""
        try:
            async with self.session.request(method, f"{self.url}/api/v10{path}", json=body) as answer:
                content = await answer.json()
        except (aiohttp.ClientError, ConnectionError):
            return None
        if answer.status >= 300:
            self.odd.append((answer.status, content))
            return None
        return content

    async def write(self) -> None:
        """Write with seven hands until the server goes away."""
        async with asyncio.TaskGroup() as hands:
            for hand in range(4):
                hands.create_task(self._send(self.webhook, f"webhook {hand}"))
            for hand in range(2):
                hands.create_task(self._send(f"/channels/{self.channel_id}/messages", f"person {hand}"))
            hands.create_task(self._make_roles())

    async def acknowledged_more_than(self, messages: int) -> None:
        """Wait until so many messages were acknowledged in all."""
        while len(self.acknowledged.messages) <= messages:  # noqa: ASYNC110 every answer would set an event
            await asyncio.sleep(0.01)

    async def _send(self, path: str, name: str) -> None:
        number = 0
        while (sent := await self.try_to("POST", path, {"content": f"{name} {number}"})) is not None:
            self.acknowledged.messages[int(sent["id"])] = (int(sent["channel_id"]), sent["content"])
            number += 1

    async def _make_roles(self) -> None:
        for number in range(MAX_ROLES):
            made = await self.try_to("POST", f"/guilds/{self.guild_id}/roles", {"name": f"Role {number}"})
            if made is None:
                break
            self.acknowledged.roles[int(made["id"])] = self.guild_id
