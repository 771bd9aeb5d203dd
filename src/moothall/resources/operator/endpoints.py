"""Operators, their tokens, and the link for the first one, over HTTP."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PUBLIC
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post, put
from moothall.api.operators import (
    OPERATOR,
    OPERATOR_ACTS,
    OperatorAuthority,
    OperatorRow,
    may_act,
    may_read,
    select_operators,
)
from moothall.api.ratelimit import Rate
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission, parse_permissions
from moothall.objects.wire import Timestamp
from moothall.resources.operator import operations, queries
from moothall.resources.operator.operations import NewToken
from moothall.resources.server_setting.operations import modify_settings
from moothall.resources.server_setting.requests import ModifyServerSettings
from moothall.resources.user.account.operations import Login, check_names, log_in
from moothall.resources.user.auth_session.client import client_of
from moothall.resources.user.password.strength import check_strength
from moothall.resources.user.password.verification import hash_password
from moothall.resources.user.queries import select_user

Password = Annotated[str, Meta(min_length=limits.PASSWORD_MIN, max_length=limits.PASSWORD_MAX)]
_CLAIM_RATE: Final = Rate(5, 10.0)
_KIND_LIST = Annotated[list[OperatorPermission], Meta(max_length=len(OperatorPermission))]


class Operator(Struct, frozen=True):
    """An operator, and the kinds of acts that they may do."""

    user_id: UserId
    username: str
    permissions: list[OperatorPermission]
    closed: bool
    """Whether the account is suspended, disabled or deleted: such an operator does nothing."""


class SetOperator(Struct, frozen=True):
    """The kinds of acts that an operator may do."""

    permissions: _KIND_LIST


class OperatorToken(Struct, frozen=True):
    """A token of an operator for programs, without its secret."""

    id: Snowflake
    user_id: UserId
    name: str
    permissions: list[OperatorPermission]
    created_at: Timestamp
    expires_at: Timestamp


class CreateOperatorToken(Struct, frozen=True):
    """A token of the caller, with some of the kinds of acts that the caller may do."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    permissions: _KIND_LIST
    days: Annotated[int, Meta(ge=1, le=365)] = 90


class CheckSetupLink(Struct, frozen=True):
    """The token of a link for the first operator."""

    token: Annotated[str, Meta(max_length=128)]


class SetupLink(Struct, frozen=True):
    """Whether a link for the first operator is good."""

    good: bool


class ClaimServer(Struct, frozen=True):
    """The first operator, by the link on the server's console, and what the server is called and lets register."""

    token: Annotated[str, Meta(max_length=128)]
    username: str
    password: Password
    instance_name: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET
    registration: Literal["open", "token", "approval", "closed"] | UnsetType = UNSET

    def settings(self) -> ModifyServerSettings:
        """The settings to change."""
        return ModifyServerSettings(instance_name=self.instance_name, registration=self.registration)


@get("/admin/v1/operators/@me", permission=OPERATOR)
async def get_current_operator(ctx: Context) -> Operator:
    """Return the operator who calls, with what they may do by the session or token of the request."""
    authority = ctx.resource(OperatorAuthority)
    return _operator(OperatorRow(authority.user_id, authority.username, authority.permissions, closed=False))


@get("/admin/v1/operators", permission=may_read(OperatorPermission.OPERATORS))
async def list_operators(ctx: Context) -> list[Operator]:
    """List all operators."""
    return [_operator(row) for row in await select_operators(ctx.tx)]


@put("/admin/v1/operators/{user_id}", permission=may_act(OperatorPermission.OPERATORS), audit_reason=True)
async def set_operator(ctx: Context, user_id: UserId, body: SetOperator) -> Operator:
    """Make a user an operator, or change what an operator may do.

    No operator changes their own permissions, gives or takes one that they do not have, or changes an operator who has
    one that they do not have.
    """
    row = await select_user(ctx.tx, user_id)
    if row is None or row.bot or row.deleted:
        raise Refusal(errors.UNKNOWN_USER)
    return _operator(await operations.set_operator(ctx, row, body.permissions))


@delete("/admin/v1/operators/{user_id}", permission=may_act(OperatorPermission.OPERATORS), audit_reason=True)
async def remove_operator(ctx: Context, user_id: UserId) -> None:
    """Make an operator an ordinary user, and end their tokens."""
    await operations.remove_operator(ctx, user_id)


@get("/admin/v1/tokens", permission=OPERATOR)
async def list_operator_tokens(ctx: Context) -> list[OperatorToken]:
    """List the caller's tokens; those of all operators for callers with the permission `operators`."""
    authority = ctx.resource(OperatorAuthority)
    sees_all = OperatorPermission.OPERATORS in authority.permissions
    return [
        OperatorToken(
            id=row.id,
            user_id=row.user_id,
            name=row.name,
            permissions=sorted(parse_permissions(row.permissions)),
            created_at=row.created_at,
            expires_at=row.expires_at,
        )
        for row in await queries.select_tokens(ctx.tx, ctx.now)
        if sees_all or row.user_id == authority.user_id
    ]


@post("/admin/v1/tokens", permission=OPERATOR_ACTS, audit_reason=True, status=201)
async def create_operator_token(ctx: Context, body: CreateOperatorToken) -> NewToken:
    """Make a token of the caller; the answer alone has it."""
    authority = ctx.resource(OperatorAuthority)
    return await operations.create_token(ctx, authority.user_id, body.name, body.permissions, days=body.days)


@delete("/admin/v1/tokens/{token_id}", permission=OPERATOR_ACTS, audit_reason=True)
async def revoke_operator_token(ctx: Context, token_id: Snowflake) -> None:
    """Revoke a token: the caller's own, or with the permission `operators` one of an operator who may no more."""
    await operations.revoke_token(ctx, token_id)


@post("/admin/v1/setup/check", permission=PUBLIC, rate=_CLAIM_RATE, writes=False, status=200)
async def check_setup_link(ctx: Context, body: CheckSetupLink) -> SetupLink:
    """Say whether a link for the first operator is good, without using it."""
    return SetupLink(good=await operations.can_claim(ctx, body.token))


@post("/admin/v1/setup", permission=PUBLIC, rate=_CLAIM_RATE, status=201, writes=False)
async def claim_server(ctx: Context, body: ClaimServer) -> Login:
    """Make the first operator by the link on the server's console, change settings, and log in.

    Raises Refusal: 50035 for a link that is not good, an invalid name and a weak password.
    """
    # Before the password is hashed, which is costly.
    if not await operations.can_claim(ctx, body.token):
        operations.refuse_claim()
    form_errors = FormErrors()
    await check_names(ctx, form_errors, username=body.username, email=None, own=None)
    await check_strength(ctx, form_errors, "password", body.password, names=(body.username,))
    form_errors.raise_if_any()
    password_hash, client = await hash_password(ctx, body.password), client_of(ctx)

    async def work(inner: Context) -> Login:
        user_id = await operations.claim_server(inner, body.token, username=body.username, password_hash=password_hash)
        await modify_settings(inner, body.settings(), by_setup=user_id)
        return await log_in(inner, user_id, client=client)

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=())


def _operator(row: OperatorRow) -> Operator:
    return Operator(row.user_id, row.username, sorted(row.permissions), row.closed)
