"""Operations on threads that messages cause: archive, unarchive, add members, count messages."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.channel import ThreadMetadata
from moothall.objects.channel_types import THREADS, ChannelFlags, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.member import without_pending
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.queries import update_channel
from moothall.resources.channel.thread_activity import queries
from moothall.resources.channel.thread_activity.events import (
    ThreadJoined,
    ThreadMembersUpdate,
    ThreadMemberUpdate,
    ThreadUpdate,
    own_member,
)
from moothall.resources.channel.thread_activity.queries import ThreadMemberRow
from moothall.resources.channel.thread_activity.rules import can_view_parent, is_counted, may_add_members, metadata_of
from moothall.resources.channel.thread_activity.state import (
    hearers_of,
    metadata_column,
    metadata_from_row,
    thread_member_object,
)
from moothall.resources.member.queries import get_members, member_objects
from moothall.storage.rows import ChannelRow, channel_from_row

_MS_PER_MINUTE: Final = 60_000


async def require_active_thread_capacity(ctx: Context, guild_id: GuildId) -> None:
    """Check the limit of active threads in a guild. Raises Refusal: 400/160006."""
    if await queries.count_active_threads(ctx.tx, guild_id) >= limits.ACTIVE_THREADS_PER_GUILD:
        raise Refusal(errors.TOO_MANY_THREADS)


async def unarchive_thread(ctx: Context, access: ChannelAccess) -> ChannelAccess:
    """Unarchive a thread before a message is sent in it; any other channel is returned as it is.

    The row must declare `UNARCHIVE_EVENTS`. Raises Refusal: 400/160006; 403/160005 for a locked thread, unless the
    sender has MANAGE_THREADS in it.
    """
    metadata = metadata_of(access)
    if metadata is None or not metadata.archived:
        return access
    if metadata.locked and not access.permissions & Permissions.MANAGE_THREADS:
        raise Refusal(errors.THREAD_LOCKED)
    row = await select_channel(ctx.tx, access.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    after = await _unarchive(ctx, access, row)
    await announce_unarchived(ctx, access, after)
    return structs.replace(access, channel=channel_from_row(after))


async def _unarchive(ctx: Context, access: ChannelAccess, row: ChannelRow) -> ChannelRow:
    """Store that a thread is active. Raises Refusal: 400/160006."""
    if access.guild is not None:
        await require_active_thread_capacity(ctx, access.guild.id)
    metadata = structs.replace(metadata_from_row(row), archive_timestamp=ctx.now)
    after = await update_thread(ctx, row, archived=False, metadata=metadata)
    await schedule_archival(ctx, row.id, ctx.now, metadata.auto_archive_duration)
    return after


async def announce_unarchived(ctx: Context, access: ChannelAccess, row: ChannelRow) -> None:
    """Emit THREAD_UPDATE for an unarchived thread, and THREAD_MEMBER_UPDATE to each of its members."""
    if access.guild is None:
        return
    thread = await channel_object(ctx.tx, channel_from_row(row))
    parent_id = access.audience_channel_id
    ctx.emit(
        ThreadUpdate(guild_id=access.guild.id, channel_id=parent_id, user_ids=access.event_user_ids, thread=thread)
    )
    for member in await queries.select_members(ctx.tx, row.id):
        ctx.emit(
            ThreadMemberUpdate(
                guild_id=access.guild.id,
                channel_id=parent_id,
                user_ids=(member.user_id,),
                thread_id=row.id,
                member=thread_member_object(member, own=True),
            )
        )


async def update_thread(
    ctx: Context, row: ChannelRow, *, archived: bool, metadata: ThreadMetadata, **columns: object
) -> ChannelRow:
    """Store new metadata and columns of a thread; return its row after the update."""
    columns["thread_metadata"] = metadata_column(metadata)
    if archived != row.archived:
        columns["archived"] = archived
        columns["archived_at"] = metadata.archive_timestamp if archived else None
    await update_channel(ctx.tx, row.id, **columns)
    return structs.replace(row, **columns)


@job
class ArchiveThread(Job, frozen=True, kw_only=True):
    """Archives a thread after `auto_archive_duration` minutes without a message; a pinned thread stays active."""

    kind: ClassVar[str] = "archive_thread"
    thread_id: ChannelId
    since: int
    """The thread's `archive_timestamp` when this job was enqueued; if it has changed, another job replaces this one."""

    async def step(self, ctx: Context) -> Job | None:
        """Archive the thread, or check it again later."""
        row = await select_channel(ctx.tx, self.thread_id)
        if row is None or row.type not in THREADS or row.archived:
            return None
        metadata = metadata_from_row(row)
        if metadata.archive_timestamp != self.since:
            return None
        last = await queries.select_last_message(ctx.tx, row.id)
        inactive_since = max(self.since, 0 if last is None else Snowflake(last).created_ms)
        duration = metadata.auto_archive_duration * _MS_PER_MINUTE
        if row.flags & ChannelFlags.PINNED:
            await enqueue(ctx, self, at=Timestamp(ctx.now + duration))
        elif inactive_since + duration > ctx.now:
            await enqueue(ctx, self, at=Timestamp(inactive_since + duration))
        else:
            await archive_thread(ctx, row)
        return None


