"""Active threads that a member can reach, for GUILD_CREATE and THREAD_LIST_SYNC."""

from msgspec import UNSET, Struct, structs

from moothall.gateway.guild_view import GuildView, MemberView
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId, UserId
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
    reader: Reader, view: GuildView, member: MemberView, parent_ids: frozenset[ChannelId]
) -> list[Channel]:
    """The active threads of channels that a member can reach, with the member's own thread member objects.

    A private thread can be reached by its members and by those with MANAGE_THREADS in its parent channel.
    """
    active = await select_active_threads(reader, parent_ids)
    if not active:
        return []
    joined = await select_own_memberships(reader, member.user_id, [row.id for row in active])
    reachable = [row for row in active if row.id in joined or not _is_hidden(view, member, row)]
    return [
        structs.replace(channel, member=structs.replace(joined[channel.id], id=UNSET, user_id=UNSET))
        if channel.id in joined
        else channel
        for channel in await channel_objects(reader, [thread_from_row(row) for row in reachable])
    ]


def thread_list_sync(
    guild_id: GuildId, parent_ids: frozenset[ChannelId], threads: list[Channel], user_id: UserId
) -> bytes:
    """Build the `d` of THREAD_LIST_SYNC."""
    return encode(
        _ThreadListSync(
            guild_id=guild_id,
            channel_ids=sorted(parent_ids),
            threads=threads,
            members=[
                structs.replace(thread.member, id=thread.id, user_id=user_id)
                for thread in threads
                if thread.member is not UNSET
            ],
        )
    )


def _is_hidden(view: GuildView, member: MemberView, row: ThreadRow) -> bool:
    return row.type == ChannelType.PRIVATE_THREAD and row.parent_id not in view.managed_channels(member)
