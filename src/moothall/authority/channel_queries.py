"""Queries of channels that access decisions and several rooms use."""

from collections.abc import Collection
from typing import Final

from msgspec import structs

from moothall.objects.channel import Channel
from moothall.objects.channel_types import THREADS, type_numbers
from moothall.objects.ids import ChannelId, Snowflake, UserId
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import ChannelRow, thread_from_row
from moothall.storage.sql import bindparam, null, select
from moothall.storage.tables import channel_recipients, channels, thread_members

_select_channel = Query(
    lambda: select(channels).where(channels.c.id == bindparam("channel_id")), into=ChannelRow, key=("channel_id",)
)
_COUNTS: Final = ("message_count", "total_message_sent", "latest_message_id")
"""What every message in a thread changes."""
_select_thread = Query(
    lambda: select(
        *(null().label(name) if name in _COUNTS else channels.c[name] for name in ChannelRow.__struct_fields__)
    ).where(channels.c.id == bindparam("channel_id"), channels.c.type.in_(type_numbers(THREADS))),
    into=ChannelRow,
    then=thread_from_row,
    key=("channel_id",),
)
_select_message_counts = Query(
    lambda: select(channels.c.message_count, channels.c.total_message_sent).where(
        channels.c.id == bindparam("channel_id")
    )
)
_select_channels = Query(lambda: select(channels).where(in_list(channels.c.id, "channel_ids")), into=ChannelRow)
_select_consents = Query(
    lambda: select(channel_recipients.c.user_id, channel_recipients.c.consent).where(
        channel_recipients.c.channel_id == bindparam("channel_id")
    )
)
_select_thread_member_ids = Query(
    lambda: select(thread_members.c.user_id).where(thread_members.c.thread_id == bindparam("thread_id"))
)


async def select_channel(reader: Reader, channel_id: ChannelId) -> ChannelRow | None:
    """Select the row of a channel, thread or direct message; None if there is none."""
    return await reader.one(_select_channel, channel_id=channel_id)


async def select_thread(tx: Reader, thread_id: ChannelId) -> Channel | None:
    """Select a thread in a transaction that caches rows: its counts alone are read each time. None if there is none."""
    thread = await tx.one(_select_thread, channel_id=thread_id)
    if thread is None:
        return None
    counts = await tx.one(_select_message_counts, channel_id=thread_id)
    if counts is None:
        return None
    return structs.replace(thread, message_count=counts[0] or 0, total_message_sent=counts[1] or 0)


async def select_channels(reader: Reader, channel_ids: Collection[int]) -> dict[ChannelId, ChannelRow]:
    """Select the rows of channels, threads and direct messages by id; unknown ids are left out."""
    if not channel_ids:
        return {}
    return {row.id: row for row in await reader.all(_select_channels, channel_ids=list(channel_ids))}


async def select_consents(reader: Reader, channel_id: ChannelId) -> list[tuple[UserId, int]]:
    """Select the ids of the recipients of a direct message, each with their `ConsentStatus`, in no order."""
    return [(UserId(Snowflake(row[0])), row[1]) for row in await reader.all(_select_consents, channel_id=channel_id)]


async def select_thread_member_ids(reader: Reader, thread_id: ChannelId) -> list[UserId]:
    """Select the ids of the members of a thread, in no order."""
    return [UserId(Snowflake(row[0])) for row in await reader.all(_select_thread_member_ids, thread_id=thread_id)]
