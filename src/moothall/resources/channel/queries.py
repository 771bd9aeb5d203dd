"""The SQL of channels."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs
from sqlalchemy import bindparam, delete, insert, select, update

from moothall.objects.channel import ThreadMember
from moothall.objects.channel_types import THREADS
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, update_columns, upsert
from moothall.storage.rows import ChannelRow, MemberRow
from moothall.storage.schema import (
    channel_activity,
    channel_recipients,
    channels,
    dm_pairs,
    guilds,
    members,
    thread_members,
)

# Named rather than excluded: so an index leaves the threads aside, of which there may be many.
_THREAD_TYPES = tuple(map(int, THREADS))
_select_children = Query(
    select(channels)
    .where(channels.c.parent_id == bindparam("category_id"), channels.c.type.not_in(_THREAD_TYPES))
    .order_by(channels.c.id),
    into=ChannelRow,
)
_free_children = Query(
    update(channels)
    .where(channels.c.parent_id == bindparam("category_id"), channels.c.type.not_in(_THREAD_TYPES))
    .values(parent_id=None)
)


class Activity(Struct, frozen=True):
    """What changes with every message of a channel."""

    channel_id: ChannelId
    last_message_id: MessageId | None
    last_pin_timestamp: Timestamp | None


class Place(Struct, frozen=True):
    """Where a channel stands in its guild's list."""

    channel_id: ChannelId
    new_position: int
    new_parent_id: ChannelId | None
    new_overwrites: list[dict[str, Any]]


_insert_channel = Query(insert(channels))
_select_channel = Query(select(channels).where(channels.c.id == bindparam("channel_id")), into=ChannelRow)
_delete_channel = Query(delete(channels).where(channels.c.id == bindparam("channel_id")))
_update_place = Query(
    update(channels)
    .where(channels.c.id == bindparam("channel_id"))
    .values(
        position=bindparam("new_position"),
        parent_id=bindparam("new_parent_id"),
        permission_overwrites=bindparam("new_overwrites"),
    )
)
_select_activity = Query(
    select(channel_activity).where(in_list(channel_activity.c.channel_id, "channel_ids")), into=Activity
)
# Read here, as members stand on roles and those on channels.
_select_member = Query(
    select(members).where(members.c.guild_id == bindparam("guild_id"), members.c.user_id == bindparam("user_id")),
    into=MemberRow,
)
_select_own_memberships = Query(
    select(thread_members).where(
        in_list(thread_members.c.thread_id, "thread_ids"), thread_members.c.user_id == bindparam("user_id")
    )
)
_select_members_among = Query(
    select(members.c.user_id).where(members.c.guild_id == bindparam("guild_id"), in_list(members.c.user_id, "user_ids"))
)
# Two messages may be stored in another order than they got their ids.
_upsert_last_message = Query(upsert(channel_activity, key=("channel_id",), rising=("last_message_id",)))


def blank_row(
    channel_id: ChannelId, kind: int, *, guild_id: GuildId | None = None, name: str | None = None
) -> ChannelRow:
    """The row of a new channel with nothing set; change it with `structs.replace` before it is stored."""
    return ChannelRow(
        id=channel_id,
        guild_id=guild_id,
        type=int(kind),
        parent_id=None,
        position=0,
        name=name,
        topic=None,
        nsfw=False,
        bitrate=None,
        user_limit=None,
        rate_limit_per_user=0,
        rtc_region=None,
        video_quality_mode=None,
        default_auto_archive_duration=None,
        default_thread_rate_limit_per_user=None,
        default_sort_order=None,
        default_forum_layout=None,
        default_reaction_emoji=None,
        available_tags=[],
        flags=0,
        permission_overwrites=[],
        icon=None,
        owner_id=None,
        application_id=None,
        thread_metadata=None,
        archived=False,
        applied_tags=[],
        member_count=None,
        message_count=None,
        total_message_sent=None,
    )


async def insert_channel(tx: Transaction, row: ChannelRow) -> None:
    """Store a new channel, thread or direct message."""
    await tx.execute(_insert_channel, **structs.asdict(row))


async def insert_channels(tx: Transaction, rows: Iterable[ChannelRow]) -> None:
    """Store several new channels."""
    await tx.execute_many(_insert_channel, [structs.asdict(row) for row in rows])


async def select_channel(reader: Reader, channel_id: ChannelId) -> ChannelRow | None:
    """One channel's row, a thread's or direct message's too; None if there is none."""
    return await reader.one(_select_channel, channel_id=channel_id)


async def update_channel(tx: Transaction, channel_id: ChannelId, **columns: Any) -> None:
    """Set columns of one channel."""
    await tx.execute(update_columns(channels, key=("id",), columns=frozenset(columns)), id=channel_id, **columns)


async def update_places(tx: Transaction, accesses: Iterable[Place]) -> None:
    """Write where several channels stand."""
    await tx.execute_many(_update_place, [structs.asdict(access) for access in accesses])


async def delete_channel(tx: Transaction, channel_id: ChannelId) -> None:
    """Remove a channel's row."""
    await tx.execute(_delete_channel, channel_id=channel_id)


async def select_member(reader: Reader, guild_id: GuildId, user_id: UserId) -> MemberRow | None:
    """One member's row; None for an outsider."""
    return await reader.one(_select_member, guild_id=guild_id, user_id=user_id)


