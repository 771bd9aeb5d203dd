"""Profiles of users (resources: user, get user profile)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.connection import PublicConnection
from moothall.objects.ids import GuildId
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class ProfileUser(User, frozen=True, kw_only=True):
    """The user of a profile, whose object has their text about themselves."""

    bio: str


class ProfileMetadata(Struct, frozen=True, kw_only=True):
    """What users say about themselves. Theme colors are always empty."""

    bio: str
    accent_color: int | None
    banner: str | None = None
    pronouns: str = ""
    theme_colors: None = None


class MutualGuild(Struct, frozen=True, kw_only=True):
    """A guild of both users, with the other user's nickname in it."""

    id: GuildId
    nick: str | None


class UserProfile(Struct, frozen=True, kw_only=True):
    """A user with what the caller shares with them.

    A user who has blocked the caller shows them neither text nor badges, and shares nothing with them.
    """

    user: ProfileUser
    connected_accounts: list[PublicConnection]
    user_profile: ProfileMetadata | UnsetType = UNSET
    badges: list[str] | UnsetType = UNSET
    guild_badges: list[str] | UnsetType = UNSET
    mutual_guilds: list[MutualGuild] | UnsetType = UNSET
    mutual_friends: list[User] | UnsetType = UNSET
    mutual_friends_count: int | UnsetType = UNSET
    premium_type: int | None = None
    premium_since: Timestamp | None = None
    premium_guild_since: Timestamp | None = None
