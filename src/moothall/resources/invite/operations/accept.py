"""Accepting invites to guilds and group direct messages."""

from moothall.api.context import Context
from moothall.authority.channel_access import find_channel
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.ids import RoleId
from moothall.objects.invite import Invite, InviteFlags
from moothall.objects.role import is_linked
from moothall.resources.group_dm.operations import add_user_to_group_dm
from moothall.resources.guild.membership.operations import join_guild, make_full_member
from moothall.resources.invite import queries
from moothall.resources.invite.events import InviteDelete
from moothall.resources.invite.friend.lookup import find_friend_invite
from moothall.resources.invite.friend.operations import accept_friend_invite
from moothall.resources.invite.group_invites import group_invite_object
from moothall.resources.invite.lookup import are_invites_paused, find_group_invite, find_invite, invite_object
from moothall.resources.invite.queries import InviteRow
from moothall.resources.invite.target_users.operations import require_target
from moothall.resources.invite.target_users.queries import delete_targets_of_invite
from moothall.resources.member.queries import get_member, is_banned
from moothall.resources.user.queries import select_user


async def accept_invite(ctx: Context, code: str) -> Invite:
    """Join a guild or group by an invite, or become a friend, and count its use; the last use deletes the invite.

    For a member nothing changes and no use is counted, but a guest becomes a full member. Raises Refusal: 403/20001 for
    bots; 404/10006 for an unknown, expired or used up invite,
    and one to other users; 403/40007 for a banned user; 403/40006 while invites are
    paused, and for a guest invite to a guild that no longer has guests; and what `join_guild` raises.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    if (group := await find_group_invite(ctx, code)) is not None:
        return await _accept_group_invite(ctx, group)
    if (friend := await find_friend_invite(ctx, code)) is not None:
        return await accept_friend_invite(ctx, friend)
    return await _accept_guild_invite(ctx, code)


async def _accept_guild_invite(ctx: Context, code: str) -> Invite:
    """Join a guild by an invite and count its use. Raises Refusal as `accept_invite`."""
    row, guild = await find_invite(ctx, code)
    await require_target(ctx, row, guild, accepts=True)
    invite = await invite_object(ctx, row, guild)
    user_id = ctx.actor.user_id
    is_guest_invite = row is not None and bool(row.flags & InviteFlags.IS_GUEST_INVITE)
    member = await get_member(ctx.tx, guild.id, user_id)
    user = await select_user(ctx.tx, user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    if member is not None:
        if not is_guest_invite and not are_invites_paused(ctx, guild):
            await make_full_member(ctx, guild, member, user)
        return invite
    await _check_open(ctx, guild, is_guest=is_guest_invite)
    if row is None:
        await queries.count_vanity_use(ctx.tx, guild.id)
    elif not await queries.count_use(ctx.tx, row.code, ctx.now):
        raise Refusal(errors.UNKNOWN_INVITE)
    if row is None:
        await join_guild(ctx, guild, user)
        return invite
    roles = [guild.roles[RoleId(role_id)] for role_id in row.role_ids if role_id in guild.roles]
    role_ids = [role.id for role in roles if not is_linked(role)]
    guest_channel_id = row.channel_id if is_guest_invite else None
    await join_guild(ctx, guild, user, temporary=row.temporary, roles=role_ids, guest_channel_id=guest_channel_id)
    if await queries.delete_used_up(ctx.tx, row.code):
        await delete_targets_of_invite(ctx.tx, guild.id, row.code)
        ctx.emit(InviteDelete(channel_id=row.channel_id, guild_id=guild.id, code=row.code))
    return invite


async def _accept_group_invite(ctx: Context, row: InviteRow) -> Invite:
    """Join a group by an invite and count its use; for a recipient nothing changes and no use is counted.

    Raises Refusal: 404/10006, 400/30004 for a full group.
    """
    user_id = ctx.actor.user_id
    access = await find_channel(ctx.services.states, ctx.tx, row.channel_id, user_id, ctx.now, writes=ctx.writes)
    if access is None or access.channel.type != ChannelType.GROUP_DM:
        raise Refusal(errors.UNKNOWN_INVITE)
    if user_id not in access.recipients:
        if not await queries.count_use(ctx.tx, row.code, ctx.now):
            raise Refusal(errors.UNKNOWN_INVITE)
        await add_user_to_group_dm(ctx, access, user_id, added_by=user_id)
    return await group_invite_object(ctx, row)


async def _check_open(ctx: Context, guild: GuildState, *, is_guest: bool) -> None:
    """Refuse a banned user (403/40007), and while the invite cannot be used (403/40006)."""
    if await is_banned(ctx.tx, guild.id, ctx.actor.user_id):
        raise Refusal(errors.USER_BANNED)
    if are_invites_paused(ctx, guild):
        raise Refusal(errors.FEATURE_DISABLED, message="Invites to this guild are paused.")
    if is_guest and Feature.GUESTS_ENABLED not in guild.row.features:
        raise Refusal(errors.FEATURE_DISABLED, message="This guild no longer has guests.")
