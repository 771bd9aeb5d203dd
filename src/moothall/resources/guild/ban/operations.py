"""Ban operations: ban, bulk ban and unban users (api.md, Bans)."""

from collections.abc import Sequence
from typing import Final

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ban import BulkBanResult
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.ban import queries
from moothall.resources.guild.ban.events import GuildBanAdd, GuildBanRemove
from moothall.resources.guild.membership.operations import LEAVE_EVENTS, remove_member, remove_members
from moothall.resources.member.queries import get_member, get_members, lock_member_count
from moothall.resources.message.events import MessageDeleteBulk
from moothall.resources.message.operations import forget_messages, forget_messages_of
from moothall.resources.user.queries import get_user, get_users
from moothall.storage.rows import user_from_row

BAN_EVENTS: Final[Fires] = (*LEAVE_EVENTS, GuildBanAdd, MessageDeleteBulk)
"""The events of `ban_user` and `bulk_ban_users`, which every row that calls them declares."""


async def ban_user(ctx: Context, guild_id: GuildId, user_id: UserId, *, delete_message_seconds: int = 0) -> None:
    """Ban a user, who need not be a member, and delete their messages of the last `delete_message_seconds`.

    Banning a banned user changes nothing and emits nothing. Raises Refusal: 404/10013 for an unknown user, 403/50013
    for a member who does not rank below the actor.
    """
    # Locks the member counter, so that a concurrent join has finished and its member is read below.
    await lock_member_count(ctx.tx, guild_id)
    target = await queries.select_target(ctx.tx, guild_id, user_id)
    if target is None:
        raise Refusal(errors.UNKNOWN_USER)
    row = None if target.member_id is None else await get_member(ctx.tx, guild_id, user_id)
    if row is not None and not ctx.member.outranks(user_id, row.roles):
        raise Refusal(errors.MISSING_PERMISSIONS)
    if target.banned_id is not None:
        return
    user = user_from_row(target)
    await queries.insert_ban(ctx.tx, guild_id, user_id, ctx.reason, ctx.now)
    # Emitted before GUILD_MEMBER_REMOVE, so that client libraries still have the member in their cache.
    ctx.emit(GuildBanAdd(guild_id=guild_id, user=user))
    if row is not None:
        await remove_member(ctx, guild_id, user, row)
    if delete_message_seconds:
        await forget_messages(ctx, guild_id, user_id, ctx.now - delete_message_seconds * 1000)
    await ctx.audit(AuditLogEvent.MEMBER_BAN_ADD, target=user_id)


async def bulk_ban_users(
    ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId], *, delete_message_seconds: int = 0
) -> BulkBanResult:
    """Ban several users; unknown and banned users, and members who do not rank below the actor, are listed as failed.

    Raises Refusal: 400/500000 if none of them could be banned.
    """
    target_ids = list(dict.fromkeys(user_ids))
    users = await get_users(ctx.tx, target_ids)
    await lock_member_count(ctx.tx, guild_id)
    rows = await get_members(ctx.tx, guild_id, target_ids)
    skipped = await queries.select_banned_user_ids(ctx.tx, guild_id, target_ids)
    skipped |= {user_id for user_id, row in rows.items() if not ctx.member.outranks(user_id, row.roles)}
    banned = [user_id for user_id in target_ids if user_id in users and user_id not in skipped]
    if not banned:
        raise Refusal(errors.FAILED_TO_BAN)
    await queries.insert_bans(ctx.tx, guild_id, banned, ctx.reason, ctx.now)
    for user_id in banned:
        ctx.emit(GuildBanAdd(guild_id=guild_id, user=users[user_id]))
    await remove_members(ctx, guild_id, [rows[user_id] for user_id in banned if user_id in rows], users)
    if delete_message_seconds:
        await forget_messages_of(ctx, guild_id, banned, ctx.now - delete_message_seconds * 1000)
    await ctx.audit_each(AuditLogEvent.MEMBER_BAN_ADD, [(user_id, ()) for user_id in banned])
    banned_ids = set(banned)
    return BulkBanResult(banned_users=banned, failed_users=[u for u in target_ids if u not in banned_ids])


async def unban_user(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Unban a user. Raises Refusal: 404/10026 for a user who is not banned."""
    user = await get_user(ctx.tx, user_id)
    if user is None or not await queries.delete_ban(ctx.tx, guild_id, user_id):
        raise Refusal(errors.UNKNOWN_BAN)
    await ctx.audit(AuditLogEvent.MEMBER_BAN_REMOVE, target=user_id)
    ctx.emit(GuildBanRemove(guild_id=guild_id, user=user))
