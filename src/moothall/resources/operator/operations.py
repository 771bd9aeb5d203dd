"""Operations: make and change operators, make and revoke their tokens, and let the first one claim the server."""

from collections.abc import Iterable
from typing import Final, NoReturn

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.operators import OperatorAuthority, OperatorRow, lock_operators
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import ALL, OperatorPermission, format_permissions
from moothall.objects.wire import Timestamp
from moothall.resources.operator import queries
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.account.operations import create_account
from moothall.resources.user.factor.proof import require_proof
from moothall.runtime.secrets import hash_token, new_token
from moothall.storage.rows import UserRow

_CLAIM_LENGTH: Final = 43
_TOKEN_LENGTH: Final = 43
_DAY_MS: Final = 86_400_000


class NewToken(Struct, frozen=True):
    """A token that was just made: only now it is known."""

    id: Snowflake
    token: str
    expires_at: Timestamp


async def set_operator(ctx: Context, row: UserRow, permissions: Iterable[OperatorPermission]) -> OperatorRow:
    """Make an account an operator, or change what an operator may do.

    Raises Refusal 403/50013 for an operator who changes their own permissions, gives or takes one that they do not have
    themselves; 50035 for no permission at all, and for an account that is closed.
    """
    permissions = frozenset(permissions)
    if not permissions:
        refuse_field("permissions", FormCode.BASE_TYPE_REQUIRED, "Name at least one kind of acts.")
    if row.suspended or row.disabled:
        refuse_field("user_id", "ACCOUNT_CLOSED", f"The account {row.username} is closed.")
    before = await _find(ctx, row.id)
    present = frozenset[OperatorPermission]() if before is None else before.permissions
    await _require_authority(ctx, row.id, permissions | present)
    if before is None:
        await queries.insert_operator(ctx.tx, row.id, format_permissions(permissions), ctx.now)
    elif permissions != present:
        await queries.update_permissions(ctx.tx, row.id, format_permissions(permissions))
    if permissions != present:
        act = "operator.add" if before is None else "operator.change"
        await record_act(
            ctx, act, row.id, changes={"permissions": (format_permissions(present), format_permissions(permissions))}
        )
    return OperatorRow(row.id, row.username, permissions, closed=False)


async def make_first_operator(ctx: Context, user_id: UserId) -> None:
    """Make an account an operator with every permission, as part of setting the server up."""
    await queries.insert_operator(ctx.tx, user_id, format_permissions(ALL), ctx.now)
    changes = {"permissions": (None, format_permissions(ALL))}
    await record_act(ctx, "operator.claim", user_id, changes=changes, by_setup=user_id)


async def remove_operator(ctx: Context, user_id: UserId) -> OperatorRow:
    """Make an operator an ordinary user, and end their tokens; return what they were.

    Raises Refusal: 404/10013 for no operator, 403/50013 as `set_operator`.
    """
    row = await _find(ctx, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_USER)
    await _require_authority(ctx, user_id, row.permissions)
    await queries.delete_operator(ctx.tx, user_id)
    await record_act(
        ctx, "operator.remove", user_id, changes={"permissions": (format_permissions(row.permissions), None)}
    )
    return row


async def create_token(
    ctx: Context, user_id: UserId, name: str, permissions: Iterable[OperatorPermission], *, days: int
) -> NewToken:
    """Make a token for an operator's programs. It never may more than the operator.

    Raises Refusal: 404/10013 for no operator, 50035 for permissions that the operator does not have.
    """
    permissions, row = frozenset(permissions), await _find(ctx, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_USER)
    allowed = row.permissions
    authority = ctx.find_resource(OperatorAuthority)
    if authority is not None:
        await require_proof(ctx)
        allowed &= authority.permissions
    if not permissions or permissions - allowed:
        refuse_field("permissions", FormCode.BASE_TYPE_CHOICES, "Name kinds of acts that the operator may do.")
    token, token_id = new_token(_TOKEN_LENGTH), ctx.ids.next()
    expires_at = Timestamp(ctx.now + days * _DAY_MS)
    await queries.insert_token(
        ctx.tx,
        hash_token(token),
        token_id,
        user_id,
        name=name,
        permissions=format_permissions(permissions),
        now=ctx.now,
        expires_at=expires_at,
    )
    changes = {"name": (None, name), "permissions": (None, format_permissions(permissions)), "days": (None, days)}
    await record_act(ctx, "token.create", token_id, changes=changes)
    return NewToken(token_id, token, expires_at)


