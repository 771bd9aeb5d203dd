"""Invites (api.md, Invite objects)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.application import Application
from moothall.objects.channel import PartialChannel
from moothall.objects.guild import InviteGuild
from moothall.objects.ids import GuildId, RoleId
from moothall.objects.role import RoleColors
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.objects.stage_instance import InviteStageInstance
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class InviteType(IntEnum):
    """The type of an invite."""

    GUILD = 0
    GROUP_DM = 1
    FRIEND = 2


class InviteTargetType(IntEnum):
    """The target of an invite to a voice channel."""

    STREAM = 1
    EMBEDDED_APPLICATION = 2


class InviteFlags:
    """The bits of an invite's `flags`."""

    IS_GUEST_INVITE: Final = 1 << 0


class InviteRole(Struct, frozen=True, kw_only=True):
    """A role that an invite grants."""

    id: RoleId
    name: str
    position: int
    color: int
    colors: RoleColors
    icon: str | None
    unicode_emoji: str | None


class Invite(Struct, frozen=True, kw_only=True):
    """An invite, identified by its code. The two counts are present only if requested."""

    type: int = InviteType.GUILD
    code: str
    guild_id: GuildId | UnsetType = UNSET
    guild: InviteGuild | UnsetType = UNSET
    channel: PartialChannel | None
    inviter: User | UnsetType = UNSET
    target_type: int | UnsetType = UNSET
    target_user: User | UnsetType = UNSET
    target_application: Application | UnsetType = UNSET
    approximate_presence_count: int | UnsetType = UNSET
    approximate_member_count: int | UnsetType = UNSET
    expires_at: Timestamp | None
    guild_scheduled_event: ScheduledEvent | UnsetType = UNSET
    stage_instance: InviteStageInstance | UnsetType = UNSET
    flags: int | UnsetType = UNSET
    roles: list[InviteRole] | UnsetType = UNSET


class InviteMetadata(Invite, frozen=True, kw_only=True):
    """An invite with the fields for users who may manage it. `max_age` is in seconds; 0 never expires."""

    uses: int
    max_uses: int
    max_age: int
    temporary: bool
    created_at: Timestamp


class TargetUsersJobState(IntEnum):
    """The status of the processing of an invite's target users."""

    UNSPECIFIED = 0
    PROCESSING = 1
    COMPLETED = 2
    FAILED = 3


class TargetUsersJob(Struct, frozen=True, kw_only=True):
    """How far the processing of an invite's target users is."""

    status: TargetUsersJobState
    total_users: int
    processed_users: int
    created_at: Timestamp | None
    completed_at: Timestamp | None
    error_message: str | None = None
