"""What being written in does to a thread: it awakes, people come into it, and its messages are counted."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import UNSET, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel import ThreadMember
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, MessageId, RoleId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.queries import select_channel
from moothall.resources.channel.thread_activity import queries
from moothall.resources.channel.thread_activity.events import (
    ThreadJoined,
    ThreadMembersUpdate,
    ThreadMemberUpdate,
    ThreadUpdate,
    own,
)
from moothall.resources.channel.thread_activity.jobs import watch
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow
from moothall.resources.channel.thread_activity.rules import metadata_of
from moothall.resources.channel.thread_activity.state import change_thread, metadata_from_row
from moothall.resources.member.queries import get_members, member_objects
from moothall.storage.rows import ChannelRow, MemberRow, channel_from_row


def member_object(row: ThreadMemberRow, member: Member | None = None) -> ThreadMember:
    """Someone in a thread, with who they are in the guild if that is given."""
    return ThreadMember(
        id=row.thread_id,
        user_id=row.user_id,
        join_timestamp=row.join_timestamp,
        flags=row.flags,
        member=UNSET if member is None else member,
    )


async def require_room(ctx: Context, guild_id: GuildId) -> None:
    """Refuse one more active thread in a full guild (400/160006)."""
    if await queries.count_active(ctx.tx, guild_id) >= limits.ACTIVE_THREADS_PER_GUILD:
        raise Refusal(errors.TOO_MANY_THREADS)


async def wake_thread(ctx: Context, access: ChannelAccess) -> ChannelAccess:
    """Make an archived thread active again, because someone writes in it; any other place stays as it is.

    The row must declare `WAKES`. Raises Refusal: 160006.
    """
    metadata = metadata_of(access)
    if metadata is None or not metadata.archived:
        return access
    row = await select_channel(ctx.tx, access.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    after = await unarchive(ctx, access, row)
    await tell_awake(ctx, access, after)
    return structs.replace(access, channel=channel_from_row(after))


async def unarchive(ctx: Context, access: ChannelAccess, row: ChannelRow) -> ChannelRow:
    """Store that a thread is active from now on. Raises Refusal: 160006."""
    if access.guild is not None:
        await require_room(ctx, access.guild.id)
    metadata = structs.replace(metadata_from_row(row), archive_timestamp=ctx.now)
    after = await change_thread(ctx, row, archived=False, metadata=metadata)
    await watch(ctx, row.id, ctx.now, metadata.auto_archive_duration)
    return after


async def tell_awake(ctx: Context, access: ChannelAccess, row: ChannelRow) -> None:
    """Tell of a thread that is active again, and remind its members that they are in it."""
    if access.guild is None:
        return
    thread = await channel_object(ctx.tx, channel_from_row(row))
    where = access.audience_channel_id
    ctx.emit(ThreadUpdate(guild_id=access.guild.id, channel_id=where, user_ids=access.hearers, thread=thread))
    for member in await queries.select_members(ctx.tx, row.id):
        ctx.emit(
            ThreadMemberUpdate(
                guild_id=access.guild.id,
                channel_id=where,
                user_ids=(member.user_id,),
                thread_id=row.id,
                member=member_object(member),
            )
        )


async def add_members(
    ctx: Context, access: ChannelAccess, user_ids: Sequence[UserId], *, tells_them: bool = True
) -> ChannelAccess:
    """Bring members of the guild into a thread; those who are in it already stay so silently.

    Unless they know the thread anyway, each of them is told of it. The row must declare `JOINS`.
    Raises Refusal: 30033 for a full thread.
    """
    there, guild = await queries.select_members_among(ctx.tx, access.id, user_ids), access.guild
    coming = [user_id for user_id in dict.fromkeys(user_ids) if user_id not in there]
    if not coming or guild is None:
        return access
    rows = [ThreadMemberRow(access.id, user_id, ctx.now, 0) for user_id in coming]
    await queries.insert_members(ctx.tx, rows)
    count = await queries.recount_members(ctx.tx, access.id)
    if count > limits.THREAD_MEMBERS_MAX:
        raise Refusal(errors.TOO_MANY_THREAD_MEMBERS)
    found = await get_members(ctx.tx, guild.id, coming)
    known = {m.user.id: m for m in await member_objects(ctx.tx, list(found.values())) if m.user is not UNSET}
    shown = min(count, limits.THREAD_MEMBERS_SHOWN)
    access = structs.replace(access, channel=structs.replace(access.channel, member_count=shown))
    if access.channel.type == ChannelType.PRIVATE_THREAD:
        access = structs.replace(access, recipients=(*access.recipients, *coming))
    guild_id, where = guild.id, access.audience_channel_id
    ctx.emit(
        ThreadMembersUpdate(
            guild_id=guild_id,
            channel_id=where,
            user_ids=access.hearers,
            thread_id=access.id,
            member_count=shown,
            added_members=[member_object(row, known.get(row.user_id)) for row in rows],
        )
    )
    thread = await channel_object(ctx.tx, access.channel) if tells_them else access.channel
    for row in rows if tells_them else ():
        ctx.emit(
            ThreadJoined(
                guild_id=guild_id,
                channel_id=where,
                user_ids=(row.user_id,),
                thread=structs.replace(thread, member=own(member_object(row))),
            )
        )
    return access


async def remove_member(ctx: Context, access: ChannelAccess, user_id: UserId) -> bool:
    """Take someone out of a thread; False, and nothing happens, if they are not in it.

    The row must declare `ThreadMembersUpdate`.
    """
    if access.guild is None or not await queries.delete_member(ctx.tx, access.id, user_id):
        return False
    count = await queries.recount_members(ctx.tx, access.id)
    ctx.emit(
        ThreadMembersUpdate(
            guild_id=access.guild.id,
            channel_id=access.audience_channel_id,
            user_ids=access.hearers,
            thread_id=access.id,
            member_count=min(count, limits.THREAD_MEMBERS_SHOWN),
            removed_member_ids=[user_id],
        )
    )
    return True


async def bring_in_author(ctx: Context, access: ChannelAccess) -> ChannelAccess:
    """Let whoever writes in a thread be in it, if there is room."""
    if not access.is_thread or access.guild is None:
        return access
    return await _add_if_room(ctx, access, [ctx.actor.user_id])


async def bring_in_mentioned(ctx: Context, access: ChannelAccess, user_ids: Sequence[UserId]) -> ChannelAccess:
    """Let those whom a message of the caller's mentions be in the thread: members who can see its channel.

    Into a private thread only those may bring others who manage threads or began it, unless it is `invitable`.
    """
    if not user_ids or not access.is_thread or access.guild is None or not may_invite(ctx, access):
        return access
    there = await queries.select_members_among(ctx.tx, access.id, user_ids)
    wanted = [user_id for user_id in user_ids if user_id not in there]
    if not wanted:
        return access
    found = await get_members(ctx.tx, access.guild.id, wanted)
    coming = [user_id for user_id in wanted if user_id in found and may_see(ctx, access, found[user_id])]
    return await _add_if_room(ctx, access, coming) if coming else access


def may_invite(ctx: Context, access: ChannelAccess) -> bool:
    """Whether the caller may bring others into a thread that they may write in."""
    metadata = metadata_of(access)
    if access.channel.type != ChannelType.PRIVATE_THREAD or metadata is None or metadata.invitable is not False:
        return True
    return access.channel.owner_id == ctx.actor.user_id or bool(access.permissions & Permissions.MANAGE_THREADS)


def may_see(ctx: Context, access: ChannelAccess, row: MemberRow) -> bool:
    """Whether a member of the guild can see the channel that a thread is in."""
    if access.guild is None or access.parent is None:
        return False
    authority = ctx.services.states.judge(
        access.guild,
        row.user_id,
        [RoleId(role) for role in row.roles],
        pending=row.pending,
        until=row.communication_disabled_until,
        now=ctx.now,
        guest_of=row.guest_channel_id,
    )
    return authority.may_view(access.parent)


async def _add_if_room(ctx: Context, access: ChannelAccess, user_ids: Sequence[UserId]) -> ChannelAccess:
    """The same as `add_members`, but a full thread is no reason not to write in it."""
    there = await queries.select_members_among(ctx.tx, access.id, user_ids)
    if all(user_id in there for user_id in user_ids):
        return access
    count = await queries.recount_members(ctx.tx, access.id)
    room = limits.THREAD_MEMBERS_MAX - count
    coming = [user_id for user_id in user_ids if user_id not in there][:room]
    return await add_members(ctx, access, coming) if coming else access


async def count_message(ctx: Context, access: ChannelAccess, message_id: MessageId, kind: int) -> int:
    """Count a message of a thread; its position there. The message that began the thread is not counted."""
    begins = not counts(access, message_id, kind)
    await queries.count_message(ctx.tx, access.id, message_id, counts=not begins)
    sent = access.channel.total_message_sent
    return 0 if begins else (sent if isinstance(sent, int) else 0) + 1


def counts(access: ChannelAccess, message_id: int, kind: int) -> bool:
    """Whether a message of a thread is one of those counted: all but the one that it began with."""
    return kind != MessageType.THREAD_STARTER_MESSAGE and message_id != access.id


async def forget_in_threads(ctx: Context, gone: Iterable[tuple[int, int, int]]) -> None:
    """The same for messages of several threads: each with its thread, its id and its type."""
    fewer = Counter(
        thread_id
        for thread_id, message_id, kind in gone
        if kind != MessageType.THREAD_STARTER_MESSAGE and message_id != thread_id
    )
    await queries.uncount_messages(ctx.tx, [(ChannelId(Snowflake(one)), count) for one, count in fewer.items()])


async def uncount_messages(ctx: Context, access: ChannelAccess, gone: Iterable[tuple[int, int]]) -> None:
    """Count no longer messages of a thread that are gone, each by its id and type; any other channel counts none."""
    if access.is_thread:
        fewer = sum(counts(access, message_id, kind) for message_id, kind in gone)
        await queries.uncount_messages(ctx.tx, [(access.id, fewer)])
