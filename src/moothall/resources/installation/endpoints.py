"""Ending integrations and applications over HTTP (api.md, Other guild endpoints). Adding bots: `oauth2`."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete
from moothall.objects.ids import ApplicationId, GuildId, IntegrationId
from moothall.objects.permissions import Permissions
from moothall.resources.application.access import OWNER, application_of
from moothall.resources.installation import deleting, operations
from moothall.resources.installation.deleting import DELETING
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


@delete("/applications/{application_id}", permission=OWNER, fires=DELETING, writes=False)
async def delete_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete an application with its bot, which leaves every guild."""
    await deleting.delete_application(ctx, application_of(ctx))
