"""Permissions to create and manage expressions (emojis, stickers, sounds) and to see their creators."""

from typing import Final

from moothall.api.access import any_of
from moothall.api.context import Context
from moothall.objects.ids import UserId
from moothall.objects.permissions import Permissions

CREATE_EXPRESSIONS: Final = Permissions.CREATE_GUILD_EXPRESSIONS
MANAGE_EXPRESSIONS: Final = Permissions.MANAGE_GUILD_EXPRESSIONS
CHANGE_EXPRESSIONS: Final = any_of(CREATE_EXPRESSIONS, MANAGE_EXPRESSIONS)
"""The permission of rows that modify or delete expressions, followed by `require_expression_management`."""


def can_see_creators(ctx: Context) -> bool:
    """Whether the caller may see the creators of expressions of the request's guild."""
    return ctx.has(CREATE_EXPRESSIONS) or ctx.has(MANAGE_EXPRESSIONS)


def require_expression_management(ctx: Context, creator_id: UserId | None) -> None:
    """Raise Refusal 403/50013 unless the caller created an expression and may create more, or may manage all."""
    if creator_id != ctx.actor.user_id or not ctx.has(CREATE_EXPRESSIONS):
        ctx.require(MANAGE_EXPRESSIONS)
