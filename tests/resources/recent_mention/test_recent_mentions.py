"""The messages of the last week that mention a user."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from moothall.objects.ids import snowflake_at
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import message_mentions, messages
from tests.support.harness import Caller, Guild, Platform

PATH = "/users/@me/mentions"
DAY_MS = 86_400_000


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


async def says(caller: Caller, channel_id: int, content: str, **more: Any) -> str:
    reply = await caller.post(f"/channels/{channel_id}/messages", {"content": content, **more})
    assert reply.status == 200
    return str(reply.json["id"])


async def mentions_of(caller: Caller, **query: Any) -> list[str]:
    reply = await caller.get(PATH, **query)
    assert reply.status == 200
    return [message["id"] for message in reply.json]


async def next_millisecond() -> None:
    """Wait until what is said is later than a membership that began just now."""
    await asyncio.sleep(0.002)


async def test_they_are_those_of_the_user_their_roles_and_everyone(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    role = await guild.role(name="Bakers")
    await guild.join(bob, roles=[role])
    await says(guild.owner, guild.general, "nothing")
    own = await says(guild.owner, guild.general, f"<@{bob.id}>")
    by_role = await says(guild.owner, guild.general, f"<@&{role}>")
    everyone = await says(guild.owner, guild.general, "@everyone")
    await says(bob, guild.general, f"<@{bob.id}> to myself")
    assert await mentions_of(bob) == [everyone, by_role, own]
    assert await mentions_of(bob, roles=False) == [everyone, own]
    assert await mentions_of(bob, everyone=False) == [by_role, own]
    assert await mentions_of(bob, limit=1, before=everyone) == [by_role]
    message = (await bob.get(PATH, roles=False, everyone=False)).json[0]
    assert (message["content"], message["author"]["id"]) == (f"<@{bob.id}>", str(guild.owner.id))
    assert [user["id"] for user in message["mentions"]] == [str(bob.id)]
    await guild.owner.delete(f"/channels/{guild.general}/messages/{own}")
    assert own not in await mentions_of(bob)


async def test_they_can_be_those_of_one_guild_and_include_direct_messages(platform: Platform, guild: Guild) -> None:
    other = await platform.guild(guild.owner)
    bob = await platform.person("bob")
    for each in (guild, other):
        await each.join(bob)
    here = await says(guild.owner, guild.general, f"<@{bob.id}>")
    there = await says(guild.owner, other.general, f"<@{bob.id}>")
    direct = (await bob.post("/users/@me/channels", {"recipient_id": str(guild.owner.id)})).json["id"]
    privately = await says(guild.owner, direct, f"<@{bob.id}>")
    assert await mentions_of(bob) == [privately, there, here]
    assert await mentions_of(bob, guild_id=guild.id) == [here]


async def test_what_the_user_may_not_read_is_left_out(platform: Platform, guild: Guild) -> None:
    bob, stranger = await platform.person("bob"), await platform.person("stranger")
    await guild.join(bob)
    for hidden in (Permissions.VIEW_CHANNEL, Permissions.READ_MESSAGE_HISTORY):
        channel = await guild.channel()
        await says(guild.owner, channel, f"<@{bob.id}> @everyone")
        assert len(await mentions_of(bob)) == 1
        await guild.owner.put(f"/channels/{channel}/permissions/{guild.id}", {"type": 0, "deny": str(int(hidden))})
        assert await mentions_of(bob) == []
    await says(guild.owner, guild.general, f"<@{bob.id}>")
    await bob.put(f"/users/@me/relationships/{guild.owner.id}", {"type": 2})
    assert await mentions_of(bob) == []
    await bob.delete(f"/users/@me/relationships/{guild.owner.id}")
    assert len(await mentions_of(bob)) == 1
    await bob.delete(f"/users/@me/guilds/{guild.id}")
    assert await mentions_of(bob) == []
    assert await mentions_of(stranger) == []


async def test_a_removed_one_stays_away(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    await next_millisecond()
    kept, removed = [await says(guild.owner, guild.general, f"<@{bob.id}>") for _ in range(2)]
    with platform.listening() as heard:
        assert (await bob.delete(f"{PATH}/{removed}")).status == 204
        assert (await bob.delete(f"{PATH}/{removed}")).status == 204
    assert heard == ["RECENT_MENTION_DELETE"]
    assert platform.heard_data("RECENT_MENTION_DELETE") == [{"message_id": removed}]
    assert await mentions_of(bob) == [kept]


async def test_those_of_more_than_a_week_ago_are_left_out(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    message = await says(guild.owner, guild.general, f"<@{bob.id}>")
    old = snowflake_at(Timestamp(Timestamp.now() - 7 * DAY_MS - 1000))
    async with platform.database.transaction() as tx:
        for table, column in ((message_mentions, "message_id"), (messages, "id")):
            query = Query(update(table).where(table.c[column] == bindparam("found")).values({column: bindparam("old")}))
            await tx.execute(query, found=int(message), old=int(old))
    assert await mentions_of(bob) == []
