"""Gateway events of application commands."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.command import CommandPermissions
from moothall.objects.ids import GuildId


class ApplicationCommandPermissionsUpdate(Event, frozen=True, kw_only=True):
    """APPLICATION_COMMAND_PERMISSIONS_UPDATE: a guild's new permissions for a command. Needs no intent."""

    name: ClassVar[str] = "APPLICATION_COMMAND_PERMISSIONS_UPDATE"
    audience: ClassVar[Audience] = Audience.GUILD
    guild_id: GuildId
    permissions: CommandPermissions

    def payload(self) -> object:
        """The permissions."""
        return self.permissions
