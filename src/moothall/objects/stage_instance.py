"""Stages that are live (resources: stage instance, invite)."""

from enum import IntEnum

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, StageInstanceId
from moothall.objects.member import Member


class StagePrivacyLevel(IntEnum):
    """Who may know of a live stage."""

    PUBLIC = 1
    GUILD_ONLY = 2


class StageInstance(Struct, frozen=True, kw_only=True):
    """A stage channel that is live."""

    id: StageInstanceId
    guild_id: GuildId
    channel_id: ChannelId
    topic: str
    privacy_level: int
    discoverable_disabled: bool
    guild_scheduled_event_id: ScheduledEventId | None


class InviteStageInstance(Struct, frozen=True, kw_only=True):
    """A public stage as invites to its channel tell of it; `members` are those who speak."""

    members: list[Member]
    participant_count: int
    speaker_count: int
    topic: str
