"""Whom a message notifies, decided without I/O."""

from typing import Final

from msgspec import Struct

from moothall.authority.channel_access import ChannelAccess
from moothall.authority.guild_state import GuildState
from moothall.authority.member_authority import build_authority
from moothall.objects.channel import ThreadMemberFlags
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, MessageId, RoleId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.user_settings import UserGuildSettings, is_mute_in_force
from moothall.objects.wire import Timestamp
from moothall.resources.push.queries import SubscribedMember, ThreadSettings

_NOTHING: Final = 2
_DEFAULT: Final = 3


class Notice(Struct, frozen=True, kw_only=True):
    """A message that may notify users."""

    access: ChannelAccess
    message_id: MessageId
    author_id: UserId
    user_ids: frozenset[UserId]
    """The users that it mentions, or the recipients of a direct message."""
    role_ids: frozenset[RoleId] = frozenset()
    everyone: bool = False
    title: str
    body: str

    @property
    def channel_ids(self) -> frozenset[ChannelId | None]:
        """The channels whose settings apply: the thread, the channel, the category."""
        access = self.access
        above = access.channel if access.parent is None else access.parent
        return frozenset({access.id, above.id, above.parent_id or None})


def mentions_member(notice: Notice, member: SubscribedMember, settings: UserGuildSettings) -> bool:
    """Whether a message mentions a member in a way that their settings do not suppress."""
    if member.user_id in notice.user_ids:
        return True
    if notice.everyone and not settings.suppress_everyone:
        return True
    return not settings.suppress_roles and not notice.role_ids.isdisjoint(member.roles)


def may_view(notice: Notice, member: SubscribedMember, state: GuildState, now: Timestamp) -> bool:
    """Whether a member sees the channel of a message."""
    access = notice.access
    if access.channel.type == ChannelType.PRIVATE_THREAD and member.user_id not in access.recipients:
        return False
    authority = build_authority(
        state,
        member.user_id,
        member.roles,
        pending=member.pending,
        until=member.communication_disabled_until,
        flags=member.flags,
        now=now,
        guest_of=member.guest_channel_id,
    )
    channel = access.channel if access.parent is None else access.parent
    return bool(authority.permissions_in(channel) & Permissions.VIEW_CHANNEL)


def is_silenced(notice: Notice, settings: UserGuildSettings, now: Timestamp) -> bool:
    """Whether a user's settings keep a message of a guild or of direct messages from notifying them."""
    if not settings.mobile_push or (settings.muted and is_mute_in_force(settings.mute_config, now)):
        return True
    level = settings.message_notifications
    for override in settings.channel_overrides:
        if override.channel_id in notice.channel_ids:
            if override.is_muted(now):
                return True
            if override.message_notifications != _DEFAULT:
                level = override.message_notifications
    return level == _NOTHING


def is_thread_silenced(settings: ThreadSettings, now: Timestamp) -> bool:
    """Whether a member of a thread has muted it, or wants no messages of it."""
    if settings.flags & ThreadMemberFlags.NO_MESSAGES:
        return True
    return settings.muted and is_mute_in_force(settings.mute_config, now)
