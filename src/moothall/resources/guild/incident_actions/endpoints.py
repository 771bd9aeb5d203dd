"""Incident actions over HTTP (api.md, Other guild endpoints)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.api.context import Context
from moothall.api.endpoint import put
from moothall.objects.guild import IncidentsData
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.incident_actions import operations


class ModifyIncidentActions(Struct, frozen=True, kw_only=True):
    """The ends of the pauses of invites and direct messages: null ends a pause now, an absent one stays."""

    invites_disabled_until: Timestamp | UnsetType | None = UNSET
    dms_disabled_until: Timestamp | UnsetType | None = UNSET


@put("/guilds/{guild_id}/incident-actions", permission=Permissions.MANAGE_GUILD, fires=(GuildUpdate,))
async def modify_guild_incident_actions(ctx: Context, guild_id: GuildId, body: ModifyIncidentActions) -> IncidentsData:
    """Pause a guild's invites or direct messages for at most a day, or end a pause."""
    return await operations.modify_incident_actions(
        ctx, invites_disabled_until=body.invites_disabled_until, dms_disabled_until=body.dms_disabled_until
    )
