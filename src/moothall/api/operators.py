"""Which operator calls an endpoint of theirs, and whether they may do what it does."""

from typing import Any

from msgspec import Struct

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission, parse_permissions
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import Select, bindparam, or_, select
from moothall.storage.tables import operators, users


class OperatorRow(Struct):
    """An operator, with what of the account decides whether they may act."""

    user_id: UserId
    username: str
    permissions: frozenset[OperatorPermission]
    closed: bool
    """Whether the account is suspended, disabled or deleted: such an operator does nothing."""


class OperatorAuthority(Struct, frozen=True):
    """The operator who makes a request, and what they may do with the token that it has."""

    user_id: UserId
    username: str
    permissions: frozenset[OperatorPermission]

    def require(self, permission: OperatorPermission) -> None:
        """Refuse (403/50013) without a permission."""
        if permission not in self.permissions:
            raise Refusal(errors.MISSING_PERMISSIONS)


def _columns() -> Select[Any]:
    return select(
        operators.c.user_id,
        users.c.username,
        operators.c.permissions,
        or_(users.c.suspended, users.c.disabled, users.c.deleted),
    ).select_from(operators.join(users, users.c.id == operators.c.user_id))


_select_operator = Query(lambda: _columns().where(operators.c.user_id == bindparam("user_id")))
_select_operators = Query(lambda: _columns().order_by(operators.c.user_id))
_lock_operators = Query(lambda: _columns().order_by(operators.c.user_id).with_for_update())


async def select_operator(reader: Reader, user_id: UserId) -> OperatorRow | None:
    """Read an operator; None for any other user."""
    row = await reader.one(_select_operator, user_id=user_id)
    return None if row is None else _operator(row)


async def select_operators(reader: Reader) -> list[OperatorRow]:
    """Read all operators, by id."""
    return [_operator(row) for row in await reader.all(_select_operators)]


async def lock_operators(tx: Transaction) -> list[OperatorRow]:
    """Read all operators, and let other acts of operators wait until the transaction ends.

    Of two operators who suspend each other, the second one finds that they are suspended.
    """
    return [_operator(row) for row in await tx.all(_lock_operators)]


def _operator(row: Any) -> OperatorRow:
    user_id, username, permissions, closed = row
    return OperatorRow(UserId(Snowflake(user_id)), username, parse_permissions(permissions), bool(closed))


class OperatorAccess(Access):
    """Operators with a permission, or any operator with None, by their session or by a token that has it.

    Acts are done one after another; what is only read waits for none.
    """

    takes_operators = True

    def __init__(self, permission: OperatorPermission | None, *, acts: bool) -> None:
        self.permission = permission
        self.label = "operator" if permission is None else f"operator: {permission.value}"
        self._acts = acts

    async def check(self, ctx: Context, path: PathValues) -> None:  # noqa: ARG002 any path
        """Refuse bots (403/20001), other users (403/50001) and operators without the permission (403/50013).

        Where the setting `operators_require_mfa` is on, operators without two factors are refused too (403/60003).
        """
        actor = ctx.actor
        if actor.kind not in {TokenKind.SESSION, TokenKind.OPERATOR}:
            raise Refusal(errors.BOTS_CANNOT_USE)
        if self._acts:
            row = next((each for each in await lock_operators(ctx.tx) if each.user_id == actor.user_id), None)
        else:
            row = await select_operator(ctx.tx, actor.user_id)
        if row is None or row.closed:
            raise Refusal(errors.MISSING_ACCESS)
        if ctx.services.limits.operators_require_mfa and not actor.mfa:
            raise Refusal(errors.MFA_REQUIRED)
        permissions = row.permissions
        if actor.kind is TokenKind.OPERATOR:
            permissions &= parse_permissions(" ".join(actor.scopes))
        authority = OperatorAuthority(row.user_id, row.username, permissions)
        if self.permission is not None:
            authority.require(self.permission)
        ctx.set_resource(authority)


OPERATOR = OperatorAccess(None, acts=False)
OPERATOR_ACTS = OperatorAccess(None, acts=True)


def may_read(permission: OperatorPermission) -> OperatorAccess:
    """The access check of an endpoint that reads."""
    return OperatorAccess(permission, acts=False)


def may_act(permission: OperatorPermission) -> OperatorAccess:
    """The access check of an endpoint that changes something."""
    return OperatorAccess(permission, acts=True)
