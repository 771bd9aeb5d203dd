"""Activities: their settings, their running instances, and where these run (resources: application)."""

import re
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from msgspec import UNSET, Struct, UnsetType, field

from moothall.objects.ids import ActivityInstanceId, ApplicationId, ChannelId, GuildId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.wire import Timestamp


class ActivityPlatform(StrEnum):
    """A platform that an Activity may support."""

    WEB = "web"
    ANDROID = "android"
    IOS = "ios"


class OrientationLock(IntEnum):
    """The screen orientations that an Activity allows."""

    UNLOCKED = 1
    PORTRAIT = 2
    LANDSCAPE = 3


class ActivityLabel(IntEnum):
    """A label of an Activity in the launcher."""

    NONE = 0
    NEW = 1
    UPDATED = 2


class ReleasePhase(StrEnum):
    """To whom an Activity is available on a platform."""

    IN_DEVELOPMENT = "in_development"
    """Its owner and their team."""
    GLOBAL_LAUNCH = "global_launch"
    """Everybody."""


class ActivitySurface(StrEnum):
    """A place that shows the label of an Activity."""

    VOICE_LAUNCHER = "voice_launcher"
    TEXT_LAUNCHER = "text_launcher"


class ActivityPlatformConfig(Struct, frozen=True, kw_only=True):
    """The release of an Activity on one platform."""

    label_type: ActivityLabel = ActivityLabel.NONE
    label_until: Timestamp | None = None
    release_phase: ReleasePhase = ReleasePhase.IN_DEVELOPMENT
    omit_badge_from_surfaces: list[ActivitySurface] = []


class EmbeddedActivityConfig(Struct, frozen=True, kw_only=True):
    """The settings of an Activity."""

    application_id: ApplicationId | UnsetType = UNSET
    """Absent in an application object."""
    activity_preview_video_asset_id: Snowflake | None = None
    supported_platforms: list[ActivityPlatform] = field(default_factory=lambda: [ActivityPlatform.WEB])
    default_orientation_lock_state: OrientationLock = OrientationLock.UNLOCKED
    tablet_default_orientation_lock_state: OrientationLock = OrientationLock.UNLOCKED
    requires_age_gate: bool = False
    legacy_responsive_aspect_ratio: bool = False
    premium_tier_requirement: int | None = None
    free_period_starts_at: Timestamp | None = None
    free_period_ends_at: Timestamp | None = None
    client_platform_config: dict[ActivityPlatform, ActivityPlatformConfig] = {}
    shelf_rank: int = 0
    has_csp_exception: bool = False
    displays_advertisements: bool = False
    supported_locales: list[str] = []
    """Country codes; an empty list means all."""
    blocked_locales: list[str] = []
    """Country codes."""

    def is_released_on(self, platform: ActivityPlatform) -> bool:
        """Whether the Activity is available to everybody on a platform."""
        config = self.client_platform_config.get(platform)
        return config is not None and config.release_phase is ReleasePhase.GLOBAL_LAUNCH

    @property
    def is_released(self) -> bool:
        """Whether the Activity is available to everybody on any platform."""
        return any(self.is_released_on(platform) for platform in ActivityPlatform)

    def is_available_in(self, country: str | None) -> bool:
        """Whether the Activity is available in a country; None for an unknown one."""
        return country not in self.blocked_locales and (not self.supported_locales or country in self.supported_locales)


class UrlMapping(Struct, frozen=True):
    """Requests below `prefix` of an Activity's origin go to `target`, a host with an optional port and path."""

    prefix: str
    target: str


class ApplicationProxyConfig(Struct, frozen=True):
    """The URL mappings of an application."""

    url_map: list[UrlMapping]


class LocationKind(StrEnum):
    """The kind of channel that an instance runs in."""

    GUILD_CHANNEL = "gc"
    PRIVATE_CHANNEL = "pc"


class ActivityLocation(Struct, frozen=True, kw_only=True):
    """Where an instance runs."""

    id: str
    kind: LocationKind
    channel_id: ChannelId
    guild_id: GuildId | UnsetType = UNSET


class ActivityParticipant(Struct, frozen=True, kw_only=True):
    """A user who takes part in an instance, and the gateway session of their client."""

    user_id: UserId
    member: Member | UnsetType = UNSET
    session_id: str
    nonce: str | None = None


