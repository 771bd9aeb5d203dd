"""Who may change an expression, and who is told who made it (topics: permissions)."""

from typing import Final

from moothall.kernel.access import any_of
from moothall.kernel.context import Context
from moothall.objects.ids import UserId
from moothall.objects.permissions import Permissions

CREATES: Final = Permissions.CREATE_GUILD_EXPRESSIONS
MANAGES: Final = Permissions.MANAGE_GUILD_EXPRESSIONS
CHANGES: Final = any_of(CREATES, MANAGES)
"""The way in of rows that change or remove one; `require_may_change` asks whose it is."""


def sees_creators(ctx: Context) -> bool:
    """Whether the caller is told who made the expressions of the guild entered."""
    return ctx.has(CREATES) or ctx.has(MANAGES)


def require_may_change(ctx: Context, creator_id: UserId | None) -> None:
    """Refuse (403/50013) whoever has not made it, unless they manage all of the guild's."""
    if creator_id != ctx.actor.user_id or not ctx.has(CREATES):
        ctx.require(MANAGES)
