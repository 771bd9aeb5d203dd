"""Voice states and regions (resources: voice)."""

from collections.abc import Collection
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.features import Feature
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.member import Member
from moothall.objects.wire import Timestamp


class VoiceState(Struct, frozen=True, kw_only=True):
    """Someone's connection to voice; a null `channel_id` says that it ended.

    `guild_id` and `member` are absent inside a guild's own list of states.
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


class VoiceRegion(Struct, frozen=True, kw_only=True):
    """A region that a voice channel can be placed in."""

    id: str
    name: str
    optimal: bool = False
    deprecated: bool = False
    custom: bool = False


REGIONS: Final = (VoiceRegion(id="local", name="Local", optimal=True),)
"""Media stays on the server itself: there is one region."""
VIP_REGIONS: Final = (VoiceRegion(id="vip-local", name="VIP Local"),)
"""The same server, for guilds of the feature VIP_REGIONS."""


def regions_of(features: Collection[str]) -> tuple[VoiceRegion, ...]:
    """The regions that the voice channels of a guild with some features can be placed in."""
    return (*REGIONS, *VIP_REGIONS) if Feature.VIP_REGIONS in features else REGIONS
