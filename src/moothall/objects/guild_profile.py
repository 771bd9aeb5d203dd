"""Tags of guilds, which members wear behind their names (resources: guild profile)."""

import re
from enum import IntEnum
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from moothall.objects.ids import GuildId

DEFAULT_BADGE_COLORS: Final = ("#5865c8", "#aab2f0")
"""The colours of a badge for which none were chosen."""
_NAME: Final = re.compile(r"([0-9a-f]{2})([0-9a-f]{6})([0-9a-f]{6})([0-9a-f]{18})")
_CHECK_BYTES: Final = 9


class BadgeType(IntEnum):
    """The badge beside a tag. Of the public ones those that this server draws."""

    SWORD = 0
    WATER_DROP = 1
    SKULL = 2
    TOADSTOOL = 3
    MOON = 4
    LIGHTNING = 5
    LEAF = 6
    HEART = 7
    FIRE = 8
    COMPASS = 9


class Badge(Struct, frozen=True):
    """A badge: its type and its two colours, as `#rrggbb`."""

    type: int
    primary: str
    secondary: str

    @property
    def hash(self) -> str:
        """The name of the badge's image: 32 hexadecimal digits, of which the first 14 say what is drawn."""
        drawn = f"{self.type:02x}{self.primary[1:]}{self.secondary[1:]}".lower()
        return drawn + _check(drawn)

    @classmethod
    def of_hash(cls, name: str) -> "Badge | None":
        """The badge that an image's name says; None for any other name."""
        match = _NAME.fullmatch(name)
        if match is None or _check("".join(match.groups()[:3])) != match[4] or int(match[1], 16) not in _TYPES:
            return None
        return cls(int(match[1], 16), f"#{match[2]}", f"#{match[3]}")


_TYPES: Final = frozenset(int(each) for each in BadgeType)


class GuildIdentity(Struct, frozen=True, kw_only=True):
    """The tag and the badge of a guild."""

    tag: str
    badge: str


class GuildProfile(Struct, frozen=True, kw_only=True):
    """What a guild shows of itself beside its tag and badge."""

    id: GuildId
    name: str
    icon_hash: str | None
    member_count: int
    online_count: int
    description: str | None
    tag: str | None
    badge: int
    badge_color_primary: str
    badge_color_secondary: str
    badge_hash: str
    features: list[str]
    custom_banner_hash: str | None
    premium_subscription_count: int
    premium_tier: int


def _check(drawn: str) -> str:
    return blake2b(drawn.encode(), digest_size=_CHECK_BYTES).hexdigest()
