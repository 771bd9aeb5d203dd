"""Active threads that a member can reach, for GUILD_CREATE and THREAD_LIST_SYNC, and the members of threads."""

from collections.abc import Mapping

from msgspec import UNSET, Raw, Struct, structs

from moothall.authority.channel_queries import select_channel
from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.presence import Presence
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.queries import select_own_memberships
from moothall.resources.channel.thread_activity.queries import select_active_threads, select_members
from moothall.resources.channel.thread_activity.state import thread_member_object
from moothall.resources.member.queries import get_members, member_objects
from moothall.storage.bulk import map_items
from moothall.storage.database import Reader
from moothall.storage.rows import ThreadRow, thread_from_row


class _ThreadListSync(Struct):
    guild_id: GuildId
    channel_ids: list[ChannelId]
    threads: list[Channel]
    members: list[ThreadMember]


class _ThreadMemberList(Struct):
    guild_id: GuildId
    thread_id: ChannelId
    members: list[Raw]


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
    threads = await channel_objects(reader, await map_items(reader, thread_from_row, reachable))

    def with_own_member(thread: Channel) -> Channel:
        own = joined.get(thread.id)
        return thread if own is None else structs.replace(thread, member=structs.replace(own, id=UNSET, user_id=UNSET))

    return await map_items(reader, with_own_member, threads)


async def thread_members(
    reader: Reader, view: GuildView, member: MemberView, thread_id: ChannelId
) -> list[ThreadMember] | None:
    """The members of a thread, archived or not, with their guild members; None if `member` cannot reach it."""
    thread = await select_channel(reader, thread_id)
    if thread is None or thread.guild_id != view.id or thread.type not in THREADS:
        return None
    if thread.parent_id not in view.visible_channels(member):
        return None
    rows = await select_members(reader, thread_id)
    is_private = thread.type == ChannelType.PRIVATE_THREAD and thread.parent_id not in view.managed_channels(member)
    if is_private and all(row.user_id != member.user_id for row in rows):
        return None
    member_rows = await get_members(reader, view.id, [row.user_id for row in rows])
    objects = await member_objects(reader, list(member_rows.values()))
    members = {each.user.id: each for each in objects if each.user is not UNSET}
    return [thread_member_object(row, members[row.user_id]) for row in rows if row.user_id in members]


def thread_member_list(
    guild_id: GuildId, thread_id: ChannelId, members: list[ThreadMember], presences: Mapping[UserId, Presence]
) -> bytes:
    """Build the `d` of THREAD_MEMBER_LIST_UPDATE; each member has a presence, if an offline one."""
    items = [
        Raw(b'%b,"presence":%b}' % (encode(each)[:-1], encode(presences[each.user_id])))
        for each in members
        if each.user_id is not UNSET
    ]
    return encode(_ThreadMemberList(guild_id, thread_id, items))


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
