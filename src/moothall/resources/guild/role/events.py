"""The gateway events of roles (api.md, Events)."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.objects.ids import GuildId, RoleId
from moothall.objects.intents import Intent
from moothall.objects.role import Role


class GuildRoleCreate(Event, frozen=True, kw_only=True):
    """GUILD_ROLE_CREATE: a role was created at position 1. Others stay: of equal positions the newest is lowest."""

    name: ClassVar[str] = "GUILD_ROLE_CREATE"
    intent: ClassVar[int] = Intent.GUILDS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.ROLE,)
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    role: Role

    def changed_row(self) -> RoleId:
        """The role."""
        return self.role.id

    def changed_role(self) -> Role:
        """The role."""
        return self.role


class GuildRoleUpdate(Event, frozen=True, kw_only=True):
    """GUILD_ROLE_UPDATE: a role or its position has changed."""

    name: ClassVar[str] = "GUILD_ROLE_UPDATE"
    intent: ClassVar[int] = Intent.GUILDS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.ROLE,)
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    role: Role

    def changed_row(self) -> RoleId:
        """The role."""
        return self.role.id

    def changed_role(self) -> Role:
        """The role."""
        return self.role


class GuildRoleDelete(Event, frozen=True, kw_only=True):
    """GUILD_ROLE_DELETE: a role was deleted, and removed from its members and emojis."""

    name: ClassVar[str] = "GUILD_ROLE_DELETE"
    intent: ClassVar[int] = Intent.GUILDS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.ROLE, GuildPart.EMOJIS)
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    role_id: RoleId

    def changed_row(self) -> RoleId:
        """The role."""
        return self.role_id
