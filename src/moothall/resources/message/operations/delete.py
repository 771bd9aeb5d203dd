"""Deleting messages: one, several of a channel, and those of users in a guild."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Final

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, private_thread_user_ids
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId, snowflake_at
from moothall.objects.message_types import UNDELETABLE
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.operations import uncount_messages, uncount_messages_in_threads
from moothall.resources.channel.thread_activity.queries import select_private_members
from moothall.resources.channel.thread_activity.rules import require_not_archived_and_locked
from moothall.resources.message.events import MessageDelete, MessageDeleteBulk, route_in_guild, route_of
from moothall.resources.message.operations.copies import renew_copies
from moothall.resources.message.operations.lookup import get_message
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.queries import deletion as queries
from moothall.resources.message.queries.deletion import DeletedMessage

_MS_PER_SECOND: Final = 1000


async def delete_message(ctx: Context, message_id: MessageId) -> None:
    """Delete a message of the channel entered: one's own, or with MANAGE_MESSAGES another's, with an audit log entry.

    Raises Refusal: 10008, 50013, 50021 for system messages that cannot be deleted, 50083 in an archived thread, 50003
    for another's in a direct message.
    """
    access = ctx.channel
    row = await get_message(ctx, access.id, message_id)
    own = row.author_id == ctx.actor.user_id
    if not own:
        if not ctx.in_guild:
            raise Refusal(errors.NOT_ON_DM)
        ctx.require(Permissions.MANAGE_MESSAGES)
    if row.type in UNDELETABLE:
        raise Refusal(errors.SYSTEM_MESSAGE)
    require_not_archived_and_locked(ctx)
    await remove_message(ctx, access, row)
    if not own:
        await ctx.audit(
            AuditLogEvent.MESSAGE_DELETE,
            target=row.author_id,
            options=AuditLogOptions(channel_id=Snowflake(access.id), count="1"),
        )


async def remove_message(ctx: Context, access: ChannelAccess, row: MessageRow) -> None:
    """Delete a message that may be deleted, and announce it. The row must declare `MessageDelete`.

    Raises Refusal: 10008 if another transaction has deleted it.
    """
    targets = await queries.lock_targets(ctx.tx, access.id, [row.id])
    if not targets:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    await queries.delete_messages(ctx.tx, access.id, targets)
    await uncount_messages(ctx, access, [(row.id, row.type)])
    await renew_copies(ctx, access.id, [(row.id, targets[0].flags)])
    ctx.emit(MessageDelete(route=route_of(access), message_id=row.id))


async def bulk_delete_messages(ctx: Context, message_ids: Sequence[MessageId]) -> None:
    """Delete up to 100 messages of the channel entered at once, all or none; unknown ids are ignored.

    Raises Refusal: 50034 for a message older than 14 days, 50021 for a system message that cannot be deleted.
    """
    access = ctx.channel
    oldest = snowflake_at(ctx.now - limits.BULK_DELETE_AGE_MAX * _MS_PER_SECOND)
    if min(message_ids) < oldest:
        raise Refusal(errors.MESSAGE_TOO_OLD)
    targets = await queries.lock_targets(ctx.tx, access.id, list(message_ids))
    if any(row.type in UNDELETABLE for row in targets):
        raise Refusal(errors.SYSTEM_MESSAGE)
    if not targets:
        return
    await queries.delete_messages(ctx.tx, access.id, targets)
    await uncount_messages(ctx, access, [(row.id, row.type) for row in targets])
    await renew_copies(ctx, access.id, [(row.id, row.flags) for row in targets])
    ctx.emit(MessageDeleteBulk(route=route_of(access), message_ids=tuple(row.id for row in targets)))
    await ctx.audit(
        AuditLogEvent.MESSAGE_BULK_DELETE,
        target=Snowflake(access.id),
        options=AuditLogOptions(count=str(len(targets))),
    )


async def forget_messages(ctx: Context, guild_id: GuildId, user_id: UserId, since_ms: int) -> None:
    """Delete a user's messages in a guild since a moment, in milliseconds since the Unix epoch.

    Announced by channel, at most 100 messages at once. The row must declare `MessageDeleteBulk`.
    """
    await forget_messages_of(ctx, guild_id, [user_id], since_ms)


async def forget_messages_of(ctx: Context, guild_id: GuildId, user_ids: Collection[UserId], since_ms: int) -> None:
    """Delete several users' messages in a guild, as `forget_messages`."""
    if not user_ids:
        return
    deleted = await queries.delete_messages_of(ctx.tx, guild_id, list(user_ids), snowflake_at(since_ms))
    in_threads = [row for row in deleted if row.channel_type in THREADS]
    await uncount_messages_in_threads(ctx, ((row.channel_id, row.id, row.type) for row in in_threads))
    private_ids = {row.channel_id for row in in_threads if row.channel_type == ChannelType.PRIVATE_THREAD}
    members = await select_private_members(ctx.tx, private_ids)
    for (channel_id, kind, parent_id), group in groupby(deleted, key=_channel_of):
        rows = list(group)
        route = route_in_guild(
            guild_id,
            channel_id,
            kind,
            parent_id if kind in THREADS else None,
            private_thread_user_ids(members.get(channel_id, ())) if kind == ChannelType.PRIVATE_THREAD else (),
        )
        await renew_copies(ctx, route.id, [(row.id, row.flags) for row in rows])
        for ids in _chunks([row.id for row in rows], limits.BULK_DELETE_MAX):
            ctx.emit(MessageDeleteBulk(route=route, message_ids=ids))


def _channel_of(row: DeletedMessage) -> tuple[ChannelId, int, ChannelId | None]:
    return row.channel_id, row.channel_type, row.parent_id


def _chunks(items: Sequence[int], size: int) -> Iterable[tuple[int, ...]]:
    return (tuple(items[start : start + size]) for start in range(0, len(items), size))
