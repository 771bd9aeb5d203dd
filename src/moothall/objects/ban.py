"""Bans (api.md, Ban object)."""

from msgspec import Struct

from moothall.objects.ids import UserId
from moothall.objects.user import User


class Ban(Struct, frozen=True, kw_only=True):
    """Someone barred from a guild, and why."""

    reason: str | None
    user: User


class BulkBanResult(Struct, frozen=True, kw_only=True):
    """Whom a bulk ban banned, and whom it could not ban or had been banned before."""

    banned_users: list[UserId]
    failed_users: list[UserId]
