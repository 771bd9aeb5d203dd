"""The community that is attacked: its owner, a guild with history, and an account for each attacker."""

import asyncio
from collections.abc import Iterable
from io import BytesIO
from typing import Any

import aiohttp
from PIL import Image

from tests.abuse.target import Target
from tests.server.load import PASSWORD

_MESSAGES = 300
_CHANNELS = 5
_WEBHOOKS = 6
"""As one may post thirty times a minute."""


class Person:
    """An account and its HTTP session, which comes from an address of its own."""

    def __init__(self, url: str, address: str) -> None:
        self.url = url
        self.address = address
        self.token = ""
        self.user_id = ""
        self.username = ""
        # Shorter than the server keeps idle connections, so that no request meets their end.
        connector = aiohttp.TCPConnector(keepalive_timeout=2)
        self.session = aiohttp.ClientSession(
            connector=connector, headers={"X-Forwarded-For": address}, timeout=aiohttp.ClientTimeout(total=60)
        )

    async def ask(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """Send a request that must succeed; again after the time that a 429 names."""
        while True:
            headers = {"Authorization": token or self.token} if token or self.token else {}
            async with self.session.request(method, f"{self.url}/api/v10{path}", json=body, headers=headers) as answer:
                content = await answer.json() if answer.content_type == "application/json" else None
                if answer.status == 429:
                    await asyncio.sleep(float(answer.headers.get("Retry-After", "1")))
                    continue
                assert answer.status < 300, (method, path, answer.status, content)
                return content

    async def register(self, username: str) -> None:
        """Make the account."""
        made = await self.ask("POST", "/auth/register", {"username": username, "password": PASSWORD})
        self.token, self.username = made["token"], username
        self.user_id = (await self.ask("GET", "/users/@me"))["id"]


class Community:
    """The guild of the well-behaved, whose members attackers are too."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.owner = Person(url, "198.51.100.1")
        self.guild_id = ""
        self.channel_ids: list[str] = []
        self.webhook_paths: list[str] = []
        """Below the URL, with their tokens."""
        self.file_url = ""
        self.avatar_path = ""
        self._invite = ""
        self._people: list[Person] = [self.owner]

    async def build(self) -> None:
        """Register the owner and make the guild with channels, messages, a file and a webhook."""
        owner = self.owner
        await owner.register("owner")
        self.guild_id = (await owner.ask("POST", "/guilds", {"name": "Moot"}))["id"]
        for number in range(_CHANNELS):
            channel = await owner.ask("POST", f"/guilds/{self.guild_id}/channels", {"name": f"channel-{number}"})
            self.channel_ids.append(channel["id"])
        first = self.channel_ids[0]
        self._invite = (await owner.ask("POST", f"/channels/{first}/invites", {"max_age": 0}))["code"]
        for _ in range(_WEBHOOKS):
            hook = await owner.ask("POST", f"/channels/{first}/webhooks", {"name": "News"})
            self.webhook_paths.append(f"/api/v10/webhooks/{hook['id']}/{hook['token']}")
        form = aiohttp.FormData()
        form.add_field("files[0]", _picture(), filename="a.jpg", content_type="image/jpeg")
        headers = {"Authorization": owner.token}
        url = f"{self.url}/api/v10/channels/{first}/messages"
        async with owner.session.post(url, data=form, headers=headers) as answer:
            self.file_url = (await answer.json())["attachments"][0]["url"]

    async def write_history(self) -> None:
        """Fill the first channels with messages of all members, which searches and pages have to read."""
        count = len(self._people)
        await asyncio.gather(
            *(self._write(person, range(at, _MESSAGES, count)) for at, person in enumerate(self._people))
        )

    async def _write(self, author: Person, numbers: Iterable[int]) -> None:
        for number in numbers:
            channel_id = self.channel_ids[number % 2]
            body = {"content": f"hello the world {number} https://example.com/{number}"}
            await author.ask("POST", f"/channels/{channel_id}/messages", body)

    async def member(self, username: str, address: str) -> Person:
        """Register a person who joins the guild."""
        person = Person(self.url, address)
        self._people.append(person)
        await person.register(username)
        await person.ask("POST", f"/invites/{self._invite}", {})
        return person

    async def bot_token(self, person: Person, guild_ids: Iterable[str]) -> str:
        """Make a bot of a person's and add it to guilds, which the guilds' owner does; its token with `Bot `."""
        application = await person.ask("POST", "/applications", {"name": f"bot {person.user_id}"})
        token = (await person.ask("POST", f"/applications/{application['id']}/bot/reset", {}))["token"]
        for guild_id in guild_ids:
            adder = self.owner if guild_id == self.guild_id else person
            path = f"/oauth2/authorize?client_id={application['id']}&scope=bot%20applications.commands"
            await adder.ask("POST", path, {"authorize": True, "guild_id": guild_id, "permissions": "0"})
        return f"Bot {token}"

    async def attacker(self, number: int) -> Target:
        """An account for an attacker: a member here, owner of a guild of its own, with a bot in both."""
        person = await self.member(f"attacker_{number}", f"203.0.113.{number + 1}")
        own_id = (await person.ask("POST", "/guilds", {"name": "Own"}))["id"]
        channel = await person.ask("POST", f"/guilds/{own_id}/channels", {"name": "own"})
        hook = await person.ask("POST", f"/channels/{channel['id']}/webhooks", {"name": "Own"})
        return Target(
            url=self.url,
            address=person.address,
            token=person.token,
            bot_token=await self.bot_token(person, (self.guild_id, own_id)),
            username=person.username,
            password=PASSWORD,
            user_id=person.user_id,
            guild_id=self.guild_id,
            own_guild_id=own_id,
            channel_id=self.channel_ids[1],
            webhook_path=f"/api/v10/webhooks/{hook['id']}/{hook['token']}",
        )

    async def close(self) -> None:
        """Close the connections of all people."""
        for person in self._people:
            await person.session.close()


def _picture() -> bytes:
    out = BytesIO()
    Image.effect_noise((1200, 900), 30).convert("RGB").save(out, "JPEG")
    return out.getvalue()
