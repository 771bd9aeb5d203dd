"""The list of a guild's active threads (api.md, Channels and threads of a guild)."""

from typing import Any

from sqlalchemy import insert

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import thread_members
from tests.support.harness import Caller, Guild, Platform

PUBLIC, PRIVATE, ANNOUNCED = 11, 12, 10
METADATA = {
    "archived": False,
    "auto_archive_duration": 1440,
    "archive_timestamp": "2026-01-01T00:00:00.000000+00:00",
    "locked": False,
    "create_timestamp": "2026-01-01T00:00:00.000000+00:00",
}
_insert_thread_member = Query(insert(thread_members))


async def thread(guild: Guild, kind: int, parent: int | None = None, **metadata: Any) -> str:
    made = await guild.channel(
        type=kind,
        name="thread",
        parent_id=guild.general if parent is None else parent,
        owner_id=guild.owner.id,
        thread_metadata=METADATA | metadata,
    )
    return str(made)


async def add(platform: Platform, thread_id: str, caller: Caller, flags: int = 0) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_thread_member,
            thread_id=int(thread_id),
            user_id=caller.id,
            join_timestamp=Timestamp.now(),
            flags=flags,
        )


async def active(caller: Caller, guild: Guild) -> list[str]:
    reply = await caller.get(f"/guilds/{guild.id}/threads/active")
    assert reply.status == 200
    return [thread["id"] for thread in reply.json["threads"]]


async def test_active_threads_are_listed_newest_first_and_archived_ones_not(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await guild.member_with(0)
    first = await thread(guild, PUBLIC)
    await thread(guild, PUBLIC, archived=True)
    second = await thread(guild, ANNOUNCED)
    assert await active(bob, guild) == [second, first]


async def test_a_private_thread_is_listed_to_its_members_and_to_those_who_manage_threads(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob, eve = await guild.member_with(0), await guild.member_with(0)
    steward = await guild.member_with(Permissions.MANAGE_THREADS)
    closed = await thread(guild, PRIVATE)
    await add(platform, closed, bob)
    assert await active(bob, guild) == await active(steward, guild) == await active(guild.owner, guild) == [closed]
    assert await active(eve, guild) == []


async def test_a_thread_of_a_hidden_channel_is_not_listed_even_to_its_members(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await guild.member_with(0)
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    lost = await thread(guild, PUBLIC, hidden)
    await add(platform, lost, bob)
    reply = await bob.get(f"/guilds/{guild.id}/threads/active")
    assert (reply.json["threads"], reply.json["members"]) == ([], [])
    assert await active(guild.owner, guild) == [lost]


async def test_the_members_are_those_of_the_caller_in_threads_that_they_have_joined(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await guild.member_with(0)
    joined, other = await thread(guild, PUBLIC), await thread(guild, PUBLIC)
    await add(platform, joined, bob, flags=1)
    await add(platform, joined, guild.owner)
    await add(platform, other, guild.owner)
    members = (await bob.get(f"/guilds/{guild.id}/threads/active")).json["members"]
    assert [(m["id"], m["user_id"], m["flags"]) for m in members] == [(joined, str(bob.id), 1)]


async def test_threads_of_other_guilds_are_not_listed(platform: Platform) -> None:
    alice = await platform.person()
    guild, other = await platform.guild(alice), await platform.guild(alice)
    await thread(other, PUBLIC)
    assert await active(alice, guild) == []
