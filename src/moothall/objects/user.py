"""Users (resources: user)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import GuildId, Snowflake, UserId


class UserFlags:
    """The bits of a user's `flags` and `public_flags`."""

    STAFF: Final = 1 << 0
    PARTNER: Final = 1 << 1
    HYPESQUAD: Final = 1 << 2
    BUG_HUNTER_LEVEL_1: Final = 1 << 3
    HYPESQUAD_ONLINE_HOUSE_1: Final = 1 << 6
    HYPESQUAD_ONLINE_HOUSE_2: Final = 1 << 7
    HYPESQUAD_ONLINE_HOUSE_3: Final = 1 << 8
    PREMIUM_EARLY_SUPPORTER: Final = 1 << 9
    TEAM_PSEUDO_USER: Final = 1 << 10
    BUG_HUNTER_LEVEL_2: Final = 1 << 14
    VERIFIED_BOT: Final = 1 << 16
    VERIFIED_DEVELOPER: Final = 1 << 17
    CERTIFIED_MODERATOR: Final = 1 << 18
    BOT_HTTP_INTERACTIONS: Final = 1 << 19
    SPAMMER: Final = 1 << 20


class PremiumType(IntEnum):
    """The subscription of a user."""

    NONE = 0
    CLASSIC = 1
    FULL = 2
    BASIC = 3


class AvatarDecoration(Struct, frozen=True, kw_only=True):
    """The decoration around an avatar."""

    asset: str
    sku_id: Snowflake | None = None


class PrimaryGuild(Struct, frozen=True, kw_only=True):
    """The guild whose tag a user shows."""

    identity_guild_id: GuildId | None = None
    identity_enabled: bool | None = None
    tag: str | None = None
    badge: str | None = None


class Nameplate(Struct, frozen=True, kw_only=True):
    """The decoration behind a user's name."""

    sku_id: Snowflake
    asset: str
    label: str
    palette: str


class Collectibles(Struct, frozen=True, kw_only=True):
    """The collectibles of a user."""

    nameplate: Nameplate | UnsetType | None = UNSET


class User(Struct, frozen=True, kw_only=True):
    """A user with the public fields. `bot` and `system` are present only when true."""

    id: UserId
    username: str
    discriminator: str = "0"
    """Always "0"; "0000" for anonymised and webhook users."""
    global_name: str | None = None
    avatar: str | None = None
    bot: bool | UnsetType = UNSET
    system: bool | UnsetType = UNSET
    banner: str | UnsetType | None = UNSET
    accent_color: int | UnsetType | None = UNSET
    public_flags: int = 0
    flags: int = 0
    avatar_decoration_data: AvatarDecoration | None = None
    collectibles: Collectibles | None = None
    primary_guild: PrimaryGuild | None = None


class CurrentUser(User, frozen=True, kw_only=True):
    """The caller's own user.

    An access token needs the email scope for `email` and `verified`, and identify.premium for `premium_type`.
    """

    banner: str | None = None
    accent_color: int | None = None
    mfa_enabled: bool = False
    locale: str = "en-US"
    premium_type: int | UnsetType = UNSET
    verified: bool | UnsetType = UNSET
    email: str | UnsetType | None = UNSET
    bio: str | UnsetType = UNSET


class UserReference(Struct, frozen=True, kw_only=True):
    """The user object of presences: the id only."""

    id: UserId
