"""Live stages (resources: stage instance, invite)."""

from enum import IntEnum

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, StageInstanceId
from moothall.objects.member import Member


class StagePrivacyLevel(IntEnum):
    """The visibility of a live stage."""

    PUBLIC = 1
    GUILD_ONLY = 2


class StageInstance(Struct, frozen=True, kw_only=True):
    """The live stage of a stage channel."""

    id: StageInstanceId
    guild_id: GuildId
    channel_id: ChannelId
    topic: str
    privacy_level: int
    discoverable_disabled: bool
    guild_scheduled_event_id: ScheduledEventId | None


class InviteStageInstance(Struct, frozen=True, kw_only=True):
    """The stage instance object of invites to its channel; `members` are the speakers."""

    members: list[Member]
    participant_count: int
    speaker_count: int
    topic: str
