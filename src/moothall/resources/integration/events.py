"""What integrations announce (api.md, Events)."""

from typing import ClassVar

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.events import Event
from moothall.objects.ids import ApplicationId, GuildId, IntegrationId
from moothall.objects.integration import Integration
from moothall.objects.intents import Intent
from moothall.objects.wire import to_plain


class GuildIntegrationsUpdate(Event, frozen=True, kw_only=True):
    """GUILD_INTEGRATIONS_UPDATE: the guild's integrations are not what they were."""

    name: ClassVar[str] = "GUILD_INTEGRATIONS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    guild_id: GuildId


class _WholeIntegration(Event, frozen=True, kw_only=True):
    """The integration as it is now."""

    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    guild_id: GuildId
    integration: Integration

    def payload(self) -> object:
        """The integration, without who added it, with its guild's id."""
        return {**to_plain(structs.replace(self.integration, user=UNSET)), "guild_id": str(int(self.guild_id))}


class IntegrationCreate(_WholeIntegration, frozen=True, kw_only=True):
    """INTEGRATION_CREATE: an integration is there."""

    name: ClassVar[str] = "INTEGRATION_CREATE"


class IntegrationUpdate(_WholeIntegration, frozen=True, kw_only=True):
    """INTEGRATION_UPDATE: an integration has another name, or other scopes."""

    name: ClassVar[str] = "INTEGRATION_UPDATE"


class IntegrationDelete(Event, frozen=True, kw_only=True):
    """INTEGRATION_DELETE: an integration has ended."""

    name: ClassVar[str] = "INTEGRATION_DELETE"
    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    id: IntegrationId
    guild_id: GuildId
    application_id: ApplicationId | UnsetType = UNSET
