"""Accounts over HTTP, as operators find and change them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.api.operators import may_act, may_read
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.mail.queries import MailState, list_mails
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.queries import AccountState, select_user
from moothall.resources.user_administration import operations, queries
from moothall.storage.rows import UserRow

_READS, _ACTS = may_read(OperatorPermission.USERS), may_act(OperatorPermission.USERS)


class Account(Struct, frozen=True, kw_only=True):
    """A person's account, as operators see it."""

    id: UserId
    username: str
    global_name: str | None
    email: str | None
    verified: bool
    locale: str
    state: str
    """`active`, `pending` until it is verified or approved, `closed` by its user, `suspended` by an operator."""
    deletes_at: Timestamp | None
    created_at: Timestamp


class AccountWithUse(Account, frozen=True, kw_only=True):
    """An account with what it has."""

    guilds: int
    logins: int
    file_bytes: int
    """Bytes of the files of its messages."""


class UserStorage(Struct, frozen=True, kw_only=True):
    """What an account has stored; the setting `storage_quota_mb_per_user` says how much it may."""

    id: UserId
    username: str | None
    bot: bool
    file_bytes: int
    """Bytes of files that the account is charged for."""


class CreateResetLink(Struct, frozen=True):
    """For how long the link is good."""

    minutes: Annotated[int, Meta(ge=1, le=7 * 24 * 60)] = 60


class ResetLink(Struct, frozen=True):
    """A link by which the owner of an account chooses a new password, once."""

    link: str
    expires_at: Timestamp


class LoggedMail(Struct, frozen=True):
    """A mail that was sent, waits or was given up; never its text."""

    id: Snowflake
    kind: str
    user_id: UserId | None
    address: str
    created_at: Timestamp
    state: str
    """`waiting`, `sent` or `failed`."""
    attempts: int
    next_attempt_at: Timestamp | None
    sent_at: Timestamp | None
    last_error: str | None


@get("/admin/v1/users", permission=_READS)
async def list_accounts(
    ctx: Context,
    *,
    search: Annotated[str, Meta(max_length=100)] = "",
    state: AccountState | None = None,
    before: UserId | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[Account]:
    """List people's accounts, newest first: those with `search` in a name or the address, those in a state."""
    rows = await queries.select_people(ctx.tx, search=search, state=state, before=before, maximum=limit)
    return [_account(row) for row in rows]


@get("/admin/v1/users/{user_id}", permission=_READS)
async def get_account(ctx: Context, user_id: UserId) -> AccountWithUse:
    """Return a person's account with what it has."""
    row = await _find(ctx, user_id)
    use = await queries.select_use(ctx.tx, user_id)
    account = _account(row)
    fields = {name: getattr(account, name) for name in account.__struct_fields__}
    return AccountWithUse(**fields, guilds=use.guilds, logins=use.logins, file_bytes=use.bytes)


@post("/admin/v1/users/{user_id}/suspend", permission=_ACTS, audit_reason=True, fires=(SessionsClose,))
async def suspend_account(ctx: Context, user_id: UserId) -> Account:
    """Suspend an account: its logins, authorizations and links end, and no login is possible until it is restored."""
    row = await _find(ctx, user_id)
    await operations.suspend_user(ctx, row)
    return _account(row)


@post("/admin/v1/users/{user_id}/restore", permission=_ACTS, audit_reason=True)
async def restore_account(ctx: Context, user_id: UserId) -> Account:
    """End the suspension of an account, call off its deletion, or open it again after its user has closed it."""
    row = await _find(ctx, user_id)
    await operations.restore_user(ctx, row)
    return _account(row)


@post("/admin/v1/users/{user_id}/approve", permission=_ACTS, audit_reason=True)
async def approve_account(ctx: Context, user_id: UserId) -> Account:
    """Let the user of a new account log in, where accounts need approval."""
    row = await _find(ctx, user_id)
    await operations.approve_user(ctx, row)
    return _account(row)


@post("/admin/v1/users/{user_id}/log-out", permission=_ACTS, audit_reason=True, fires=(SessionsClose,))
async def log_out_account(ctx: Context, user_id: UserId) -> None:
    """End all logins of an account."""
    await operations.log_out_user(ctx, await _find(ctx, user_id))


@post("/admin/v1/users/{user_id}/reset-link", permission=_ACTS, audit_reason=True, status=201)
async def create_account_reset_link(ctx: Context, user_id: UserId, body: CreateResetLink) -> ResetLink:
    """Make a link for a new password, to be passed on to the owner of the account."""
    link, expires_at = await operations.create_reset_link(ctx, await _find(ctx, user_id), minutes=body.minutes)
    return ResetLink(link, expires_at)


@delete("/admin/v1/users/{user_id}", permission=_ACTS, audit_reason=True, fires=(SessionsClose,), status=200)
async def delete_account(
    ctx: Context, user_id: UserId, *, days: Annotated[int, Meta(ge=0, le=365)] | None = None
) -> Account:
    """Suspend an account, and delete it in so many days, until when it can be restored.

    Without `days` those of the setting `account_deletion_days` pass; with 0 it is deleted at once, for good.
    """
    row = await _find(ctx, user_id)
    waiting = ctx.services.limits.account_deletion_days if days is None else days
    await operations.delete_user(ctx, row, days=waiting)
    return _account(row)


@get("/admin/v1/storage/users", permission=_READS)
async def list_user_storage(ctx: Context, *, limit: Annotated[int, Meta(ge=1, le=100)] = 50) -> list[UserStorage]:
    """List the accounts, bots too, whose files have most bytes, the largest first."""
    return [
        UserStorage(id=row.user_id, username=row.username, bot=bool(row.bot), file_bytes=row.bytes)
        for row in await queries.select_largest(ctx.tx, limit)
    ]


@get("/admin/v1/mails", permission=_READS)
async def list_logged_mails(
    ctx: Context,
    *,
    state: Literal["waiting", "sent", "failed"] | None = None,
    before: Snowflake | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[LoggedMail]:
    """List the mails of the last 30 days, newest first: those in a state, or all. What they say is never shown."""
    chosen = None if state is None else MailState[state.upper()]
    return [
        LoggedMail(
            id=row.id,
            kind=row.kind,
            user_id=row.user_id,
            address=row.address,
            created_at=row.created_at,
            state=MailState(row.state).name.lower(),
            attempts=row.attempts,
            next_attempt_at=row.next_attempt_at,
            sent_at=row.sent_at,
            last_error=row.last_error,
        )
        for row in await list_mails(ctx.tx, state=chosen, before=before, maximum=limit)
    ]


async def _find(ctx: Context, user_id: UserId) -> UserRow:
    """Find a person's account. Raises Refusal 404/10013."""
    row = await select_user(ctx.tx, user_id)
    if row is None or row.deleted or row.bot:
        raise Refusal(errors.UNKNOWN_USER)
    return row


def _account(row: UserRow) -> Account:
    return Account(
        id=row.id,
        username=row.username,
        global_name=row.global_name,
        email=row.email,
        verified=row.verified,
        locale=row.locale,
        state=operations.state_of(row),
        deletes_at=row.deletes_at,
        created_at=Timestamp(row.id.created_ms),
    )
