"""No row of any table refers to a deleted guild or channel.

The tables are read from the schema, and a row is inserted into each one with a column for guild or channel ids, so that
a new table is covered without a change here.
"""

from collections.abc import Collection
from typing import Any, Final

import pytest
from sqlalchemy import Column, LargeBinary, Table, Text, func, insert, select
from sqlalchemy.sql.sqltypes import Boolean

from moothall.objects.auto_moderation import EventType, TriggerType
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.scheduled_event import EntityType
from moothall.storage.columns import JsonColumn, SnowflakeColumn, TimestampColumn
from moothall.storage.database import Query
from moothall.storage.schema import channel_activity, metadata
from tests.support.harness import FORUM, TEXT, VOICE, Guild, Platform

_NOT_HERE: Final = {"call_voice_states", "dm_pairs", "message_changes"} | {
    name for name in metadata.tables if name.startswith("deleted_")
}
"""Tables of direct messages, the queue of the message index, which is processed later, and those of guilds that can be
restored (test_guild_deletion.py).
"""
_ONLY_VOICE: Final = {"scheduled_events", "stage_instances", "voice_states"}
_MADE_BY_GUILDS: Final = {"guilds", "guild_counters", "channels", "members"}
"""Tables with rows of every guild."""

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
    ("pending_uploads", "channel_id"): "deleted with its file a day after it was created, and of no use until then",
    ("activity_instances", "guild_id"): "ends when its participants, who lost the channel, have left",
    ("activity_instances", "channel_id"): "the same",
    ("reports", "guild_id"): "evidence is kept until its time is over, whatever becomes of what was reported",
    ("reports", "channel_id"): "the same",
    ("retained_messages", "guild_id"): "a copy under a legal hold, which goes when the hold is released",
    ("retained_messages", "channel_id"): "the same",
    ("retained_files", "channel_id"): "the same",
    ("attachments", "guild_id"): "a file goes with its channel",
    ("saved_messages", "channel_id"): "of the user, who sees that the message is gone, and removes it",
    ("preview_requests", "channel_id"): "a queue: requests of messages that are gone are dropped when they are read",
    ("authorization_codes", "guild_id"): "forgotten when the code ends",
}
"""Columns that may refer to a deleted object, and why."""


_OF_KIND: dict[str, dict[str, int]] = {
    "auto_moderation_rules": {"trigger_type": TriggerType.KEYWORD, "event_type": EventType.MESSAGE_SEND},
    "scheduled_events": {"entity_type": EntityType.VOICE},
}
"""Columns that only some numbers are a value of, by table: what is deleted is announced as clients read it."""


def _id_columns(table: Table, kind: Any) -> list[str]:
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
    """Insert a row with both ids into every table with a column for one; returns the names of these tables."""
    filled = set[str]()
    async with platform.database.transaction() as tx:
        for table in metadata.sorted_tables:
            of_guild, of_channel = _id_columns(table, GuildId), _id_columns(table, ChannelId)
            if table.name in {*_MADE_BY_GUILDS, *but} or (not of_guild and not of_channel):
                continue
            row = {
                column.name: _value(column, platform.ids.next())
                for column in table.columns
                if not column.nullable and column.default is None
            }
            row |= _OF_KIND.get(table.name, {})
            row |= dict.fromkeys(of_guild, guild_id) | dict.fromkeys(of_channel, channel_id)
            await tx.execute(Query(insert(table)), **row)
            filled.add(table.name)
    return filled


async def _references(platform: Platform, kind: Any, object_id: int) -> dict[str, int]:
    """The number of rows that contain an id, by table and column."""
    counts = {}
    async with platform.database.read() as reader:
        for table in metadata.sorted_tables:
            for name in _id_columns(table, kind):
                query = Query(select(func.count()).select_from(table).where(table.c[name] == object_id))
                if count := await reader.scalar(query):
                    counts[f"{table.name}.{name}"] = int(count)
    return counts


async def _guilds(platform: Platform) -> tuple[Guild, Guild]:
    owner = await platform.person()
    return await platform.guild(owner), await platform.guild(owner)


async def test_no_row_of_any_table_refers_to_a_deleted_guild(platform: Platform) -> None:
    doomed, other = await _guilds(platform)
    thread = await doomed.channel(type=11, parent_id=doomed.general, thread_metadata={})
    assert await _fill(platform, doomed.id, doomed.general) >= {"messages", "polls", "attachments", "bans", "webhooks"}
    await _fill(platform, other.id, other.general)
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(channel_activity)), channel_id=thread, last_message_id=thread)
    before = (
        await _references(platform, GuildId, other.id),
        await _references(platform, ChannelId, other.general),
    )
    assert (await doomed.owner.delete(f"/guilds/{doomed.id}")).status == 204
    await platform.run_due_jobs()
    assert await _references(platform, GuildId, doomed.id) == {}
    assert (
        await _references(platform, ChannelId, doomed.general) == await _references(platform, ChannelId, thread) == {}
    )
    assert before == (
        await _references(platform, GuildId, other.id),
        await _references(platform, ChannelId, other.general),
    )


@pytest.mark.parametrize("kind", [TEXT, VOICE, FORUM])
async def test_no_row_of_any_table_refers_to_a_deleted_channel(platform: Platform, kind: int) -> None:
    doomed, other = await _guilds(platform)
    channel = await doomed.channel(type=kind)
    await _fill(platform, doomed.id, channel, but=() if kind == VOICE else _ONLY_VOICE)
    await _fill(platform, other.id, other.general)
    before = (
        await _references(platform, GuildId, other.id),
        await _references(platform, ChannelId, other.general),
    )
    assert (await doomed.owner.delete(f"/channels/{channel}")).status == 200
    await platform.run_due_jobs()
    assert await _references(platform, ChannelId, channel) == {}
    assert before == (
        await _references(platform, GuildId, other.id),
        await _references(platform, ChannelId, other.general),
    )
