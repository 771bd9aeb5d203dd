"""What other rooms call: commands are deleted with their application, and those of a guild with its integration."""

from moothall.api.context import Context
from moothall.objects.ids import ApplicationId, GuildId
from moothall.resources.application.operations import APPLICATION_CHANGED, APPLICATION_DELETING
from moothall.resources.integration.operations import INTEGRATION_DELETED
from moothall.resources.interaction.command import queries
from moothall.resources.interaction.command.operations import ensure_entry_point


async def _delete_in_guild(ctx: Context, guild_id: GuildId, application_id: ApplicationId) -> None:
    await queries.delete_all_in_guild(ctx.tx, application_id, guild_id)


async def _delete_all(ctx: Context, application_id: ApplicationId) -> None:
    await queries.delete_all_of_application(ctx.tx, application_id)


APPLICATION_CHANGED.register(ensure_entry_point)
INTEGRATION_DELETED.register(_delete_in_guild)
APPLICATION_DELETING.register(_delete_all)
