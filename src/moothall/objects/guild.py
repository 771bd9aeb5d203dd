"""Guilds and their enumerations (api.md, Guild object)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.emoji import Emoji
from moothall.objects.guild_profile import GuildIdentity
from moothall.objects.ids import ApplicationId, ChannelId, EmojiId, GuildId, UserId
from moothall.objects.permissions import PermissionSet
from moothall.objects.role import Role
from moothall.objects.sticker import Sticker
from moothall.objects.wire import Timestamp


class DefaultMessageNotificationLevel(IntEnum):
    """The messages that members are notified of by default."""

    ALL_MESSAGES = 0
    ONLY_MENTIONS = 1


class ExplicitContentFilterLevel(IntEnum):
    """The members whose media are scanned."""

    DISABLED = 0
    MEMBERS_WITHOUT_ROLES = 1
    ALL_MEMBERS = 2


class MfaLevel(IntEnum):
    """Whether moderators need two-factor authentication."""

    NONE = 0
    ELEVATED = 1


class VerificationLevel(IntEnum):
    """The requirement for members without roles to send messages."""

    NONE = 0
    LOW = 1
    """A verified email address."""
    MEDIUM = 2
    """Registered for longer than 5 minutes."""
    HIGH = 3
    """A member for longer than 10 minutes."""
    VERY_HIGH = 4
    """A verified phone number."""


class NsfwLevel(IntEnum):
    """The age rating of a guild."""

    DEFAULT = 0
    EXPLICIT = 1
    SAFE = 2
    AGE_RESTRICTED = 3


class PremiumTier(IntEnum):
    """A guild's boost level."""

    NONE = 0
    TIER_1 = 1
    TIER_2 = 2
    TIER_3 = 3


class SystemChannelFlags:
    """The bits of `system_channel_flags`: system messages that are not sent."""

    SUPPRESS_JOIN_NOTIFICATIONS: Final = 1 << 0
    SUPPRESS_PREMIUM_SUBSCRIPTIONS: Final = 1 << 1
    SUPPRESS_GUILD_REMINDER_NOTIFICATIONS: Final = 1 << 2
    SUPPRESS_JOIN_NOTIFICATION_REPLIES: Final = 1 << 3
    SUPPRESS_ROLE_SUBSCRIPTION_PURCHASE_NOTIFICATIONS: Final = 1 << 4
    SUPPRESS_ROLE_SUBSCRIPTION_PURCHASE_NOTIFICATION_REPLIES: Final = 1 << 5

    ALL: Final = (1 << 6) - 1


class IncidentsData(Struct, frozen=True, kw_only=True):
    """Incident actions: until when invites and direct messages are disabled, and what was detected."""

    invites_disabled_until: Timestamp | None = None
    dms_disabled_until: Timestamp | None = None
    dm_spam_detected_at: Timestamp | None = None
    raid_detected_at: Timestamp | None = None


class WelcomeScreenChannel(Struct, frozen=True, kw_only=True):
    """A channel of the welcome screen with at most one emoji: a guild's by id, a standard emoji by name."""

    channel_id: ChannelId
    description: str
    emoji_id: EmojiId | None = None
    emoji_name: str | None = None


class WelcomeScreen(Struct, frozen=True, kw_only=True):
    """The welcome screen, shown to new members."""

    description: str | None
    welcome_channels: list[WelcomeScreenChannel]


class Guild(Struct, frozen=True, kw_only=True):
    """A guild. The two counts are present only if requested."""

    id: GuildId
    name: str
    icon: str | None = None
    description: str | None = None
    home_header: str | None = None
    splash: str | None = None
    discovery_splash: str | None = None
    features: list[str]
    banner: str | None = None
    owner_id: UserId
    application_id: ApplicationId | None = None
    region: str = "local"
    """Deprecated: channels have `rtc_region`."""
    afk_channel_id: ChannelId | None = None
    afk_timeout: int
    system_channel_id: ChannelId | None = None
    system_channel_flags: int = 0
    widget_enabled: bool = False
    widget_channel_id: ChannelId | None = None
    verification_level: int
    roles: list[Role]
    default_message_notifications: int
    mfa_level: int = MfaLevel.NONE
    explicit_content_filter: int
    max_presences: int | None = None
    max_members: int
    max_stage_video_channel_users: int
    max_video_channel_users: int
    vanity_url_code: str | None = None
    premium_tier: int = PremiumTier.NONE
    premium_subscription_count: int = 0
    preferred_locale: str
    rules_channel_id: ChannelId | None = None
    safety_alerts_channel_id: ChannelId | None = None
    public_updates_channel_id: ChannelId | None = None
    premium_progress_bar_enabled: bool = False
    nsfw: bool = False
    """Whether `nsfw_level` is EXPLICIT or AGE_RESTRICTED."""
    nsfw_level: int = NsfwLevel.DEFAULT
    emojis: list[Emoji]
    stickers: list[Sticker]
    incidents_data: IncidentsData | None = None
    approximate_member_count: int | UnsetType = UNSET
    approximate_presence_count: int | UnsetType = UNSET


class GatewayGuild(Guild, frozen=True, kw_only=True):
    """The guild object of GUILD_UPDATE, with fields that only the gateway sends."""

    profile: GuildIdentity | None
    """The tag that members may wear; null for none."""

    guild_id: GuildId
    """The same as `id`."""
    hub_type: int | None = None
    """The kind of student hub; there are none."""


class GuildPreview(Struct, frozen=True, kw_only=True):
    """The fields of a discoverable guild that non-members may read."""

    id: GuildId
    name: str
    icon: str | None
    splash: str | None
    discovery_splash: str | None
    emojis: list[Emoji]
    features: list[str]
    approximate_member_count: int
    approximate_presence_count: int
    description: str | None
    home_header: str | None = None
    stickers: list[Sticker]


class UserGuild(Struct, frozen=True, kw_only=True):
    """A guild in the caller's list of guilds, with their permissions in it (overwrites excluded)."""

    id: GuildId
    name: str
    icon: str | None
    banner: str | None
    owner: bool
    permissions: PermissionSet
    features: list[str]
    approximate_member_count: int | UnsetType = UNSET
    approximate_presence_count: int | UnsetType = UNSET


class InviteGuild(Struct, frozen=True, kw_only=True):
    """The guild object of invites; every key is always present."""

    id: GuildId
    name: str
    splash: str | None
    banner: str | None
    description: str | None
    icon: str | None
    features: list[str]
    verification_level: int
    vanity_url_code: str | None
    nsfw_level: int
    nsfw: bool
    premium_subscription_count: int
    premium_tier: int = PremiumTier.NONE
    welcome_screen: WelcomeScreen | UnsetType = UNSET


class PartialGuild(Struct, frozen=True, kw_only=True):
    """The guild object of interactions: id, features and locale."""

    id: GuildId
    features: list[str]
    locale: str


class UnavailableGuild(Struct, frozen=True, kw_only=True):
    """A guild that is unavailable during an outage. Without `unavailable` the user is no longer a member."""

    id: GuildId
    unavailable: bool | UnsetType = UNSET


class WidgetSettings(Struct, frozen=True, kw_only=True):
    """Whether a guild's widget is enabled, and the channel that it invites to."""

    enabled: bool
    channel_id: ChannelId | None


class VanityUrl(Struct, frozen=True, kw_only=True):
    """A guild's vanity invite code; null if it has none."""

    code: str | None
    uses: int
