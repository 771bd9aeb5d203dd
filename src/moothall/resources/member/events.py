"""What members announce (api.md, Events)."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import to_plain


class GuildMemberAdd(Event, frozen=True, kw_only=True):
    """GUILD_MEMBER_ADD: someone joined. The one who joined hears GUILD_CREATE instead."""

    name: ClassVar[str] = "GUILD_MEMBER_ADD"
    intent: ClassVar[int] = Intent.GUILD_MEMBERS
    guild_id: GuildId
    member: Member

    def payload(self) -> object:
        """The member with its guild's id."""
        return {**to_plain(self.member), "guild_id": str(int(self.guild_id))}


class GuildMemberUpdate(Event, frozen=True, kw_only=True):
    """GUILD_MEMBER_UPDATE: the whole member as it is now, so that nothing has to be remembered to read it."""

    name: ClassVar[str] = "GUILD_MEMBER_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_MEMBERS
    guild_id: GuildId
    member: Member

    def payload(self) -> object:
        """The member with its guild's id."""
        return {**to_plain(self.member), "guild_id": str(int(self.guild_id))}


class GuildMemberRemove(Event, frozen=True, kw_only=True):
    """GUILD_MEMBER_REMOVE: someone left, was kicked, banned or pruned."""

    name: ClassVar[str] = "GUILD_MEMBER_REMOVE"
    intent: ClassVar[int] = Intent.GUILD_MEMBERS
    guild_id: GuildId
    user: User


class GuildOpen(Event, frozen=True, kw_only=True):
    """To the gateway nodes: someone came into a guild, so that their sessions hear GUILD_CREATE and what follows."""

    name: ClassVar[str] = "GUILD_OPEN"
    audience: ClassVar[Audience] = Audience.NODE
    user_id: UserId
    guild_id: GuildId

    def payload(self) -> object:
        """Ids as the numbers that nodes read: nothing here goes to a client."""
        return {"user_id": int(self.user_id), "guild_id": int(self.guild_id)}
