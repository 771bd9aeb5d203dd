"""discord.py clients that are online for the length of a block."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import discord

from tests.clients.live import ADMINISTRATOR, Bot, Person, World

ClientT = TypeVar("ClientT", bound=discord.Client)

READY_WITHIN = 60.0
SOON = 30.0
"""Seconds within which what a test waits for must have happened."""


class RemembersEvents:
    """Mixed into a client: remembers every event that discord.py dispatched, in order; waits for nothing."""

    def __init__(self, *, intents: discord.Intents | None = None, **options: Any) -> None:
        # discord.py waits two seconds for more guilds before it calls itself ready; `online` waits for those that come.
        options.setdefault("guild_ready_timeout", 0.05)
        super().__init__(intents=discord.Intents.all() if intents is None else intents, **options)  # type: ignore[call-arg]
        self.heard: list[tuple[str, tuple[Any, ...]]] = []

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify at once, where discord.py would wait five seconds between two."""

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Note the event, then do as discord.py does."""
        self.heard.append((event, args))
        super().dispatch(event, *args, **kwargs)  # type: ignore[misc]

    def events(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of every event of a name so far."""
        return [arguments for event, arguments in self.heard if event == name]


class Client(RemembersEvents, discord.Client):
    """A client that remembers its events."""


@asynccontextmanager
async def online(client: ClientT, bot: Bot) -> AsyncIterator[ClientT]:
    """Log in, connect and be ready; leave and close at the end. What breaks the connection fails the block."""
    async with client:
        await client.login(bot.token)
        connection = asyncio.create_task(client.connect())
        ready = asyncio.create_task(client.wait_until_ready())
        await asyncio.wait({connection, ready}, timeout=READY_WITHIN, return_when=asyncio.FIRST_COMPLETED)
        if connection.done():
            ready.cancel()
            await connection
        assert ready.done(), "discord.py was not ready in time"
        chunking = client._connection._chunk_guilds
        await until(lambda: all(not guild.unavailable and guild.chunked >= chunking for guild in client.guilds))
        yield client
        await client.close()
        await connection


def soon(
    client: discord.Client, event: str, check: Callable[..., bool] | None = None, *, seconds: float = SOON
) -> asyncio.Future[Any]:
    """The next event of a name that a check admits, listened for from now on: await it after causing it."""
    return asyncio.ensure_future(client.wait_for(event, check=check, timeout=seconds))


def cut(client: discord.Client) -> None:
    """Kill the TCP connection under a client's gateway, without a word to either side."""
    connection = client.ws.socket._response.connection
    assert connection is not None
    assert connection.transport is not None
    connection.transport.abort()


async def until(condition: Callable[[], bool], *, seconds: float = SOON) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 what changes is discord.py's cache, which announces nothing
            await asyncio.sleep(0.01)


@dataclass
class Harbour:
    """A guild, its owner, and a bot that is online in it."""

    world: World
    owner: Person
    bot: Bot
    client: Client
    guild: discord.Guild
    channel: discord.TextChannel

    @classmethod
    @asynccontextmanager
    async def opened(cls, world: World, *, permissions: int = ADMINISTRATOR, **options: Any) -> AsyncIterator[Self]:
        """Make one; the bot goes offline at the end. `options` are the client's."""
        owner = await world.resident()
        guild_id = await world.guild(owner)
        channel_id = await world.text_channel(owner, guild_id)
        bot = await world.bot(owner, guild_id, permissions=permissions)
        async with online(Client(**options), bot) as client:
            guild, channel = client.get_guild(guild_id), client.get_channel(channel_id)
            assert guild is not None
            assert isinstance(channel, discord.TextChannel)
            yield cls(world, owner, bot, client, guild, channel)

    async def guest(self) -> Person:
        """A new member, whom the bot knows."""
        guest = await self.world.person("guest")
        joined = soon(self.client, "member_join", lambda member: member.id == guest.id)
        await self.owner.invite(self.channel.id, guest)
        await joined
        return guest
