"""The gateway events of guilds (api.md, Events)."""

from typing import ClassVar

from msgspec import structs

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.objects.guild import GatewayGuild, Guild, UnavailableGuild
from moothall.objects.guild_profile import GuildIdentity
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent


class GuildUpdate(Event, frozen=True, kw_only=True):
    """GUILD_UPDATE: the whole changed guild, without counts."""

    name: ClassVar[str] = "GUILD_UPDATE"
    intent: ClassVar[int] = Intent.GUILDS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.SETTINGS,)
    changes_view: ClassVar[bool] = True
    guild: Guild
    identity: GuildIdentity | None
    """The tag that members may wear."""

    @property
    def guild_id(self) -> GuildId:
        """The changed guild's id."""
        return self.guild.id

    def payload(self) -> object:
        """The guild, with its id as `guild_id` too."""
        return GatewayGuild(guild_id=self.guild.id, profile=self.identity, **structs.asdict(self.guild))


class GuildDelete(Event, frozen=True, kw_only=True):
    """GUILD_DELETE: the guild was deleted. Without `unavailable`, which would tell clients to expect it again."""

    name: ClassVar[str] = "GUILD_DELETE"
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId

    def payload(self) -> object:
        """An unavailable guild with only its id."""
        return UnavailableGuild(id=self.guild_id)
