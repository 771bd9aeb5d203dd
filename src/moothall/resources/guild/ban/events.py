"""The gateway events of bans (api.md, Events)."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.user import User


class _BanEvent(Event, frozen=True, kw_only=True):
    """An event for members with BAN_MEMBERS or VIEW_AUDIT_LOG."""

    intent: ClassVar[int] = Intent.GUILD_MODERATION
    permission: ClassVar[int] = Permissions.BAN_MEMBERS | Permissions.VIEW_AUDIT_LOG
    guild_id: GuildId
    user: User


class GuildBanAdd(_BanEvent, frozen=True, kw_only=True):
    """GUILD_BAN_ADD: a user was banned, whether or not they were a member."""

    name: ClassVar[str] = "GUILD_BAN_ADD"


class GuildBanRemove(_BanEvent, frozen=True, kw_only=True):
    """GUILD_BAN_REMOVE: a user was unbanned."""

    name: ClassVar[str] = "GUILD_BAN_REMOVE"