async def archive_thread(ctx: Context, row: ChannelRow) -> None:
    """Archive a thread and emit THREAD_UPDATE."""
    after = await update_thread(
        ctx, row, archived=True, metadata=structs.replace(metadata_from_row(row), archive_timestamp=ctx.now)
    )
    if row.guild_id is None or row.parent_id is None:
        return
    ctx.emit(
        ThreadUpdate(
            guild_id=row.guild_id,
            channel_id=row.parent_id,
            user_ids=await hearers_of(ctx.tx, row),
            thread=await channel_object(ctx.tx, channel_from_row(after)),
        )
    )


async def schedule_archival(ctx: Context, thread_id: ChannelId, since: Timestamp, minutes: int) -> None:
    """Enqueue the archiving of a thread, active since a time, after some minutes without a message."""
    job = ArchiveThread(thread_id=thread_id, since=int(since))
    await enqueue(ctx, job, at=Timestamp(since + minutes * _MS_PER_MINUTE))


async def add_to_thread(
    ctx: Context, access: ChannelAccess, user_ids: Sequence[UserId], *, notify_added: bool = True
) -> ChannelAccess:
    """Add guild members to a thread; users who are already in it are skipped.

    With `notify_added`, each added user receives THREAD_CREATE. The row must declare `ADD_MEMBER_EVENTS`.
    Raises Refusal: 400/30033 at the member limit of the thread.
    """
    present, guild = await queries.select_members_among(ctx.tx, access.id, user_ids), access.guild
    added = [user_id for user_id in dict.fromkeys(user_ids) if user_id not in present]
    if not added or guild is None:
        return access
    rows = [ThreadMemberRow(access.id, user_id, ctx.now, 0) for user_id in added]
    await queries.insert_members(ctx.tx, rows)
    count = await queries.update_member_count(ctx.tx, access.id)
    if count > limits.THREAD_MEMBERS_MAX:
        raise Refusal(errors.TOO_MANY_THREAD_MEMBERS)
    rows_by_user = await get_members(ctx.tx, guild.id, added)
    objects = await member_objects(ctx.tx, list(rows_by_user.values()))
    members = {member.user.id: without_pending(member) for member in objects if member.user is not UNSET}
    member_count = min(count, limits.THREAD_MEMBERS_SHOWN)
    access = structs.replace(access, channel=structs.replace(access.channel, member_count=member_count))
    if access.channel.type == ChannelType.PRIVATE_THREAD:
        access = structs.replace(access, recipients=(*access.recipients, *added))
    guild_id, parent_id = guild.id, access.audience_channel_id
    ctx.emit(
        ThreadMembersUpdate(
            guild_id=guild_id,
            channel_id=parent_id,
            user_ids=access.event_user_ids,
            thread_id=access.id,
            member_count=member_count,
            added_members=[thread_member_object(row, members.get(row.user_id)) for row in rows],
        )
    )
    thread = await channel_object(ctx.tx, access.channel) if notify_added else access.channel
    for row in rows if notify_added else ():
        ctx.emit(
            ThreadJoined(
                guild_id=guild_id,
                channel_id=parent_id,
                user_ids=(row.user_id,),
                thread=structs.replace(thread, member=own_member(thread_member_object(row, own=True))),
            )
        )
    return access


