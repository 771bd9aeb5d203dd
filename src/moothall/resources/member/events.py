"""The gateway events of members (api.md, Events)."""

from typing import ClassVar

from msgspec import Struct

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import to_plain


class GuildMemberAdd(Event, frozen=True, kw_only=True):
    """GUILD_MEMBER_ADD: a user joined. Their own sessions receive GUILD_CREATE instead."""

    name: ClassVar[str] = "GUILD_MEMBER_ADD"
    intent: ClassVar[int] = Intent.GUILD_MEMBERS
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    member: Member

    def payload(self) -> object:
        """The member with its guild's id."""
        return {**to_plain(self.member), "guild_id": str(int(self.guild_id))}

    def only_in_guild(self) -> None:
        """None: the gateway also lets the member's own sessions join the guild by it."""


class GuildMemberUpdate(Event, frozen=True, kw_only=True):
    """GUILD_MEMBER_UPDATE: the whole changed member, not only the fields that differ."""

    name: ClassVar[str] = "GUILD_MEMBER_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_MEMBERS
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    member: Member

    def payload(self) -> object:
        """The member with its guild's id."""
        return {**to_plain(self.member), "guild_id": str(int(self.guild_id))}


class GuildMemberRemove(Event, frozen=True, kw_only=True):
    """GUILD_MEMBER_REMOVE: a member left, or was kicked, banned or pruned."""

    name: ClassVar[str] = "GUILD_MEMBER_REMOVE"
    intent: ClassVar[int] = Intent.GUILD_MEMBERS
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    user: User

    def payload(self) -> object:
        """The user with the guild's id."""
        return _Removed(self.guild_id, self.user)


class _Removed(Struct, frozen=True):
    guild_id: GuildId
    user: User


class GuildOpen(Event, frozen=True, kw_only=True):
    """For gateway nodes: a user joined a guild, so their sessions receive GUILD_CREATE and subscribe to its events."""

    name: ClassVar[str] = "GUILD_OPEN"
    audience: ClassVar[Audience] = Audience.NODE
    user_id: UserId
    guild_id: GuildId

    def payload(self) -> object:
        """The ids as numbers, which nodes read. Nothing of it is sent to clients."""
        return {"user_id": int(self.user_id), "guild_id": int(self.guild_id)}
