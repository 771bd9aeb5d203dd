"""What being written in does to a thread: it awakes, people come into it, and its messages are counted."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.kernel.place import ChannelPlace
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


async def wake_thread(ctx: Context, place: ChannelPlace) -> ChannelPlace:
    """Make an archived thread active again, because someone writes in it; any other place stays as it is.

    The row must declare `WAKES`. Raises Refusal: 160006.
    """
    metadata = metadata_of(place)
    if metadata is None or not metadata.archived:
        return place
    row = await select_channel(ctx.tx, place.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    after = await unarchive(ctx, place, row)
    await tell_awake(ctx, place, after)
    return structs.replace(place, channel=channel_from_row(after))


async def unarchive(ctx: Context, place: ChannelPlace, row: ChannelRow) -> ChannelRow:
    """Store that a thread is active from now on. Raises Refusal: 160006."""
    if place.guild is not None:
        await require_room(ctx, place.guild.id)
    metadata = structs.replace(metadata_from_row(row), archive_timestamp=ctx.now)
    after = await change_thread(ctx, row, archived=False, metadata=metadata)
    await watch(ctx, row.id, ctx.now, metadata.auto_archive_duration)
    return after


async def tell_awake(ctx: Context, place: ChannelPlace, row: ChannelRow) -> None:
    """Tell of a thread that is active again, and remind its members that they are in it."""
    if place.guild is None:
        return
    thread = await channel_object(ctx.tx, channel_from_row(row))
    where = place.audience_channel_id
    ctx.emit(ThreadUpdate(guild_id=place.guild.id, channel_id=where, user_ids=place.hearers, thread=thread))
    for member in await queries.select_members(ctx.tx, row.id):
        ctx.emit(
            ThreadMemberUpdate(
                guild_id=place.guild.id,
                channel_id=where,
                user_ids=(member.user_id,),
                thread_id=row.id,
                member=member_object(member),
            )
        )


async def add_members(
    ctx: Context, place: ChannelPlace, user_ids: Sequence[UserId], *, tells_them: bool = True
) -> ChannelPlace:
    """Bring members of the guild into a thread; those who are in it already stay so silently.

    Unless they know the thread anyway, each of them is told of it. The row must declare `JOINS`.
    Raises Refusal: 30033 for a full thread.
    """
    there, guild = await queries.select_members_among(ctx.tx, place.id, user_ids), place.guild
    coming = [user_id for user_id in dict.fromkeys(user_ids) if user_id not in there]
    if not coming or guild is None:
        return place
    rows = [ThreadMemberRow(place.id, user_id, ctx.now, 0) for user_id in coming]
    await queries.insert_members(ctx.tx, rows)
    count = await queries.recount_members(ctx.tx, place.id)
    if count > limits.THREAD_MEMBERS_MAX:
        raise Refusal(errors.TOO_MANY_THREAD_MEMBERS)
    found = await get_members(ctx.tx, guild.id, coming)
    known = {m.user.id: m for m in await member_objects(ctx.tx, list(found.values())) if m.user is not UNSET}
    shown = min(count, limits.THREAD_MEMBERS_SHOWN)
    place = structs.replace(place, channel=structs.replace(place.channel, member_count=shown))
    if place.channel.type == ChannelType.PRIVATE_THREAD:
        place = structs.replace(place, recipients=(*place.recipients, *coming))
    guild_id, where = guild.id, place.audience_channel_id
    ctx.emit(
        ThreadMembersUpdate(
            guild_id=guild_id,
            channel_id=where,
            user_ids=place.hearers,
            thread_id=place.id,
            member_count=shown,
            added_members=[member_object(row, known.get(row.user_id)) for row in rows],
        )
    )
    thread = await channel_object(ctx.tx, place.channel) if tells_them else place.channel
    for row in rows if tells_them else ():
        ctx.emit(
            ThreadJoined(
                guild_id=guild_id,
                channel_id=where,
                user_ids=(row.user_id,),
                thread=structs.replace(thread, member=own(member_object(row))),
            )
        )
    return place


async def remove_member(ctx: Context, place: ChannelPlace, user_id: UserId) -> bool:
    """Take someone out of a thread; False, and nothing happens, if they are not in it.

    The row must declare `ThreadMembersUpdate`.
    """
    if place.guild is None or not await queries.delete_member(ctx.tx, place.id, user_id):
        return False
    count = await queries.recount_members(ctx.tx, place.id)
    ctx.emit(
        ThreadMembersUpdate(
            guild_id=place.guild.id,
            channel_id=place.audience_channel_id,
            user_ids=place.hearers,
            thread_id=place.id,
            member_count=min(count, limits.THREAD_MEMBERS_SHOWN),
            removed_member_ids=[user_id],
        )
    )
    return True


async def bring_in_author(ctx: Context, place: ChannelPlace) -> ChannelPlace:
    """Let whoever writes in a thread be in it, if there is room."""
    if not place.is_thread or place.guild is None:
        return place
    return await _add_if_room(ctx, place, [ctx.actor.user_id])


async def bring_in_mentioned(ctx: Context, place: ChannelPlace, user_ids: Sequence[UserId]) -> ChannelPlace:
    """Let those whom a message of the caller's mentions be in the thread: members who can see its channel.

    Into a private thread only those may bring others who manage threads or began it, unless it is `invitable`.
    """
    if not user_ids or not place.is_thread or place.guild is None or not may_invite(ctx, place):
        return place
    there = await queries.select_members_among(ctx.tx, place.id, user_ids)
    wanted = [user_id for user_id in user_ids if user_id not in there]
    if not wanted:
        return place
    found = await get_members(ctx.tx, place.guild.id, wanted)
    coming = [user_id for user_id in wanted if user_id in found and may_see(ctx, place, found[user_id])]
    return await _add_if_room(ctx, place, coming) if coming else place


def may_invite(ctx: Context, place: ChannelPlace) -> bool:
    """Whether the caller may bring others into a thread that they may write in."""
    metadata = metadata_of(place)
    if place.channel.type != ChannelType.PRIVATE_THREAD or metadata is None or metadata.invitable is not False:
        return True
    return place.channel.owner_id == ctx.actor.user_id or bool(place.permissions & Permissions.MANAGE_THREADS)


def may_see(ctx: Context, place: ChannelPlace, row: MemberRow) -> bool:
    """Whether a member of the guild can see the channel that a thread is in."""
    if place.guild is None or place.parent is None:
        return False
    standing = ctx.services.states.judge(
        place.guild,
        row.user_id,
        [RoleId(role) for role in row.roles],
        pending=row.pending,
        until=row.communication_disabled_until,
        now=ctx.now,
        guest_of=row.guest_channel_id,
    )
    return standing.may_view(place.parent)


async def _add_if_room(ctx: Context, place: ChannelPlace, user_ids: Sequence[UserId]) -> ChannelPlace:
    """The same as `add_members`, but a full thread is no reason not to write in it."""
    there = await queries.select_members_among(ctx.tx, place.id, user_ids)
    if all(user_id in there for user_id in user_ids):
        return place
    count = await queries.recount_members(ctx.tx, place.id)
    room = limits.THREAD_MEMBERS_MAX - count
    coming = [user_id for user_id in user_ids if user_id not in there][:room]
    return await add_members(ctx, place, coming) if coming else place


async def count_message(ctx: Context, place: ChannelPlace, message_id: MessageId, kind: int) -> int:
    """Count a message of a thread; its position there. The message that began the thread is not counted."""
    begins = not counts(place, message_id, kind)
    await queries.count_message(ctx.tx, place.id, message_id, counts=not begins)
    sent = place.channel.total_message_sent
    return 0 if begins else (sent if isinstance(sent, int) else 0) + 1


def counts(place: ChannelPlace, message_id: int, kind: int) -> bool:
    """Whether a message of a thread is one of those counted: all but the one that it began with."""
    return kind != MessageType.THREAD_STARTER_MESSAGE and message_id != place.id


async def forget_in_threads(ctx: Context, gone: Iterable[tuple[int, int, int]]) -> None:
    """The same for messages of several threads: each with its thread, its id and its type."""
    fewer = Counter(
        thread_id
        for thread_id, message_id, kind in gone
        if kind != MessageType.THREAD_STARTER_MESSAGE and message_id != thread_id
    )
    await queries.uncount_messages(ctx.tx, [(ChannelId(Snowflake(one)), count) for one, count in fewer.items()])


async def uncount_messages(ctx: Context, place: ChannelPlace, gone: Iterable[tuple[int, int]]) -> None:
    """Count no longer messages of a thread that are gone, each by its id and type; any other channel counts none."""
    if place.is_thread:
        fewer = sum(counts(place, message_id, kind) for message_id, kind in gone)
        await queries.uncount_messages(ctx.tx, [(place.id, fewer)])
