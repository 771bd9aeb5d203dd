"""Discoverable guilds, and what they are listed by."""

from typing import Final

from msgspec import Struct

from moothall.objects.ids import GuildId


class DiscoveryCategory(Struct, frozen=True):
    """What a discoverable guild is about."""

    id: int
    name: str
    is_primary: bool = True
    """Whether it can be a guild's main category: each can."""


CATEGORIES: Final = {
    category.id: category
    for category in (
        DiscoveryCategory(0, "General"),
        DiscoveryCategory(1, "Gaming"),
        DiscoveryCategory(2, "Music"),
        DiscoveryCategory(3, "Entertainment"),
        DiscoveryCategory(4, "Creative Arts"),
        DiscoveryCategory(5, "Science & Tech"),
        DiscoveryCategory(6, "Education"),
        DiscoveryCategory(7, "Sports"),
        DiscoveryCategory(8, "Fashion & Beauty"),
        DiscoveryCategory(9, "Relationships & Identity"),
        DiscoveryCategory(10, "Travel & Food"),
        DiscoveryCategory(11, "Fitness & Health"),
        DiscoveryCategory(12, "Finance"),
        DiscoveryCategory(13, "Other"),
    )
}
"""The categories by their ids."""
GENERAL: Final = 0
"""The category of a guild that has chosen none."""


class DiscoveryMetadata(Struct, frozen=True, kw_only=True):
    """What a guild is listed by."""

    guild_id: GuildId
    primary_category_id: int
    """The id of what the guild is about."""
    keywords: list[str]
    """Words that the guild is found by."""
    is_published: bool
    """Whether the guild is listed, where the server lists guilds: it has the feature DISCOVERABLE."""


class DiscoverableGuild(Struct, frozen=True, kw_only=True):
    """A guild in the list of discoverable ones."""

    id: GuildId
    name: str
    icon: str | None
    splash: str | None
    banner: str | None
    discovery_splash: str | None
    description: str | None
    preferred_locale: str
    features: list[str]
    premium_subscription_count: int
    keywords: list[str]
    """Words that the guild is found by."""
    primary_category_id: int
    """The id of what the guild is about."""
    primary_category: DiscoveryCategory
    """What the guild is about."""
    approximate_member_count: int
    approximate_presence_count: int


class DiscoverableGuilds(Struct, frozen=True):
    """A page of the list, and how many guilds there are in all."""

    guilds: list[DiscoverableGuild]
    total: int
    """How many guilds match, on all pages."""
    limit: int
    offset: int
    """How many guilds are on the pages before."""
