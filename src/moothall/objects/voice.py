"""Voice states and regions (resources: voice)."""

from collections.abc import Collection
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.features import Feature
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.member import Member
from moothall.objects.wire import Timestamp


class VoiceState(Struct, frozen=True, kw_only=True):
    """A user's voice state; a null `channel_id` means that the user disconnected.

    `guild_id` and `member` are absent in a guild's own list of states.
    """

    guild_id: GuildId | UnsetType = UNSET
    channel_id: ChannelId | None
    user_id: UserId
    member: Member | UnsetType = UNSET
    session_id: str
    deaf: bool = False
    mute: bool = False
    self_deaf: bool = False
    self_mute: bool = False
    self_stream: bool | UnsetType = UNSET
    self_video: bool = False
    suppress: bool = False
    request_to_speak_timestamp: Timestamp | None = None
    connected_at: int | UnsetType = UNSET
    """When the user entered voice in the guild, in seconds since the Unix epoch."""


class VoiceRegion(Struct, frozen=True, kw_only=True):
    """A region of voice channels."""

    id: str
    name: str
    optimal: bool = False
    deprecated: bool = False
    custom: bool = False


REGIONS: Final = (VoiceRegion(id="local", name="Local", optimal=True),)
"""The only region, as media is not distributed."""
VIP_REGIONS: Final = (VoiceRegion(id="vip-local", name="VIP Local"),)
"""A further name for it, for guilds with the feature VIP_REGIONS."""


def regions_of(features: Collection[str]) -> tuple[VoiceRegion, ...]:
    """The regions that voice channels of a guild can use, by the guild's features."""
    return (*REGIONS, *VIP_REGIONS) if Feature.VIP_REGIONS in features else REGIONS
