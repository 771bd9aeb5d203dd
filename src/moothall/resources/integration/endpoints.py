"""Integrations over HTTP (api.md, Other guild endpoints)."""

from moothall.api.context import Context
from moothall.api.endpoint import delete, get
from moothall.objects import limits
from moothall.objects.ids import GuildId, IntegrationId
from moothall.objects.integration import Integration
from moothall.objects.permissions import Permissions
from moothall.resources.integration import operations, queries
from moothall.resources.integration.objects import integration_objects


@get("/guilds/{guild_id}/integrations", permission=Permissions.MANAGE_GUILD)
async def get_guild_integrations(ctx: Context, guild_id: GuildId) -> list[Integration]:
    """List a guild's oldest 50 integrations, oldest first. There are no further pages."""
    rows = await queries.select_of_guild(ctx.tx, guild_id, limits.GUILD_INTEGRATIONS_LISTED)
    return await integration_objects(ctx.tx, rows)


@delete(
    "/guilds/{guild_id}/integrations/{integration_id}",
    permission=Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=operations.REMOVE_INTEGRATION_EVENTS,
)
async def delete_guild_integration(ctx: Context, guild_id: GuildId, integration_id: IntegrationId) -> None:
    """Delete an integration: its bot is kicked, its webhooks and its role are deleted."""
    await operations.remove_integration(ctx, integration_id)
