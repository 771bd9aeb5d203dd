"""The gateway events of invites, for members with MANAGE_CHANNELS in the channel (events: gateway events, invites)."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.application import Application
from moothall.objects.ids import ChannelId, GuildId, RoleId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class _InviteEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_INVITES
    permission: ClassVar[int] = Permissions.MANAGE_CHANNELS
    channel_id: ChannelId
    guild_id: GuildId
    code: str


class InviteCreate(_InviteEvent, frozen=True, kw_only=True):
    """INVITE_CREATE: an invite was created; `uses` is always 0."""

    name: ClassVar[str] = "INVITE_CREATE"
    type: int
    created_at: Timestamp
    inviter: User | UnsetType = UNSET
    max_age: int
    max_uses: int
    target_type: int | UnsetType = UNSET
    target_user: User | UnsetType = UNSET
    target_application: Application | UnsetType = UNSET
    temporary: bool
    uses: int = 0
    expires_at: Timestamp | None
    flags: int = 0
    role_ids: list[RoleId] | UnsetType = UNSET


class InviteDelete(_InviteEvent, frozen=True, kw_only=True):
    """INVITE_DELETE: an invite was deleted, or used for the last time. Not sent for an invite that expires."""

    name: ClassVar[str] = "INVITE_DELETE"
