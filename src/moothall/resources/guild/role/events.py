"""The gateway events of roles (api.md, Events)."""

from typing import ClassVar

from moothall.kernel.events import Event
from moothall.objects.ids import GuildId, RoleId
from moothall.objects.intents import Intent
from moothall.objects.role import Role


class GuildRoleCreate(Event, frozen=True, kw_only=True):
    """GUILD_ROLE_CREATE: a role was created at position 1. Others stay: of equal positions the newest is lowest."""

    name: ClassVar[str] = "GUILD_ROLE_CREATE"
    intent: ClassVar[int] = Intent.GUILDS
    invalidates_guild: ClassVar[bool] = True
    guild_id: GuildId
    role: Role


class GuildRoleUpdate(Event, frozen=True, kw_only=True):
    """GUILD_ROLE_UPDATE: a role or its position has changed."""

    name: ClassVar[str] = "GUILD_ROLE_UPDATE"
    intent: ClassVar[int] = Intent.GUILDS
    invalidates_guild: ClassVar[bool] = True
    guild_id: GuildId
    role: Role


class GuildRoleDelete(Event, frozen=True, kw_only=True):
    """GUILD_ROLE_DELETE: a role was deleted, and removed from its members."""

    name: ClassVar[str] = "GUILD_ROLE_DELETE"
    intent: ClassVar[int] = Intent.GUILDS
    invalidates_guild: ClassVar[bool] = True
    guild_id: GuildId
    role_id: RoleId
