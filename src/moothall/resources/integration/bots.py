"""What ends with a bot's membership: its integration, its webhooks and the role made for it."""

from typing import Final

from msgspec import UNSET

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires, Hook
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.resources.guild.role.operations import REMOVING, remove_role
from moothall.resources.integration.events import GuildIntegrationsUpdate, IntegrationDelete
from moothall.resources.integration.queries import delete_integration, select_of_bot
from moothall.resources.webhook.operations import DELETE_WEBHOOK_EVENTS, delete_webhooks_of_bot

INTEGRATION_DELETED: Final = Hook[[Context, GuildId, ApplicationId], None]("integration deleted")
"""What else ends with the integration of an application in a guild."""
RETIRING: Final[Fires] = (
    *REMOVING,
    *DELETE_WEBHOOK_EVENTS,
    IntegrationDelete,
    GuildIntegrationsUpdate,
    INTEGRATION_DELETED,
)
"""What a row declares to fire if it may take a bot out of a guild."""


async def retire_bot(ctx: Context, guild_id: GuildId, bot_id: UserId) -> None:
    """End a bot's integrations in a guild, remove its managed role and its webhooks; nothing the second time."""
    if not ctx.in_guild or ctx.guild.id != guild_id:
        await ctx.visit_guild(guild_id)
    for role in [r for r in ctx.guild.roles.values() if r.managed and r.tags is not UNSET and r.tags.bot_id == bot_id]:
        await remove_role(ctx, role)
    await delete_webhooks_of_bot(ctx, guild_id, bot_id)
    ended = False
    for row in await select_of_bot(ctx.tx, guild_id, bot_id):
        if row.application_id is not None:
            await INTEGRATION_DELETED(ctx, guild_id, row.application_id)
        if await delete_integration(ctx.tx, guild_id, row.id):
            ended = True
            changes = differences(row, None, ("name", "type"))
            await ctx.audit(AuditLogEvent.INTEGRATION_DELETE, target=row.id, changes=changes, guild_id=guild_id)
            application_id = UNSET if row.application_id is None else row.application_id
            ctx.emit(IntegrationDelete(id=row.id, guild_id=guild_id, application_id=application_id))
    if ended:
        ctx.emit(GuildIntegrationsUpdate(guild_id=guild_id))
