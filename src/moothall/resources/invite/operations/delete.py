"""Deleting invites."""

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.errors import Refusal
from moothall.objects.invite import Invite, InviteType
from moothall.resources.invite import queries
from moothall.resources.invite.events import InviteDelete
from moothall.resources.invite.friend.lookup import find_friend_invite
from moothall.resources.invite.friend.operations import delete_friend_invite
from moothall.resources.invite.group_invites import group_invite_object
from moothall.resources.invite.lookup import invite_object
from moothall.resources.invite.objects import AUDITED
from moothall.resources.invite.target_users.queries import delete_targets_of_channel, delete_targets_of_invite


async def delete_invite(ctx: Context, code: str) -> Invite:
    """Delete an invite of the caller, or to the guild or group entered; returns it. Raises Refusal: 404/10006."""
    row = await queries.select_invite(ctx.tx, code, ctx.now)
    if row is None and (friend := await find_friend_invite(ctx, code)) is not None:
        return await delete_friend_invite(ctx, friend)
    if row is None:
        raise Refusal(errors.UNKNOWN_INVITE)
    if row.type == InviteType.GROUP_DM:
        group_invite = await group_invite_object(ctx, row)
        await queries.delete_invite(ctx.tx, code)
        return group_invite
    invite = await invite_object(ctx, row, ctx.guild)
    if not await queries.delete_invite(ctx.tx, code):
        raise Refusal(errors.UNKNOWN_INVITE)
    await delete_targets_of_invite(ctx.tx, ctx.guild.id, code)
    await ctx.audit(AuditLogEvent.INVITE_DELETE, changes=differences(row, None, AUDITED))
    ctx.emit(InviteDelete(channel_id=row.channel_id, guild_id=ctx.guild.id, code=code))
    return invite


async def delete_invites_of_channel(ctx: Context, channel: Channel) -> None:
    """Delete all invites to a channel of the guild entered. Rows that call this declare InviteDelete."""
    invites = await queries.select_channel_invites(ctx.tx, channel.id, ctx.now)
    await delete_targets_of_channel(ctx.tx, ctx.guild.id, channel.id)
    await queries.delete_channel_invites(ctx.tx, channel.id)
    for invite in invites:
        ctx.emit(InviteDelete(channel_id=channel.id, guild_id=ctx.guild.id, code=invite.code))
