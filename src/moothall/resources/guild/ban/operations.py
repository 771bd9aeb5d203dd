"""Barring people from a guild, and letting them back in (api.md, Bans)."""

from collections.abc import Sequence
from typing import Final

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ban import BulkBanResult
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.ban import queries
from moothall.resources.guild.ban.events import GuildBanAdd, GuildBanRemove
from moothall.resources.guild.membership.operations import LEAVING, remove_member, remove_members
from moothall.resources.member.queries import change_count, get_member, get_members
from moothall.resources.message.events import MessageDeleteBulk
from moothall.resources.message.operations import forget_messages, forget_messages_of
from moothall.resources.user.queries import get_user, get_users

BANNING: Final[Fires] = (*LEAVING, GuildBanAdd, MessageDeleteBulk)
"""What a row declares to fire if it may ban someone."""


async def ban_user(ctx: Context, guild_id: GuildId, user_id: UserId, *, forget_seconds: int = 0) -> None:
    """Bar a user, member or not, and delete what they wrote in the last `forget_seconds`.

    Banning someone already banned changes nothing and tells nobody. Raises Refusal: 404/10013,
    403/50013 for members who do not stand below the actor.
    """
    user = await get_user(ctx.tx, user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    # Whoever is joining right now is waited for, and found as a member.
    await change_count(ctx.tx, guild_id, 0)
    row = await get_member(ctx.tx, guild_id, user_id)
    if row is not None and not ctx.member.outranks(user_id, row.roles):
        raise Refusal(errors.MISSING_PERMISSIONS)
    if not await queries.insert_ban(ctx.tx, guild_id, user_id, ctx.reason, ctx.now):
        return
    # Told before they are gone: client libraries then still know them as a member.
    ctx.emit(GuildBanAdd(guild_id=guild_id, user=user))
    await remove_member(ctx, guild_id, user)
    if forget_seconds:
        await forget_messages(ctx, guild_id, user_id, ctx.now - forget_seconds * 1000)
    await ctx.audit(AuditLogEvent.MEMBER_BAN_ADD, target=user_id)


async def bulk_ban(
    ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId], *, forget_seconds: int = 0
) -> BulkBanResult:
    """Bar several people; those unknown, banned before or not below the actor are told apart as failed.

    Raises Refusal 400/500000 if that leaves nobody.
    """
    wanted = list(dict.fromkeys(user_ids))
    users = await get_users(ctx.tx, wanted)
    await change_count(ctx.tx, guild_id, 0)
    rows = await get_members(ctx.tx, guild_id, wanted)
    spared = await queries.select_banned_among(ctx.tx, guild_id, wanted)
    spared |= {user_id for user_id, row in rows.items() if not ctx.member.outranks(user_id, row.roles)}
    banned = [user_id for user_id in wanted if user_id in users and user_id not in spared]
    if not banned:
        raise Refusal(errors.FAILED_TO_BAN)
    await queries.insert_bans(ctx.tx, guild_id, banned, ctx.reason, ctx.now)
    for user_id in banned:
        ctx.emit(GuildBanAdd(guild_id=guild_id, user=users[user_id]))
    await remove_members(ctx, guild_id, [rows[user_id] for user_id in banned if user_id in rows], users)
    if forget_seconds:
        await forget_messages_of(ctx, guild_id, banned, ctx.now - forget_seconds * 1000)
    await ctx.audit_each(AuditLogEvent.MEMBER_BAN_ADD, [(user_id, ()) for user_id in banned])
    chosen = set(banned)
    return BulkBanResult(banned_users=banned, failed_users=[u for u in wanted if u not in chosen])


async def lift_ban(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Let someone come back. Raises Refusal 404/10026 for those who are not banned."""
    user = await get_user(ctx.tx, user_id)
    if user is None or not await queries.delete_ban(ctx.tx, guild_id, user_id):
        raise Refusal(errors.UNKNOWN_BAN)
    await ctx.audit(AuditLogEvent.MEMBER_BAN_REMOVE, target=user_id)
    ctx.emit(GuildBanRemove(guild_id=guild_id, user=user))
