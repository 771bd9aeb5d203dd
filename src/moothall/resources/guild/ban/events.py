"""The gateway events of bans (api.md, Events)."""

from typing import ClassVar

from moothall.kernel.events import Event
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent
from moothall.objects.user import User


class GuildBanAdd(Event, frozen=True, kw_only=True):
    """GUILD_BAN_ADD: a user was banned, whether or not they were a member."""

    name: ClassVar[str] = "GUILD_BAN_ADD"
    intent: ClassVar[int] = Intent.GUILD_MODERATION
    guild_id: GuildId
    user: User


class GuildBanRemove(Event, frozen=True, kw_only=True):
    """GUILD_BAN_REMOVE: a user was unbanned."""

    name: ClassVar[str] = "GUILD_BAN_REMOVE"
    intent: ClassVar[int] = Intent.GUILD_MODERATION
    guild_id: GuildId
    user: User