class EmbeddedActivityInstance(Struct, frozen=True, kw_only=True):
    """A running Activity, as the gateway announces it. Without participants it has ended."""

    application_id: ApplicationId
    composite_instance_id: str
    instance_id: ActivityInstanceId
    launch_id: ActivityInstanceId
    location: ActivityLocation
    participants: list[ActivityParticipant]

    def update(self) -> "EmbeddedActivityUpdateObject":
        """The instance as EMBEDDED_ACTIVITY_UPDATE has it."""
        user_ids = [participant.user_id for participant in self.participants]
        return EmbeddedActivityUpdateObject(
            channel_id=self.location.channel_id,
            guild_id=self.location.guild_id,
            embedded_activity=EmbeddedActivity(application_id=self.application_id, activity_id=self.launch_id),
            connections=[ActivityConnection(user_id=user_id) for user_id in user_ids],
            users=user_ids,
        )


class EmbeddedActivity(Struct, frozen=True, kw_only=True):
    """The application of an instance and the id of its launch."""

    application_id: ApplicationId
    activity_id: ActivityInstanceId


class ActivityConnectionMetadata(Struct, frozen=True):
    """What a participant may do: each may have launched the Activity."""

    is_eligible_host: bool = True


class ActivityConnection(Struct, frozen=True, kw_only=True):
    """A user who takes part in an instance."""

    user_id: UserId
    metadata: ActivityConnectionMetadata = ActivityConnectionMetadata()


class EmbeddedActivityUpdateObject(Struct, frozen=True, kw_only=True):
    """A running Activity in the first version of its event. Without connections it has ended.

    There is no `update_code`: the meaning of its values is not public.
    """

    channel_id: ChannelId
    guild_id: GuildId | UnsetType = UNSET
    embedded_activity: EmbeddedActivity
    connections: list[ActivityConnection]
    users: list[UserId]


class ActivityInstanceObject(Struct, frozen=True, kw_only=True):
    """A running Activity, as its application reads it."""

    application_id: ApplicationId
    instance_id: str
    launch_id: ActivityInstanceId
    location: ActivityLocation
    users: list[UserId]


class InstanceReference(NamedTuple):
    """The parts of a composite instance id."""

    instance_id: ActivityInstanceId
    guild_id: GuildId | None
    channel_id: ChannelId

    def wire(self) -> str:
        """The composite id, such as `i-12-gc-3-4`."""
        return f"i-{int(self.instance_id)}-{location_of(self.guild_id, self.channel_id).id}"


_COMPOSITE: Final = re.compile(r"i-(\d{1,20})-(.+)")
_LOCATION: Final = re.compile(r"(?:gc-(\d{1,20})|pc)-(\d{1,20})")


def location_of(guild_id: GuildId | None, channel_id: ChannelId) -> ActivityLocation:
    """The location of a channel; `guild_id` is None for a direct message."""
    if guild_id is None:
        return ActivityLocation(
            id=f"pc-{int(channel_id)}", kind=LocationKind.PRIVATE_CHANNEL, channel_id=channel_id, guild_id=UNSET
        )
    return ActivityLocation(
        id=f"gc-{int(guild_id)}-{int(channel_id)}",
        kind=LocationKind.GUILD_CHANNEL,
        channel_id=channel_id,
        guild_id=guild_id,
    )


def read_location(text: str) -> tuple[GuildId | None, ChannelId] | None:
    """The guild and channel of a location's id; None for a text that is none."""
    match = _LOCATION.fullmatch(text)
    if match is None or int(match[2]) >= 1 << 63 or int(match[1] or 0) >= 1 << 63:
        return None
    guild_id = None if match[1] is None else GuildId(Snowflake(int(match[1])))
    return guild_id, ChannelId(Snowflake(int(match[2])))


def read_instance_id(text: str) -> InstanceReference | None:
    """The parts of a composite instance id; None for a text that is none."""
    match = _COMPOSITE.fullmatch(text)
    location = None if match is None else read_location(match[2])
    if match is None or location is None or int(match[1]) >= 1 << 63:
        return None
    return InstanceReference(ActivityInstanceId(Snowflake(int(match[1]))), *location)
