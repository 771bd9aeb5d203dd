"""Links that are used once, over HTTP; the paths and bodies are the usual clients'."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import PERSON, PUBLIC
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.api.ratelimit import Rate
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.wire import Timestamp
from moothall.resources.mail.operations import sends_mail
from moothall.resources.user.account.endpoints import LoginResult, Password, Registered
from moothall.resources.user.account.operations import EDIT_ACCOUNT_EVENTS, Login, log_in
from moothall.resources.user.account.policy import REQUIRED_ACTIONS, Pending, check_passwords
from moothall.resources.user.account_mail.operations import get_link, refuse_link
from moothall.resources.user.account_mail.queries import LinkPurpose
from moothall.resources.user.auth_session.client import client_of
from moothall.resources.user.events import SessionsClose, UserUpdate
from moothall.resources.user.factor.attempts import attempt
from moothall.resources.user.factor.operations import FactorRequired, Method, read_evidence
from moothall.resources.user.factor.queries import select_recovery
from moothall.resources.user.password.strength import check_strength
from moothall.resources.user.password.verification import hash_password
from moothall.resources.user.queries import select_user
from moothall.resources.user.recovery import operations
from moothall.resources.user.recovery.operations import FactorProof

Token = Annotated[str, Meta(min_length=1, max_length=128)]

_MAIL_RATE: Final = Rate(5, 60.0)
_LINK_RATE: Final = Rate(10, 60.0)
_NO_MAIL: Final = "This server sends no mail. Ask its operator for a link."


class ForgotPassword(Struct, frozen=True):
    """`login` is a username or an email address."""

    login: Annotated[str, Meta(min_length=1, max_length=limits.EMAIL_MAX)]


class ResetPassword(Struct, frozen=True):
    """`token` is that of the link, `password` the new one. A user with a second factor proves it by `code` as well."""

    token: Token
    password: Password
    undelete: bool = False
    """Whether to restore an account that its user has disabled, or deleted a few days ago."""
    method: str | UnsetType | None = UNSET
    """What the code is of: `totp` (the default), `backup`, or `webauthn` for the credential of a browser."""
    ticket: Annotated[str, Meta(max_length=128)] | UnsetType | None = UNSET
    code: Annotated[str, Meta(max_length=limits.WEBAUTHN_MAX)] | UnsetType | None = UNSET


class VerifyAddress(Struct, frozen=True):
    """`token` is that of the link."""

    token: Token


class RequestRecovery(Struct, frozen=True):
    """`ticket` is that of a login whose second factor is lost."""

    ticket: Annotated[str, Meta(max_length=128)]


class Recovery(Struct, frozen=True):
    """When the second factors are removed; null if they stay."""

    recovery_at: Timestamp | None


@post("/auth/forgot", permission=PUBLIC, rate=_MAIL_RATE, status=204)
async def forgot_password(ctx: Context, body: ForgotPassword) -> None:
    """Mail a link for a new password to the verified address of an account. The response never says if there is one."""
    await request_reset(ctx, body.login, network=ctx.ip)


@post("/auth/reset", permission=PUBLIC, rate=_LINK_RATE, writes=False)
async def reset_password(ctx: Context, body: ResetPassword) -> LoginResult:
    """Choose a new password by a link, which ends all logins, and log in.

    For a user with a second factor it returns a ticket instead, until the request has a code too.
    """
    return LoginResult.of(await reset_by_link(ctx, body))


@post("/auth/verify", permission=PUBLIC, rate=_LINK_RATE, fires=EDIT_ACCOUNT_EVENTS)
async def verify_address(ctx: Context, body: VerifyAddress) -> Registered:
    """Verify an email address by a link, and log in, unless the operator must approve the account before.

    A user with a second factor logs in by themselves: the link proves no more than the mailbox.
    """
    row = await operations.verify_by_link(ctx, body.token)
    if row.mfa_enabled:
        return Registered(row.id)
    if row.pending:
        return Registered(row.id, required_actions=[REQUIRED_ACTIONS[Pending(row.pending)]])
    return Registered(row.id, (await log_in(ctx, row.id, client=client_of(ctx))).token)


@post("/auth/verify/resend", permission=PERSON, rate=_MAIL_RATE, status=204)
async def resend_verification(ctx: Context) -> None:
    """Mail another link that verifies the caller's email address, unless it is verified."""
    if not sends_mail(ctx):
        raise Refusal(errors.FEATURE_DISABLED, message=_NO_MAIL)
    await operations.request_verification(ctx)


@post("/auth/recovery", permission=PUBLIC, rate=_MAIL_RATE, fires=(UserUpdate,), status=200)
async def request_factor_recovery(ctx: Context, body: RequestRecovery) -> Recovery:
    """Let the second factors of a user be removed who has lost them, after days in which the owner can call it off.

    The password is proved by the ticket of the login. The owner is told by mail, and all sessions by USER_UPDATE.
    """
    return Recovery(await operations.request_recovery(ctx, body.ticket))


@post("/auth/recovery/cancel", permission=PUBLIC, rate=_LINK_RATE, fires=(UserUpdate,), status=204)
async def cancel_factor_recovery_by_link(ctx: Context, body: VerifyAddress) -> None:
    """Let the second factors stay, by the link of the mail."""
    await operations.keep_factors_by_link(ctx, body.token)


@get("/users/@me/mfa/recovery", permission=PERSON)
async def get_factor_recovery(ctx: Context) -> Recovery:
    """Get when the caller's second factors are removed as lost ones."""
    row = await select_recovery(ctx.tx, ctx.actor.user_id)
    return Recovery(None if row is None else row.due_at)


@delete("/users/@me/mfa/recovery", permission=PERSON, fires=(UserUpdate,))
async def cancel_factor_recovery(ctx: Context) -> None:
    """Let the caller's second factors stay. Each session may, without a proof."""
    await operations.keep_factors(ctx)


async def request_reset(ctx: Context, login: str, *, network: str) -> None:
    """Request a link for a new password, from a network.

    Raises Refusal: 403/40006 where no mail is sent, and where people do not log in with passwords.
    """
    check_passwords(ctx)
    if not sends_mail(ctx):
        raise Refusal(errors.FEATURE_DISABLED, message=_NO_MAIL)
    await operations.request_reset(ctx, login, network=network)


async def reset_by_link(ctx: Context, body: ResetPassword, *, seconds: int | None = None) -> Login | FactorRequired:
    """Choose a new password by a link, and log in for `seconds` or without expiry.

    Raises Refusal: 50035 for a link that is not good and for a weak password, 400/60008 for a wrong code, 403/20011 and
    403/20013 for an account that its user has closed. The link stays good then.
    """
    link = await get_link(ctx, body.token, LinkPurpose.RESET)
    row = await select_user(ctx.tx, link.user_id)
    if row is None:
        refuse_link()
    form_errors = FormErrors()
    names = (row.username, row.email, row.global_name)
    await check_strength(ctx, form_errors, "password", body.password, names=names)
    form_errors.raise_if_any()
    password_hash, client = await hash_password(ctx, body.password), client_of(ctx)

    factor = None
    if body.code:
        evidence = await read_evidence(ctx, body.ticket or "", body.method or Method.TOTP, body.code)
        factor = FactorProof(evidence, body.ticket or None)

    async def work(inner: Context) -> Login | FactorRequired | None:
        return await operations.reset_by_link(
            inner, body.token, password_hash, undelete=body.undelete, seconds=seconds, client=client, factor=factor
        )

    return await attempt(ctx, work, fires=(SessionsClose,))
