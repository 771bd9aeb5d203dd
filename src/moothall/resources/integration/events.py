"""What integrations announce (api.md, Events)."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.kernel.events import Event
from moothall.objects.ids import ApplicationId, GuildId, IntegrationId
from moothall.objects.intents import Intent


class GuildIntegrationsUpdate(Event, frozen=True, kw_only=True):
    """GUILD_INTEGRATIONS_UPDATE: the guild's integrations are not what they were."""

    name: ClassVar[str] = "GUILD_INTEGRATIONS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    guild_id: GuildId


class IntegrationDelete(Event, frozen=True, kw_only=True):
    """INTEGRATION_DELETE: an integration has ended."""

    name: ClassVar[str] = "INTEGRATION_DELETE"
    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    id: IntegrationId
    guild_id: GuildId
    application_id: ApplicationId | UnsetType = UNSET
