"""Ending integrations over HTTP (api.md, Other guild endpoints). Adding bots: the rows of `oauth2`."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete
from moothall.objects.ids import GuildId, IntegrationId
from moothall.objects.permissions import Permissions
from moothall.resources.installation import operations
from moothall.resources.installation.operations import ENDING


@delete(
    "/guilds/{guild_id}/integrations/{integration_id}",
    permission=Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=ENDING,
)
async def delete_guild_integration(ctx: Context, guild_id: GuildId, integration_id: IntegrationId) -> None:
    """End an integration: its bot is kicked, its webhooks and its role are deleted."""
    await operations.remove_integration(ctx, integration_id)
