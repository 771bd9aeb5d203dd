"""Integrations over HTTP (api.md, Other guild endpoints)."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import get
from moothall.objects import limits
from moothall.objects.ids import GuildId
from moothall.objects.integration import Integration
from moothall.objects.permissions import Permissions
from moothall.resources.integration import queries
from moothall.resources.integration.objects import integration_objects


@get("/guilds/{guild_id}/integrations", permission=Permissions.MANAGE_GUILD)
async def get_guild_integrations(ctx: Context, guild_id: GuildId) -> list[Integration]:
    """List a guild's integrations, oldest first; at most 50, what is beyond cannot be reached."""
    rows = await queries.select_of_guild(ctx.tx, guild_id, limits.GUILD_INTEGRATIONS_LISTED)
    return await integration_objects(ctx.tx, rows)
