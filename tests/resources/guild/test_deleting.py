"""Deleting a guild (the public Delete Guild), and the job that deletes its remaining rows."""

from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.guild import queries
from moothall.resources.message.queries.purge import MAX_AT_ONCE, delete_some_of_channel
from moothall.storage.database import Query
from moothall.storage.schema import (
    bans,
    channel_activity,
    invites,
    jobs,
    messages,
    metadata,
    onboardings,
    pins,
    reactions,
    screening_forms,
    thread_members,
    voice_states,
    webhooks,
)
from tests.support.harness import Caller, Guild, Platform

NOW = Timestamp.now()


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def fill(platform: Platform, channel_id: ChannelId, count: int) -> None:
    """Insert messages with reactions, one of them pinned, into a channel."""
    ids = [int(platform.ids.next()) for _ in range(count)]
    author = Snowflake(5)
    async with platform.database.transaction() as tx:
        await tx.execute_many(
            Query(insert(messages)),
            [{"channel_id": channel_id, "id": i, "author_id": author, "body": b"{}"} for i in ids],
        )
        await tx.execute_many(
            Query(insert(reactions)),
            [
                {"channel_id": channel_id, "message_id": i, "emoji": "x", "user_id": u, "reacted_at": NOW}
                for i in ids[:300]
                for u in (1, 2, 3)
            ],
        )
        await tx.execute(Query(insert(pins)), channel_id=channel_id, message_id=ids[0], pinned_at=NOW)


_OTHER_TABLES = {"users", "tokens", "applications", "jobs", "meta", "message_changes", "commit_marks"}
"""Not of a guild. A message that goes adds to the changes, which the search index takes from there.

PostgreSQL's connections mark their commits.
"""


async def count_rows(platform: Platform) -> dict[str, int]:
    """The number of rows of each table that is not empty, except those of accounts, jobs and the index's queue."""
    counts = {}
    async with platform.database.read() as reader:
        for table in metadata.sorted_tables:
            count = await reader.scalar(Query(select(func.count()).select_from(table)))
            if count and table.name not in _OTHER_TABLES:
                counts[table.name] = count
    return counts


async def count_jobs(platform: Platform) -> int:
    """The number of enqueued jobs."""
    async with platform.database.read() as reader:
        return int(await reader.scalar(Query(select(func.count()).select_from(jobs))))


async def furnish(platform: Platform, guild: Guild) -> None:
    """Insert a row of each kind for a guild."""
    thread = await guild.channel(type=11, parent_id=guild.general, thread_metadata={})
    await guild.role()
    bob = await platform.person()
    await guild.join(bob)
    rows: list[tuple[Any, dict[str, Any]]] = [
        (thread_members, {"thread_id": thread, "user_id": bob.id, "join_timestamp": NOW}),
        (bans, {"guild_id": guild.id, "user_id": 7, "created_at": NOW}),
        (invites, {"code": str(guild.id), "guild_id": guild.id, "channel_id": guild.general, "created_at": NOW}),
        (channel_activity, {"channel_id": guild.general, "last_message_id": 5}),
        (webhooks, {"id": guild.id, "guild_id": guild.id, "channel_id": guild.general, "name": "hook"}),
        (voice_states, {"guild_id": guild.id, "user_id": bob.id, "channel_id": 9, "session_id": "s"}),
        (onboardings, {"guild_id": guild.id}),
        (screening_forms, {"guild_id": guild.id, "version": NOW}),
    ]
    async with platform.database.transaction() as tx:
        for table, values in rows:
            await tx.execute(Query(insert(table)), **values)
    await fill(platform, guild.general, 3)
    await fill(platform, thread, 3)
    # An entry of the audit log.
    assert (await guild.owner.patch(f"/guilds/{guild.id}", {"name": "The Hall"})).status == 200


async def test_a_deleted_guild_is_inaccessible_at_once(platform: Platform, owner: Caller, guild: Guild) -> None:
    await furnish(platform, guild)
    bob = await platform.person()
    await guild.join(bob)
    with platform.listening() as heard:
        assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    assert heard == ["GUILD_DELETE"]
    assert platform.heard_data("GUILD_DELETE") == [{"id": str(int(guild.id))}]
    for caller in (owner, bob):
        assert (await caller.get(f"/guilds/{guild.id}")).code == 10004
        assert (await caller.get(f"/channels/{guild.general}")).code == 10003
        assert (await caller.get("/users/@me/guilds")).json == []
    remaining = await count_rows(platform)
    assert not remaining.keys() & {"guilds", "invites", "webhooks", "voice_states", "members"}


async def test_no_row_of_a_deleted_guild_remains_and_other_guilds_lose_none(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await furnish(platform, guild)
    before = await count_rows(platform)
    assert before["messages"] == 6
    doomed = await platform.guild(owner)
    await furnish(platform, doomed)
    await fill(platform, doomed.general, 1300)
    assert (await owner.delete(f"/guilds/{doomed.id}")).status == 204
    await platform.run_due_jobs()
    assert await count_rows(platform) == before
    assert await count_jobs(platform) == 0
    assert (await owner.get(f"/guilds/{guild.id}")).status == 200


async def test_each_step_removes_some_hundred_rows_at_most(platform: Platform, guild: Guild) -> None:
    await fill(platform, guild.general, 1300)
    counts = []
    async with platform.database.transaction() as tx:
        await queries.delete_guild(tx, guild.id)
    more = True
    while more:
        counts.append(sum((await count_rows(platform)).values()))
        async with platform.database.transaction() as tx:
            more = await queries.delete_guild_batch(tx, guild.id)
    assert counts[-1] == 0
    assert all(before - after <= MAX_AT_ONCE for before, after in pairwise(counts))


async def test_members_of_a_large_guild_are_deleted_by_the_job(
    platform: Platform, owner: Caller, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_MEMBERS_DELETED_AT_ONCE", 1)
    bob = await platform.person()
    await guild.join(bob)
    assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    assert (await count_rows(platform))["members"] == 2
    assert (await bob.get("/users/@me/guilds")).json == []
    assert (await bob.get(f"/guilds/{guild.id}")).code == 10004
    await platform.run_due_jobs()
    assert await count_rows(platform) == {}


async def test_only_the_owner_deletes_a_guild(platform: Platform, guild: Guild) -> None:
    administrator = await guild.moderator()
    refused = await administrator.delete(f"/guilds/{guild.id}")
    assert (refused.status, refused.code) == (403, 50013)
    assert platform.heard_names == []
    assert await count_jobs(platform) == 0
    assert (await count_rows(platform))["members"] == 2


async def test_messages_of_one_channel_are_deleted_without_touching_another(platform: Platform, guild: Guild) -> None:
    other = await guild.channel()
    await fill(platform, guild.general, 600)
    await fill(platform, other, 2)
    more = True
    while more:
        async with platform.database.transaction() as tx:
            more = await delete_some_of_channel(tx, guild.general)
    remaining = await count_rows(platform)
    assert (remaining["messages"], remaining["reactions"], remaining["pins"]) == (2, 6, 1)
