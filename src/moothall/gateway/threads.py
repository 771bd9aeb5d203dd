"""Threads that someone can reach, as GUILD_CREATE and THREAD_LIST_SYNC list them."""

from msgspec import UNSET, Struct, structs

from moothall.gateway.guild_view import GuildView, MemberView
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.channel.thread_activity.queries import select_active_threads
from moothall.storage.database import Reader
from moothall.storage.rows import ThreadRow, thread_from_row


class _ThreadListSync(Struct):
    guild_id: GuildId
    channel_ids: list[ChannelId]
    threads: list[Channel]
    members: list[ThreadMember]


async def active_threads(
    reader: Reader, view: GuildView, member: MemberView, parent_ids: frozenset[int]
) -> list[Channel]:
    """The active threads of channels that a member can reach, with their own membership.

    A private one is reached by its members and by those who manage threads in its channel.
    """
    active = await select_active_threads(reader, parent_ids)
    if not active:
        return []
    joined = await select_own_memberships(reader, UserId(Snowflake(member.user_id)), [row.id for row in active])
    reached = [row for row in active if row.id in joined or not _is_closed(view, member, row)]
    return [
        structs.replace(channel, member=structs.replace(joined[channel.id], id=UNSET, user_id=UNSET))
        if channel.id in joined
        else channel
        for channel in await channel_objects(reader, [thread_from_row(row) for row in reached])
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


def _is_closed(view: GuildView, member: MemberView, row: ThreadRow) -> bool:
    return row.type == ChannelType.PRIVATE_THREAD and int(row.parent_id or 0) not in view.managed(member)
