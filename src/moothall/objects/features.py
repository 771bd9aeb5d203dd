"""Guild features (api.md, Guild enumerations)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from moothall.objects.permissions import Permissions


class Feature:
    """The features that change what the platform does; `ALL` has every public feature."""

    ANIMATED_BANNER: Final = "ANIMATED_BANNER"
    ANIMATED_ICON: Final = "ANIMATED_ICON"
    BANNER: Final = "BANNER"
    COMMUNITY: Final = "COMMUNITY"
    DISCOVERABLE: Final = "DISCOVERABLE"
    ENHANCED_ROLE_COLORS: Final = "ENHANCED_ROLE_COLORS"
    GUESTS_ENABLED: Final = "GUESTS_ENABLED"
    GUILD_TAGS: Final = "GUILD_TAGS"
    INVITES_DISABLED: Final = "INVITES_DISABLED"
    INVITE_SPLASH: Final = "INVITE_SPLASH"
    MEMBER_VERIFICATION_GATE_ENABLED: Final = "MEMBER_VERIFICATION_GATE_ENABLED"
    MORE_SOUNDBOARD: Final = "MORE_SOUNDBOARD"
    MORE_STICKERS: Final = "MORE_STICKERS"
    NEWS: Final = "NEWS"
    PARTNERED: Final = "PARTNERED"
    RAID_ALERTS_DISABLED: Final = "RAID_ALERTS_DISABLED"
    ROLE_ICONS: Final = "ROLE_ICONS"
    VANITY_URL: Final = "VANITY_URL"
    VERIFIED: Final = "VERIFIED"
    VIP_REGIONS: Final = "VIP_REGIONS"
    WELCOME_SCREEN_ENABLED: Final = "WELCOME_SCREEN_ENABLED"


ALL: Final = frozenset(
    {
        "ANIMATED_BANNER", "ANIMATED_ICON", "APPLICATION_COMMAND_PERMISSIONS_V2", "AUTO_MODERATION", "BANNER",
        "COMMUNITY", "CREATOR_MONETIZABLE_PROVISIONAL", "CREATOR_STORE_PAGE", "DEVELOPER_SUPPORT_SERVER",
        "DISCOVERABLE", "ENHANCED_ROLE_COLORS", "FEATURABLE", "GUESTS_ENABLED", "GUILD_TAGS", "INVITES_DISABLED",
        "INVITE_SPLASH", "MEMBER_VERIFICATION_GATE_ENABLED", "MORE_SOUNDBOARD", "MORE_STICKERS", "NEWS", "PARTNERED",
        "PREVIEW_ENABLED", "RAID_ALERTS_DISABLED", "ROLE_ICONS", "ROLE_SUBSCRIPTIONS_AVAILABLE_FOR_PURCHASE",
        "ROLE_SUBSCRIPTIONS_ENABLED", "SOUNDBOARD", "TICKETED_EVENTS_ENABLED", "VANITY_URL", "VERIFIED",
        "VIP_REGIONS", "WELCOME_SCREEN_ENABLED",
    }
)  # fmt: skip
"""Every feature that a guild can have."""

CHANGEABLE: Final[Mapping[str, int]] = MappingProxyType(
    {
        Feature.COMMUNITY: Permissions.ADMINISTRATOR,
        Feature.DISCOVERABLE: Permissions.ADMINISTRATOR,
        Feature.INVITES_DISABLED: Permissions.MANAGE_GUILD,
        Feature.RAID_ALERTS_DISABLED: Permissions.MANAGE_GUILD,
    }
)
"""The features that Modify Guild may add or remove, with the permission needed; other features do not change."""