async def members_among(reader: Reader, guild_id: GuildId, user_ids: Iterable[Snowflake]) -> set[int]:
    """Which of some ids are members of a guild."""
    wanted = list(user_ids)
    if not wanted:
        return set()
    return {row[0] for row in await reader.all(_select_members_among, guild_id=guild_id, user_ids=wanted)}


async def select_own_memberships(
    reader: Reader, user_id: UserId, thread_ids: Iterable[ChannelId]
) -> dict[ChannelId, ThreadMember]:
    """Someone's own membership of those of some threads that they are in."""
    wanted = list(thread_ids)
    if not wanted:
        return {}
    rows = await reader.all(_select_own_memberships, user_id=user_id, thread_ids=wanted)
    return {
        ChannelId(Snowflake(thread_id)): ThreadMember(
            id=ChannelId(Snowflake(thread_id)), user_id=user_id, join_timestamp=Timestamp(joined), flags=flags
        )
        for thread_id, _, joined, flags in rows
    }


async def last_messages(reader: Reader, channel_ids: Iterable[ChannelId]) -> dict[ChannelId, Activity]:
    """The activity of channels, in one query; those in which nothing was ever said are left out."""
    wanted = list(channel_ids)
    if not wanted:
        return {}
    return {found.channel_id: found for found in await reader.all(_select_activity, channel_ids=wanted)}


async def set_last_message(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> None:
    """Remember the newest message of a channel."""
    await tx.execute(_upsert_last_message, channel_id=channel_id, last_message_id=message_id)


class Recipient(Struct, frozen=True):
    """Someone in a direct message."""

    channel_id: ChannelId
    user_id: UserId
    closed: bool
    """Whether it is hidden from their list until the next message."""
    nick: str | None = None
    """What they are called in a group."""


class _Incidents(Struct):
    incidents_data: dict[str, Any] | None


_select_recipients = Query(
    select(channel_recipients).where(in_list(channel_recipients.c.channel_id, "channel_ids")), into=Recipient
)
_select_direct_channels = Query(
    select(channels)
    .select_from(channels.join(channel_recipients, channel_recipients.c.channel_id == channels.c.id))
    .where(channel_recipients.c.user_id == bindparam("user_id"), ~channel_recipients.c.closed),
    into=ChannelRow,
)
_theirs = members.alias()
_select_shared_incidents = Query(
    select(guilds.c.incidents_data)
    .select_from(
        members.join(_theirs, _theirs.c.guild_id == members.c.guild_id).join(guilds, guilds.c.id == members.c.guild_id)
    )
    .where(members.c.user_id == bindparam("one_id"), _theirs.c.user_id == bindparam("other_id")),
    into=_Incidents,
)
_select_pair = Query(
    select(dm_pairs.c.channel_id).where(
        dm_pairs.c.low_user_id == bindparam("low_user_id"), dm_pairs.c.high_user_id == bindparam("high_user_id")
    )
)
_insert_pair = Query(insert_ignore(dm_pairs, key=("low_user_id", "high_user_id")))
_insert_recipient = Query(insert(channel_recipients))
_set_closed = Query(
    update(channel_recipients)
    .where(
        channel_recipients.c.channel_id == bindparam("channel_id"), in_list(channel_recipients.c.user_id, "user_ids")
    )
    .values(closed=bindparam("now_closed"))
)


async def select_recipients(reader: Reader, channel_ids: Iterable[ChannelId]) -> list[Recipient]:
    """Everybody in some direct messages."""
    return await reader.all(_select_recipients, channel_ids=list(channel_ids))


async def shared_incidents(reader: Reader, one: UserId, other: UserId) -> list[dict[str, Any] | None]:
    """The incidents data of every guild that two users are both in."""
    return [row.incidents_data for row in await reader.all(_select_shared_incidents, one_id=one, other_id=other)]


async def select_direct_channels(reader: Reader, user_id: UserId) -> list[ChannelRow]:
    """The direct messages in a person's list, in no order."""
    return await reader.all(_select_direct_channels, user_id=user_id)


async def select_pair(reader: Reader, one: UserId, other: UserId) -> ChannelId | None:
    """The direct message between two users, if they ever had one."""
    low, high = sorted((one, other))
    found: ChannelId | None = await reader.scalar(_select_pair, low_user_id=low, high_user_id=high)
    return found


async def insert_pair(tx: Transaction, one: UserId, other: UserId, channel_id: ChannelId) -> bool:
    """Make a channel the direct message between two users; False if they have one already."""
    low, high = sorted((one, other))
    return bool(await tx.execute(_insert_pair, low_user_id=low, high_user_id=high, channel_id=channel_id))


async def insert_recipients(tx: Transaction, recipients: Iterable[Recipient]) -> None:
    """Put people into a direct message."""
    await tx.execute_many(_insert_recipient, [structs.asdict(recipient) for recipient in recipients])


async def set_closed(tx: Transaction, channel_id: ChannelId, user_ids: Sequence[UserId], *, closed: bool) -> None:
    """Hide a direct message from lists, or show it there again."""
    await tx.execute(_set_closed, channel_id=channel_id, user_ids=list(user_ids), now_closed=closed)


async def free_children(tx: Transaction, category_id: ChannelId) -> list[ChannelRow]:
    """Take every channel out of a category; their rows as they are then."""
    rows = await tx.all(_select_children, category_id=category_id)
    if rows:
        await tx.execute(_free_children, category_id=category_id)
    for row in rows:
        row.parent_id = None
    return rows
