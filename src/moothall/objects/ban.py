"""Bans (api.md, Ban object)."""

from msgspec import Struct

from moothall.objects.ids import UserId
from moothall.objects.user import User


class Ban(Struct, frozen=True, kw_only=True):
    """A banned user and the reason."""

    reason: str | None
    user: User


class BulkBanResult(Struct, frozen=True, kw_only=True):
    """The users that a bulk ban banned, and those that it could not ban or that were banned before."""

    banned_users: list[UserId]
    failed_users: list[UserId]
