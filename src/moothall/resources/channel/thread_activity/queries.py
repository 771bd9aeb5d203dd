"""The SQL of active threads, thread members and message counts."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from moothall.objects.channel_types import THREADS, ChannelType, type_numbers
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.user_settings import MuteConfig
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.rows import ThreadRow
from moothall.storage.sql import bindparam, delete, false, func, select, update
from moothall.storage.tables import channel_activity, channels, thread_members

_THREAD_TYPES = type_numbers(THREADS)


class ThreadMemberRow(Struct):
    """A row of `thread_members`."""

    thread_id: ChannelId
    user_id: UserId
    join_timestamp: Timestamp
    flags: int
    muted: bool = False
    mute_config: MuteConfig | None = None


_of_thread = thread_members.c.thread_id == bindparam("thread_id")

_select_active_threads = Query(
    lambda: (
        select(*(channels.c[name] for name in ThreadRow.__struct_fields__))
        .where(
            in_list(channels.c.parent_id, "parent_ids"),
            channels.c.archived == false(),
            channels.c.type.in_(_THREAD_TYPES),
        )
        .order_by(channels.c.id.desc())
    ),
    into=ThreadRow,
)
_activity = channel_activity
_shown_columns = (
    *(channels.c[name] for name in ThreadRow.__struct_fields__),
    _activity.c.last_message_id,
    _activity.c.last_pin_timestamp,
)
_shown_threads = (
    select(*_shown_columns)
    .select_from(channels.outerjoin(_activity, _activity.c.channel_id == channels.c.id))
    .where(channels.c.type.in_(_THREAD_TYPES))
)
_select_shown_threads = Query(lambda: _shown_threads.where(in_list(channels.c.id, "thread_ids")))
_select_active_ids = Query(
    lambda: select(channels.c.id).where(
        channels.c.guild_id == bindparam("guild_id"),
        channels.c.archived == false(),
        channels.c.type.in_(_THREAD_TYPES),
    )
)
_select_shown_active = Query(
    lambda: _shown_threads.where(in_list(channels.c.id, "thread_ids"), channels.c.archived == false())
)
_select_parents = Query(
    lambda: select(channels.c.id, channels.c.guild_id, channels.c.parent_id, channels.c.type).where(
        in_list(channels.c.id, "channel_ids")
    )
)
_select_parents_of_private_threads = Query(
    lambda: (
        select(channels.c.parent_id)
        .where(
            in_list(channels.c.parent_id, "parent_ids"),
            channels.c.archived == false(),
            channels.c.type == int(ChannelType.PRIVATE_THREAD),
        )
        .distinct()
    )
)
_count_active_threads = Query(
    lambda: (
        select(func.count())
        .select_from(channels)
        .where(
            channels.c.guild_id == bindparam("guild_id"),
            channels.c.archived == false(),
            channels.c.type.in_(_THREAD_TYPES),
        )
    )
)
_select_members = Query(
    lambda: select(thread_members).where(_of_thread).order_by(thread_members.c.user_id), into=ThreadMemberRow
)
_select_members_among = Query(
    lambda: select(thread_members).where(_of_thread, in_list(thread_members.c.user_id, "user_ids")),
    into=ThreadMemberRow,
)
_select_member = Query(
    lambda: select(thread_members.c.user_id).where(_of_thread, thread_members.c.user_id == bindparam("user_id")),
    key=("thread_id", "user_id"),
)
_select_private_members = Query(
    lambda: (
        select(thread_members.c.thread_id, thread_members.c.user_id)
        .select_from(thread_members.join(channels, channels.c.id == thread_members.c.thread_id))
        .where(in_list(thread_members.c.thread_id, "thread_ids"), channels.c.type == int(ChannelType.PRIVATE_THREAD))
    )
)
_insert_member = Query(lambda: insert_ignore(thread_members, key=("thread_id", "user_id")))
_update_settings = Query(
    lambda: (
        update(thread_members)
        .where(_of_thread, thread_members.c.user_id == bindparam("user_id"))
        .values(
            flags=bindparam("new_flags"),
            muted=bindparam("new_muted"),
            mute_config=bindparam("new_mute_config", type_=thread_members.c.mute_config.type),
        )
    )
)
_delete_member = Query(
    lambda: delete(thread_members).where(_of_thread, thread_members.c.user_id == bindparam("user_id"))
)
_count_members = (
    select(func.count()).select_from(thread_members).where(thread_members.c.thread_id == channels.c.id)
).scalar_subquery()
_update_member_count = Query(
    lambda: update(channels).where(channels.c.id == bindparam("channel_id")).values(member_count=_count_members)
)
_select_member_count = Query(lambda: select(channels.c.member_count).where(channels.c.id == bindparam("channel_id")))
_count_message = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("channel_id"))
        .values(
            message_count=func.coalesce(channels.c.message_count, 0) + bindparam("more"),
            total_message_sent=func.coalesce(channels.c.total_message_sent, 0) + bindparam("more"),
            latest_message_id=bindparam("message_id"),
        )
    ),
    key=("channel_id",),
)
_uncount_messages = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("channel_id"))
        .values(message_count=channels.c.message_count - bindparam("fewer"))
    )
)
_select_last_message = Query(
    lambda: select(channel_activity.c.last_message_id).where(channel_activity.c.channel_id == bindparam("channel_id"))
)


async def select_active_threads(reader: Reader, parent_ids: Iterable[ChannelId]) -> list[ThreadRow]:
    """Select the active threads of several channels, newest first."""
    ids = list(parent_ids)
    return await reader.all_many(_select_active_threads, parent_ids=ids) if ids else []


ShownThread = tuple[Any, ...]
"""The columns of `ThreadRow` as the driver returns them, then `last_message_id` and `last_pin_timestamp`."""


async def select_shown_threads(reader: Reader, thread_ids: Iterable[int]) -> list[ShownThread]:
    """Select what shows several threads, unordered; ids of other channels are left out."""
    return await reader.all(_select_shown_threads, thread_ids=list(thread_ids))


async def select_active_ids(reader: Reader, guild_id: GuildId) -> list[int]:
    """Select the ids of the active threads of a guild, unordered."""
    return [row[0] for row in await reader.all(_select_active_ids, guild_id=guild_id)]


async def select_shown_active(reader: Reader, thread_ids: Iterable[int]) -> list[ShownThread]:
    """Select what shows the active ones among several threads, unordered."""
    return await reader.all(_select_shown_active, thread_ids=list(thread_ids))


async def select_parents(reader: Reader, channel_ids: Iterable[int]) -> list[tuple[int, int | None, int | None, int]]:
    """Select the guild, the parent and the type of several channels and threads; unknown ids are left out."""
    return [tuple(row) for row in await reader.all(_select_parents, channel_ids=list(channel_ids))]


async def select_parents_of_private_threads(reader: Reader, parent_ids: Iterable[ChannelId]) -> set[ChannelId]:
    """Select those of several channels that have active private threads."""
    ids = list(parent_ids)
    if not ids:
        return set()
    return {
        ChannelId(Snowflake(row[0])) for row in await reader.all(_select_parents_of_private_threads, parent_ids=ids)
    }


async def count_active_threads(reader: Reader, guild_id: GuildId) -> int:
    """Count the active threads of a guild."""
    return int(await reader.scalar(_count_active_threads, guild_id=guild_id))


async def select_members(reader: Reader, thread_id: ChannelId) -> list[ThreadMemberRow]:
    """Select the members of a thread, at most a thousand, by user id."""
    return await reader.all(_select_members, thread_id=thread_id)


async def select_members_among(
    reader: Reader, thread_id: ChannelId, user_ids: Iterable[UserId]
) -> dict[UserId, ThreadMemberRow]:
    """Select those of several users who are members of a thread, by user."""
    ids = list(user_ids)
    if not ids:
        return {}
    rows = await reader.all(_select_members_among, thread_id=thread_id, user_ids=ids)
    return {row.user_id: row for row in rows}


async def is_member(reader: Reader, thread_id: ChannelId, user_id: UserId) -> bool:
    """Whether a user is a member of a thread."""
    return await reader.one(_select_member, thread_id=thread_id, user_id=user_id) is not None


async def select_private_members(reader: Reader, thread_ids: Iterable[int]) -> dict[int, list[UserId]]:
    """Select the members of those of several threads that are private, by thread."""
    ids = [ChannelId(Snowflake(thread_id)) for thread_id in thread_ids]
    members: dict[int, list[UserId]] = {}
    for thread_id, user_id in await reader.all(_select_private_members, thread_ids=ids) if ids else ():
        members.setdefault(thread_id, []).append(UserId(Snowflake(user_id)))
    return members


async def insert_members(tx: Transaction, rows: Sequence[ThreadMemberRow]) -> None:
    """Insert thread members; existing members stay as they are."""
    await tx.execute_many(
        _insert_member, [{name: getattr(row, name) for name in ThreadMemberRow.__struct_fields__} for row in rows]
    )


async def update_settings(tx: Transaction, row: ThreadMemberRow) -> None:
    """Store the notification settings of a thread member."""
    await tx.execute(
        _update_settings,
        thread_id=row.thread_id,
        user_id=row.user_id,
        new_flags=row.flags,
        new_muted=row.muted,
        new_mute_config=row.mute_config,
    )


async def delete_member(tx: Transaction, thread_id: ChannelId, user_id: UserId) -> bool:
    """Delete a thread member; return False if there is none."""
    return await tx.execute(_delete_member, thread_id=thread_id, user_id=user_id) > 0


async def update_member_count(tx: Transaction, thread_id: ChannelId) -> int:
    """Set `member_count` of a thread to the number of its members, and return it."""
    await tx.execute(_update_member_count, channel_id=thread_id)
    return int(await tx.scalar(_select_member_count, channel_id=thread_id) or 0)


async def count_message(tx: Transaction, thread_id: ChannelId, message_id: MessageId, *, counts: bool) -> None:
    """Set the newest message of a thread and, if it `counts`, increment its message counts."""
    await tx.write(_count_message, channel_id=thread_id, message_id=message_id, more=int(counts))


async def uncount_messages(tx: Transaction, fewer: Iterable[tuple[ChannelId, int]]) -> None:
    """Subtract numbers of deleted messages, by thread, from `message_count`."""
    values: list[dict[str, object]] = [{"channel_id": thread_id, "fewer": count} for thread_id, count in fewer if count]
    if values:
        await tx.execute_many(_uncount_messages, values)


async def select_last_message(reader: Reader, thread_id: ChannelId) -> MessageId | None:
    """Select the id of the newest message of a thread, which may have been deleted."""
    message_id: MessageId | None = await reader.scalar(_select_last_message, channel_id=thread_id)
    return message_id
