"""The gateway events of integrations (api.md, Events)."""

from typing import ClassVar

from msgspec import UNSET, UnsetType, structs

from moothall.api.events import Event
from moothall.objects.ids import ApplicationId, GuildId, IntegrationId
from moothall.objects.integration import Integration
from moothall.objects.intents import Intent
from moothall.objects.wire import to_plain


class GuildIntegrationsUpdate(Event, frozen=True, kw_only=True):
    """GUILD_INTEGRATIONS_UPDATE: an integration of the guild was created, changed or deleted."""

    name: ClassVar[str] = "GUILD_INTEGRATIONS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    guild_id: GuildId


class _IntegrationEvent(Event, frozen=True, kw_only=True):
    """An event that carries the whole integration."""

    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    guild_id: GuildId
    integration: Integration

    def payload(self) -> object:
        """The integration with its guild's id, without the user who added it."""
        return {**to_plain(structs.replace(self.integration, user=UNSET)), "guild_id": str(int(self.guild_id))}


class IntegrationCreate(_IntegrationEvent, frozen=True, kw_only=True):
    """INTEGRATION_CREATE: an integration was created."""

    name: ClassVar[str] = "INTEGRATION_CREATE"


class IntegrationUpdate(_IntegrationEvent, frozen=True, kw_only=True):
    """INTEGRATION_UPDATE: an integration's name or scopes have changed."""

    name: ClassVar[str] = "INTEGRATION_UPDATE"


class IntegrationDelete(Event, frozen=True, kw_only=True):
    """INTEGRATION_DELETE: an integration was deleted."""

    name: ClassVar[str] = "INTEGRATION_DELETE"
    intent: ClassVar[int] = Intent.GUILD_INTEGRATIONS
    id: IntegrationId
    guild_id: GuildId
    application_id: ApplicationId | UnsetType = UNSET
