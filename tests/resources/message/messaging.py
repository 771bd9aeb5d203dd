"""Guilds, members and direct messages for tests that send messages."""

from typing import Any

from tests.support.harness import Caller, Guild, Platform


async def guild_of(platform: Platform, **values: Any) -> tuple[Caller, Guild, str]:
    """An owner, their guild, and the path of its channel's messages."""
    owner = await platform.person()
    guild = await platform.guild(owner, **values)
    return owner, guild, f"/channels/{guild.general}/messages"


async def member_of(platform: Platform, guild: Guild, name: str | None = None, **values: Any) -> Caller:
    """A new person in a guild."""
    caller = await platform.person(name, **values)
    await guild.join(caller)
    return caller


async def bot_of(platform: Platform, guild: Guild, *, flags: int = 0) -> Caller:
    """A new bot in a guild."""
    bot = await platform.bot(guild.owner, flags=flags)
    await guild.join(bot)
    return bot


async def direct_messages(one: Caller, other: Caller) -> str:
    """The path of the messages between two people."""
    reply = await one.post("/users/@me/channels", {"recipient_id": str(other.id)})
    return f"/channels/{reply.json['id']}/messages"


async def say(caller: Caller, url: str, content: str = "x", **values: Any) -> dict[str, Any]:
    """A message sent."""
    reply = await caller.post(url, {"content": content, **values})
    assert reply.status == 200, reply.json
    sent: dict[str, Any] = reply.json
    return sent
