"""Access to an invite by the `{code}` in the path, which determines its channel and guild."""

from moothall.api.access import Access, PathValues
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.invite import InviteType
from moothall.objects.permissions import Permissions
from moothall.resources.invite.friend.lookup import find_friend_invite
from moothall.resources.invite.queries import select_invite


class CanManageInvite(Access):
    """MANAGE_CHANNELS in the invite's channel or MANAGE_GUILD; in groups and among friends, the inviter or owner."""

    label = "MANAGE_CHANNELS|MANAGE_GUILD"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the invite's guild or group. Raises Refusal: 404/10006 without a live invite, 403/50013, 403/50001."""
        row = await select_invite(ctx.tx, path["code"], ctx.now)
        if row is not None and row.type == InviteType.GROUP_DM:
            access = await ctx.enter_channel(row.channel_id)
            if ctx.actor.user_id not in {access.channel.owner_id, row.inviter_id}:
                raise Refusal(errors.MISSING_PERMISSIONS)
            return
        if row is None and (friend := await find_friend_invite(ctx, path["code"])) is not None:
            if friend.user_id != ctx.actor.user_id:
                raise Refusal(errors.MISSING_PERMISSIONS)
            return
        if row is None or row.guild_id is None:
            raise Refusal(errors.UNKNOWN_INVITE)
        await ctx.visit_guild(row.guild_id)
        channel = await ctx.guild.channel(ctx.tx, row.channel_id)
        if channel is None:
            raise Refusal(errors.UNKNOWN_INVITE)
        if ctx.is_member and ctx.member.permissions_in(channel) & Permissions.MANAGE_CHANNELS:
            ctx.require_mfa(Permissions.MANAGE_CHANNELS)
        elif ctx.is_member and ctx.member.permissions & Permissions.MANAGE_GUILD:
            ctx.require_mfa(Permissions.MANAGE_GUILD)
        else:
            raise Refusal(errors.MISSING_PERMISSIONS)


class InviterOr(Access):
    """The inviter of an invite to a guild, or a member with one of several permissions in it."""

    def __init__(self, label: str, *permissions: int) -> None:
        self.label = label
        self._permissions = permissions

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the invite's guild. Raises Refusal: 404/10006 without a live invite to a guild, 403/50013."""
        row = await select_invite(ctx.tx, path["code"], ctx.now)
        if row is None or row.guild_id is None:
            raise Refusal(errors.UNKNOWN_INVITE)
        await ctx.visit_guild(row.guild_id)
        if not ctx.is_member:
            raise Refusal(errors.MISSING_PERMISSIONS)
        if ctx.actor.user_id == row.inviter_id:
            return
        permission = next((bits for bits in self._permissions if ctx.member.permissions & bits), None)
        if permission is None:
            raise Refusal(errors.MISSING_PERMISSIONS)
        ctx.require_mfa(permission)