async def remove_from_thread(ctx: Context, access: ChannelAccess, user_id: UserId) -> bool:
    """Remove a member from a thread; return False if the user is not in it.

    The row must declare `ThreadMembersUpdate`.
    """
    if access.guild is None or not await queries.delete_member(ctx.tx, access.id, user_id):
        return False
    count = await queries.update_member_count(ctx.tx, access.id)
    ctx.emit(
        ThreadMembersUpdate(
            guild_id=access.guild.id,
            channel_id=access.audience_channel_id,
            user_ids=access.event_user_ids,
            thread_id=access.id,
            member_count=min(count, limits.THREAD_MEMBERS_SHOWN),
            removed_member_ids=[user_id],
        )
    )
    return True


async def add_author_to_thread(ctx: Context, access: ChannelAccess) -> ChannelAccess:
    """Add the caller, who sends a message in a thread, to it, unless it is full."""
    if not access.is_thread or access.guild is None:
        return access
    if await queries.is_member(ctx.tx, access.id, ctx.actor.user_id):
        return access
    return await _add_up_to_limit(ctx, access, [ctx.actor.user_id])


async def add_mentioned_to_thread(ctx: Context, access: ChannelAccess, user_ids: Sequence[UserId]) -> ChannelAccess:
    """Add users mentioned by a message of the caller to a thread, if they may view its parent.

    A private thread that is not `invitable` stays as it is, unless the caller owns it or has MANAGE_THREADS.
    """
    if not user_ids or not access.is_thread or access.guild is None or not may_add_members(ctx, access):
        return access
    present = await queries.select_members_among(ctx.tx, access.id, user_ids)
    absent = [user_id for user_id in user_ids if user_id not in present]
    if not absent:
        return access
    members = await get_members(ctx.tx, access.guild.id, absent)
    added = [user_id for user_id in absent if user_id in members and can_view_parent(ctx, access, members[user_id])]
    return await _add_up_to_limit(ctx, access, added) if added else access


async def _add_up_to_limit(ctx: Context, access: ChannelAccess, user_ids: Sequence[UserId]) -> ChannelAccess:
    """Add guild members to a thread up to its member limit, without an error."""
    present = await queries.select_members_among(ctx.tx, access.id, user_ids)
    if all(user_id in present for user_id in user_ids):
        return access
    count = await queries.update_member_count(ctx.tx, access.id)
    free = limits.THREAD_MEMBERS_MAX - count
    added = [user_id for user_id in user_ids if user_id not in present][:free]
    return await add_to_thread(ctx, access, added) if added else access


async def count_message(ctx: Context, access: ChannelAccess, message_id: MessageId, kind: int) -> int:
    """Count a new message of a thread and return its position. A starter message is not counted and has position 0."""
    counted = is_counted(access, message_id, kind)
    await queries.count_message(ctx.tx, access.id, message_id, counts=counted)
    sent = access.channel.total_message_sent
    return (sent if isinstance(sent, int) else 0) + 1 if counted else 0


async def uncount_messages_in_threads(ctx: Context, deleted: Iterable[tuple[int, int, int]]) -> None:
    """Subtract deleted messages, as (thread id, message id, type), from the message counts of several threads."""
    fewer = Counter(
        thread_id
        for thread_id, message_id, kind in deleted
        if kind != MessageType.THREAD_STARTER_MESSAGE and message_id != thread_id
    )
    await queries.uncount_messages(ctx.tx, [(ChannelId(Snowflake(one)), count) for one, count in fewer.items()])


async def uncount_messages(ctx: Context, access: ChannelAccess, deleted: Iterable[tuple[int, int]]) -> None:
    """Subtract deleted messages, as (id, type), from the message count of a thread; other channels have none."""
    if access.is_thread:
        fewer = sum(is_counted(access, message_id, kind) for message_id, kind in deleted)
        await queries.uncount_messages(ctx.tx, [(access.id, fewer)])
