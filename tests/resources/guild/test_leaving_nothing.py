"""Whatever table names a deleted guild or channel, now or after the next revision, its rows go: the schema says so.

A row is made for every table that has a column of guild or channel ids, so that a table of tomorrow is in this, too.
"""

from collections.abc import Collection
from typing import Any, Final

import pytest
from sqlalchemy import Column, LargeBinary, Table, Text, func, insert, select
from sqlalchemy.sql.sqltypes import Boolean

from moothall.objects.ids import ChannelId, GuildId
from moothall.storage.columns import JsonColumn, SnowflakeColumn, TimestampColumn
from moothall.storage.database import Query
from moothall.storage.schema import channel_activity, metadata
from tests.harness import FORUM, TEXT, VOICE, Guild, Platform

_NOT_HERE: Final = {"dm_pairs", "message_changes"}
"""Of direct messages; and what the index of messages works off, which follows behind."""
_ONLY_VOICE: Final = {"scheduled_events", "stage_instances", "voice_states"}
_MADE_BY_GUILDS: Final = {"guilds", "guild_counters", "channels", "members"}
"""What a guild has anyway."""

_OF_OTHERS: Final = {
    ("webhooks", "source_guild_id"): "a follower's webhook is of the channel that follows",
    ("webhooks", "source_channel_id"): "the same",
    ("crossposts", "copy_channel_id"): "the source's row, which is dropped when the source changes or goes",
    ("guilds", "afk_channel_id"): "the guild's own row names channels of its own",
    ("guilds", "widget_channel_id"): "the same",
    ("guilds", "system_channel_id"): "the same",
    ("guilds", "rules_channel_id"): "the same",
    ("guilds", "public_updates_channel_id"): "the same",
    ("guilds", "safety_alerts_channel_id"): "the same",
    ("members", "guest_channel_id"): "a guest goes with the channel, as a member with all that belongs to one",
    ("interactions", "guild_id"): "forgotten a quarter of an hour after it was raised",
    ("interactions", "channel_id"): "the same",
    ("interactions", "source_room_id"): "the same",
    ("interactions", "response_room_id"): "the same",
    ("ephemeral_messages", "channel_id"): "goes with its interaction",
    ("authorization_codes", "guild_id"): "forgotten when the code ends",
}
"""Columns that may name what is gone, and why."""


def _names(table: Table, kind: Any) -> list[str]:
    return [
        column.name
        for column in table.columns
        if table.name not in _NOT_HERE
        and isinstance(column.type, SnowflakeColumn)
        and column.type.kind is kind
        and (table.name, column.name) not in _OF_OTHERS
    ]


def _value(column: Column[Any], number: int) -> Any:
    if isinstance(column.type, JsonColumn):
        return [] if str(column.type.kind).startswith("list") else {}
    if isinstance(column.type, TimestampColumn):
        return 1_700_000_000_000
    if isinstance(column.type, LargeBinary):
        return b"{}"
    if isinstance(column.type, Boolean):
        return False
    return str(number) if isinstance(column.type, Text) else number


async def _fill(platform: Platform, guild_id: int, channel_id: int, *, but: Collection[str] = ()) -> set[str]:
    """A row that names both in every table that can; the tables."""
    filled = set[str]()
    async with platform.database.transaction() as tx:
        for table in metadata.sorted_tables:
            of_guild, of_channel = _names(table, GuildId), _names(table, ChannelId)
            if table.name in {*_MADE_BY_GUILDS, *but} or (not of_guild and not of_channel):
                continue
            row = {
                column.name: _value(column, platform.ids.next())
                for column in table.columns
                if not column.nullable and column.default is None
            }
            row |= dict.fromkeys(of_guild, guild_id) | dict.fromkeys(of_channel, channel_id)
            await tx.execute(Query(insert(table)), **row)
            filled.add(table.name)
    return filled


async def _naming(platform: Platform, kind: Any, wanted: int) -> dict[str, int]:
    """How many rows name an id, by table and column."""
    found = {}
    async with platform.database.read() as reader:
        for table in metadata.sorted_tables:
            for name in _names(table, kind):
                query = Query(select(func.count()).select_from(table).where(table.c[name] == wanted))
                if count := await reader.scalar(query):
                    found[f"{table.name}.{name}"] = int(count)
    return found


async def _guilds(platform: Platform) -> tuple[Guild, Guild]:
    owner = await platform.person()
    return await platform.guild(owner), await platform.guild(owner)


async def test_a_deleted_guild_is_named_by_no_row_of_any_table(platform: Platform) -> None:
    doomed, other = await _guilds(platform)
    thread = await doomed.channel(type=11, parent_id=doomed.general, thread_metadata={})
    assert await _fill(platform, doomed.id, doomed.general) >= {"messages", "polls", "attachments", "bans", "webhooks"}
    await _fill(platform, other.id, other.general)
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(channel_activity)), channel_id=thread, last_message_id=thread)
    before = await _naming(platform, GuildId, other.id), await _naming(platform, ChannelId, other.general)
    assert (await doomed.owner.delete(f"/guilds/{doomed.id}")).status == 204
    await platform.settle()
    assert await _naming(platform, GuildId, doomed.id) == {}
    assert await _naming(platform, ChannelId, doomed.general) == await _naming(platform, ChannelId, thread) == {}
    assert before == (await _naming(platform, GuildId, other.id), await _naming(platform, ChannelId, other.general))


@pytest.mark.parametrize("kind", [TEXT, VOICE, FORUM])
async def test_a_deleted_channel_is_named_by_no_row_of_any_table(platform: Platform, kind: int) -> None:
    doomed, other = await _guilds(platform)
    channel = await doomed.channel(type=kind)
    await _fill(platform, doomed.id, channel, but=() if kind == VOICE else _ONLY_VOICE)
    await _fill(platform, other.id, other.general)
    before = await _naming(platform, GuildId, other.id), await _naming(platform, ChannelId, other.general)
    assert (await doomed.owner.delete(f"/channels/{channel}")).status == 200
    await platform.settle()
    assert await _naming(platform, ChannelId, channel) == {}
    assert before == (await _naming(platform, GuildId, other.id), await _naming(platform, ChannelId, other.general))
