"""The new member welcome over HTTP (public description: new member welcome)."""

from moothall.kernel.access import MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, put
from moothall.objects.guild_home import GuildHome
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.home import operations
from moothall.resources.guild.home.requests import ModifyGuildHome


@get("/guilds/{guild_id}/new-member-welcome", permission=MEMBER)
async def get_guild_new_member_welcome(ctx: Context, guild_id: GuildId) -> GuildHome | None:
    """Get the new member welcome; 204 if there is none or it is disabled."""
    return await operations.get_home(ctx)


@put("/guilds/{guild_id}/new-member-welcome", permission=Permissions.MANAGE_GUILD, audit_reason=True)
async def modify_guild_new_member_welcome(ctx: Context, guild_id: GuildId, body: ModifyGuildHome) -> GuildHome:
    """Change, enable or disable the new member welcome."""
    return await operations.modify_home(ctx, body)
