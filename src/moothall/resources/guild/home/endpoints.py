"""The new member welcome over HTTP (public description: new member welcome)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import get, post, put
from moothall.objects.guild_home import GuildHome, NewMemberActionsProgress
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.home import operations
from moothall.resources.guild.home.requests import ModifyGuildHome
from moothall.resources.member.events import GuildMemberUpdate


@get("/guilds/{guild_id}/new-member-welcome", permission=MEMBER)
async def get_guild_new_member_welcome(ctx: Context, guild_id: GuildId) -> GuildHome | None:
    """Get the new member welcome; 204 if there is none or it is disabled."""
    return await operations.get_home(ctx)


@put("/guilds/{guild_id}/new-member-welcome", permission=Permissions.MANAGE_GUILD, audit_reason=True)
async def modify_guild_new_member_welcome(ctx: Context, guild_id: GuildId, body: ModifyGuildHome) -> GuildHome:
    """Change, enable or disable the new member welcome."""
    return await operations.modify_home(ctx, body)


@get("/guilds/{guild_id}/new-member-actions", permission=MEMBER)
async def get_guild_new_member_actions(ctx: Context, guild_id: GuildId) -> NewMemberActionsProgress | None:
    """Get the new member actions that the caller has completed; 204 if they have completed none."""
    return await operations.get_progress(ctx)


@post("/guilds/{guild_id}/new-member-action/{channel_id}", permission=MEMBER, fires=(GuildMemberUpdate,))
async def complete_guild_new_member_action(
    ctx: Context, guild_id: GuildId, channel_id: ChannelId
) -> NewMemberActionsProgress:
    """Complete the new member action in a channel as the caller."""
    return await operations.complete_action(ctx, channel_id)
