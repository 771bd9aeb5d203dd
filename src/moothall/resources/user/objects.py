"""API objects of the caller's own account."""

from msgspec import UNSET

from moothall.api.authenticate import Actor, TokenKind
from moothall.objects.profile import ProfileMetadata
from moothall.objects.scopes import EMAIL, PREMIUM
from moothall.objects.user import CurrentUser
from moothall.storage.rows import UserRow, primary_guild


def current_user(row: UserRow, *, private: bool = True, email: bool = True, premium: bool = True) -> CurrentUser:
    """The account object for its own user.

    `email` includes the address, `private` the biography and `premium` the kind of subscription.
    """
    return CurrentUser(
        id=row.id,
        username=row.username,
        discriminator=row.discriminator,
        global_name=row.global_name,
        avatar=row.avatar,
        bot=True if row.bot else UNSET,
        system=True if row.system else UNSET,
        banner=row.banner,
        accent_color=row.accent_color,
        public_flags=row.public_flags,
        flags=row.flags | row.public_flags,
        mfa_enabled=row.mfa_enabled,
        locale=row.locale,
        premium_type=row.premium_type if premium else UNSET,
        verified=row.verified if email else UNSET,
        email=row.email if email else UNSET,
        bio=row.bio if private else UNSET,
        primary_guild=primary_guild(row.primary_guild_id, row.primary_guild_tag, row.primary_guild_badge),
    )


def profile_metadata(row: UserRow) -> ProfileMetadata:
    """What a user says about themselves."""
    return ProfileMetadata(bio=row.bio, accent_color=row.accent_color, banner=row.banner, pronouns=row.pronouns or "")


def own_view(row: UserRow, actor: Actor) -> CurrentUser:
    """The account object that a caller may read: an access token needs the scopes email and identify.premium."""
    bearer = actor.kind is TokenKind.BEARER
    return current_user(
        row,
        private=not bearer,
        email=not bearer or EMAIL in actor.scopes,
        premium=not bearer or PREMIUM in actor.scopes,
    )