async def revoke_token(ctx: Context, token_id: Snowflake) -> None:
    """Delete a token. Operators without the permission `operators` delete their own ones only.

    Raises Refusal 404/10012 for an unknown token and for one of another operator.
    """
    row = next((each for each in await queries.select_tokens(ctx.tx, ctx.now) if each.id == token_id), None)
    authority = ctx.find_resource(OperatorAuthority)
    if row is not None and authority is not None and row.user_id != authority.user_id:
        owner = await _find(ctx, row.user_id)
        if OperatorPermission.OPERATORS not in authority.permissions:
            row = None
        elif owner is not None and owner.permissions - authority.permissions:
            raise Refusal(errors.MISSING_PERMISSIONS)
    if row is None or not await queries.delete_token(ctx.tx, token_id):
        raise Refusal(errors.UNKNOWN_TOKEN)
    await record_act(ctx, "token.revoke", token_id, changes={"name": (row.name, None)})


async def check_may_act_on(ctx: Context, user_id: UserId) -> None:
    """Refuse (403/50013) that an operator acts on their own account, or on one of an operator who may more.

    An operator with two factors proves them anew (`require_proof`). Commands act on every account.
    """
    if ctx.find_resource(OperatorAuthority) is not None:
        await require_proof(ctx)
        await check_rank(ctx, user_id)


async def check_rank(ctx: Context, user_id: UserId) -> None:
    """Refuse (403/50013) as `check_may_act_on`, for a request that has proved its factors already."""
    authority = ctx.find_resource(OperatorAuthority)
    if authority is None:
        return
    row = await _find(ctx, user_id)
    if user_id == authority.user_id or (row is not None and row.permissions - authority.permissions):
        raise Refusal(errors.MISSING_PERMISSIONS)


async def renew_claim(ctx: Context) -> str | None:
    """Make the token of a new link for the first operator, in place of one before; None if there is an operator."""
    if await queries.count_operators(ctx.tx):
        return None
    token = new_token(_CLAIM_LENGTH)
    await queries.set_claim(ctx.tx, hash_token(token))
    return token


async def can_claim(ctx: Context, token: str) -> bool:
    """Whether a token is that of the link for the first operator, and there is none."""
    return not await queries.count_operators(ctx.tx) and await queries.is_claim(ctx.tx, hash_token(token))


async def claim_server(ctx: Context, token: str, *, username: str, password_hash: str) -> UserId:
    """Make an account that is the first operator, with every permission, by the link; return its id.

    Raises Refusal: 50035 at `token` for a link that is not good, and for an invalid or taken name.
    """
    if not await queries.delete_claim(ctx.tx, hash_token(token)) or await queries.count_operators(ctx.tx):
        refuse_claim()
    user_id = await create_account(ctx, username=username, password_hash=password_hash)
    await make_first_operator(ctx, user_id)
    return user_id


def refuse_claim() -> NoReturn:
    """Raise the Refusal of a link that makes no operator: 50035 at `token`."""
    refuse_field("token", FormCode.INVALID_TOKEN, "This link has been used, or it is not valid any more.")


async def _find(ctx: Context, user_id: UserId) -> OperatorRow | None:
    """Find an operator, and let other acts of operators wait."""
    return next((row for row in await lock_operators(ctx.tx) if row.user_id == user_id), None)


async def _require_authority(ctx: Context, user_id: UserId, permissions: Iterable[OperatorPermission]) -> None:
    """Refuse (403/50013) that an operator changes their own permissions, or those that they do not have."""
    authority = ctx.find_resource(OperatorAuthority)
    if authority is None:
        return
    await require_proof(ctx)
    if user_id == authority.user_id or frozenset(permissions) - authority.permissions:
        raise Refusal(errors.MISSING_PERMISSIONS)
