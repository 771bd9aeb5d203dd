"""Profiles of guilds over HTTP (resources: guild profile)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import get, patch
from moothall.objects.guild_profile import GuildProfile
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.profile import operations
from moothall.resources.guild.profile.requests import ModifyGuildProfile


@get("/guilds/{guild_id}/profile", permission=MEMBER)
async def get_guild_profile(ctx: Context, guild_id: GuildId) -> GuildProfile:
    """Get the profile of a guild: its tag and badge, its names and numbers."""
    return await operations.get_profile(ctx)


@patch("/guilds/{guild_id}/profile", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild_profile(ctx: Context, guild_id: GuildId, body: ModifyGuildProfile) -> GuildProfile:
    """Change the profile of a guild. A tag needs the feature GUILD_TAGS; members who wear it choose a new one anew."""
    return await operations.modify_profile(ctx, body)
