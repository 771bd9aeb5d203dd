"""Threads that someone can reach, as GUILD_CREATE and THREAD_LIST_SYNC list them."""

from msgspec import UNSET, Struct, structs
from sqlalchemy import bindparam, select

from moothall.gateway.guild_view import GuildView, MemberView
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.objects import channel_objects
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.rows import ChannelRow, channel_from_row
from moothall.storage.schema import channels, thread_members

_MANAGE_THREADS = int(Permissions.MANAGE_THREADS)

_select_threads = Query(
    select(channels).where(
        in_list(channels.c.parent_id, "parent_ids"), channels.c.type.in_(tuple(int(kind) for kind in THREADS))
    ),
    into=ChannelRow,
)


class _Joined(Struct):
    thread_id: ChannelId
    join_timestamp: Timestamp
    flags: int


_select_joined = Query(
    select(thread_members.c.thread_id, thread_members.c.join_timestamp, thread_members.c.flags).where(
        thread_members.c.user_id == bindparam("user_id"), in_list(thread_members.c.thread_id, "thread_ids")
    ),
    into=_Joined,
)


class _ThreadListSync(Struct):
    guild_id: GuildId
    channel_ids: list[ChannelId]
    threads: list[Channel]
    members: list[ThreadMember]


async def select_active(reader: Reader, parent_ids: frozenset[int]) -> list[ChannelRow]:
    """The threads of some channels that are not archived."""
    if not parent_ids:
        return []
    rows = await reader.all(_select_threads, parent_ids=[ChannelId(Snowflake(p)) for p in parent_ids])
    return [row for row in rows if row.thread_metadata is not None and not row.thread_metadata.get("archived")]


async def active_threads(
    reader: Reader, view: GuildView, member: MemberView, parent_ids: frozenset[int]
) -> list[Channel]:
    """The active threads of channels that a member can reach, with their own membership.

    A private one is reached by its members and by those who manage threads in its channel.
    """
    active = await select_active(reader, parent_ids)
    if not active:
        return []
    joined = {
        row.thread_id: row
        for row in await reader.all(
            _select_joined, user_id=UserId(Snowflake(member.user_id)), thread_ids=[row.id for row in active]
        )
    }
    reached = [row for row in active if row.id in joined or not _is_closed(view, member, row)]
    return [
        structs.replace(channel, member=_own(joined[channel.id])) if channel.id in joined else channel
        for channel in await channel_objects(reader, [channel_from_row(row) for row in reached])
    ]


def thread_list_sync(guild_id: int, parent_ids: frozenset[int], threads: list[Channel], user_id: int) -> bytes:
    """The `d` of THREAD_LIST_SYNC."""
    return encode(
        _ThreadListSync(
            guild_id=GuildId(Snowflake(guild_id)),
            channel_ids=[ChannelId(Snowflake(p)) for p in sorted(parent_ids)],
            threads=threads,
            members=[
                structs.replace(thread.member, id=thread.id, user_id=UserId(Snowflake(user_id)))
                for thread in threads
                if thread.member is not UNSET
            ],
        )
    )


def _is_closed(view: GuildView, member: MemberView, row: ChannelRow) -> bool:
    if row.type != ChannelType.PRIVATE_THREAD:
        return False
    parent = view.channels.get(int(row.parent_id or 0))
    return parent is None or not view.permissions_in(member, parent) & _MANAGE_THREADS


def _own(row: _Joined) -> ThreadMember:
    return ThreadMember(join_timestamp=row.join_timestamp, flags=row.flags)
