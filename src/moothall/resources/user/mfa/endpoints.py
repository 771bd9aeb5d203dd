"""Two-factor authentication over HTTP (the usual clients' paths)."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.api.ratelimit import Rate
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.ids import Snowflake
from moothall.objects.text import clean_name
from moothall.resources.user.auth_session.client import client_of
from moothall.resources.user.events import SessionsClose, UserUpdate
from moothall.resources.user.factor import queries
from moothall.resources.user.factor.attempts import attempt
from moothall.resources.user.factor.codes import read_secret
from moothall.resources.user.factor.operations import Method, check_evidence, read_evidence, spend_ticket
from moothall.resources.user.factor.proof import (
    is_own_password,
    is_ticket,
    new_proof,
    require_password,
    require_password_or_proof,
    require_proof,
)
from moothall.resources.user.factor.webauthn import read_credential
from moothall.resources.user.mfa import operations
from moothall.resources.user.mfa.operations import Authenticator, BackupCode, CreatedAuthenticator, EnabledMfa

Password = Annotated[str, Meta(max_length=limits.PASSWORD_MAX)]
Code = Annotated[str, Meta(max_length=16)]

_RATE: Final = Rate(10, 60.0)
_DEFAULT_NAME: Final = "Passkey"
_CODES_NOT_KEPT: Final = "Backup codes are shown only when they are made. Make new ones instead."


class EnableTotp(Struct, frozen=True):
    """The secret that the client has made, in base32, and a code of it. Without them only the password is checked."""

    password: Password
    secret: Annotated[str, Meta(max_length=128)] | UnsetType | None = UNSET
    code: Code | UnsetType | None = UNSET


class RenewedSession(Struct, frozen=True):
    """The token that replaces every session of the user."""

    token: str


class RequestBackupCodes(Struct, frozen=True):
    """The caller's password."""

    password: Password


class BackupCodesNonces(Struct, frozen=True):
    """Tickets for the two things that clients can ask for."""

    nonce: str
    regenerate_nonce: str
    key_mailed: bool
    """Whether the next request needs a key that was mailed: so where mail is sent, and the address verified."""


class GetBackupCodes(Struct, frozen=True):
    """The ticket, and the key that was mailed, if one was."""

    nonce: Annotated[str, Meta(max_length=128)]
    key: Annotated[str, Meta(max_length=64)] = ""
    regenerate: bool = False


class BackupCodes(Struct, frozen=True):
    """New backup codes."""

    backup_codes: list[BackupCode]


class MfaMethods(Struct, frozen=True):
    """Whether there are codes of an app, and how many backup codes are left."""

    totp: bool
    backup_codes: int


class CreateAuthenticator(Struct, frozen=True):
    """A name, and the ticket with the credential that the browser made for it, as JSON; nothing to get a ticket."""

    name: Annotated[str, Meta(max_length=limits.AUTHENTICATOR_NAME_MAX)] | UnsetType | None = UNSET
    ticket: Annotated[str, Meta(max_length=128)] | UnsetType | None = UNSET
    credential: Annotated[str, Meta(max_length=limits.WEBAUTHN_MAX)] | UnsetType | None = UNSET


class AuthenticatorResult(Struct, frozen=True, kw_only=True):
    """A ticket and the options for the browser as JSON; or the new authenticator."""

    ticket: str | UnsetType = UNSET
    challenge: str | UnsetType = UNSET
    id: Snowflake | UnsetType = UNSET
    type: int | UnsetType = UNSET
    name: str | UnsetType = UNSET
    backup_codes: list[BackupCode] | UnsetType = UNSET


class ModifyAuthenticator(Struct, frozen=True):
    """The new name."""

    name: Annotated[str, Meta(max_length=limits.AUTHENTICATOR_NAME_MAX)]


class FinishMfa(Struct, frozen=True):
    """The ticket of a refused request, the method, and the code or password."""

    ticket: Annotated[str, Meta(max_length=512)]
    mfa_type: str
    data: Annotated[str, Meta(max_length=limits.WEBAUTHN_MAX)]


class Proof(Struct, frozen=True):
    """What goes into the header `X-Discord-MFA-Authorization` of the repeated request. Good for five minutes."""

    token: str


@post("/users/@me/mfa/totp/enable", permission=PERSON, rate=_RATE, fires=(UserUpdate, SessionsClose), writes=False)
async def enable_totp(ctx: Context, body: EnableTotp) -> EnabledMfa:
    """Enable TOTP, which ends every login of the caller and returns a new token."""
    await require_password(ctx, body.password)
    await require_proof(ctx)
    secret = read_secret(body.secret or "")
    if secret is None:
        raise Refusal(errors.INVALID_MFA_SECRET)
    code, client = body.code or "", client_of(ctx)

    async def work(inner: Context) -> EnabledMfa | None:
        return await operations.enable_totp(inner, secret, code, client)

    return await attempt(ctx, work, fires=(UserUpdate, SessionsClose))


@post("/users/@me/mfa/totp/disable", permission=PERSON, rate=_RATE, fires=(UserUpdate, SessionsClose), writes=False)
async def disable_totp(ctx: Context) -> RenewedSession:
    """Disable TOTP, which ends every login of the caller and returns a new token. Needs a fresh proof."""
    await require_proof(ctx)
    client = client_of(ctx)

    async def work(inner: Context) -> RenewedSession:
        return RenewedSession(await operations.disable_totp(inner, client))

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=(UserUpdate, SessionsClose))


@post("/auth/verify/view-backup-codes-challenge", permission=PERSON, rate=_RATE, writes=False)
async def request_backup_codes(ctx: Context, body: RequestBackupCodes) -> BackupCodesNonces:
    """Request new backup codes. Needs a fresh proof; where mail is sent, the next request needs a mailed key."""
    await require_password(ctx, body.password)
    await require_proof(ctx)

    async def work(inner: Context) -> BackupCodesNonces:
        nonce, mailed = await operations.request_backup_codes(inner)
        return BackupCodesNonces(nonce=nonce, regenerate_nonce=nonce, key_mailed=mailed)

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=())


@post("/users/@me/mfa/codes-verification", permission=PERSON, rate=_RATE, writes=False)
async def get_backup_codes(ctx: Context, body: GetBackupCodes) -> BackupCodes:
    """Replace the caller's backup codes. Those of before cannot be shown, as only their hashes are stored."""
    if not body.regenerate:
        refuse_field("regenerate", "BACKUP_CODES_NOT_STORED", _CODES_NOT_KEPT)

    async def work(inner: Context) -> BackupCodes | None:
        made = await operations.use_backup_codes_ticket(inner, body.nonce, body.key)
        return None if made is None else BackupCodes(made)

    return await attempt(ctx, work, fires=())


@get("/users/@me/mfa", permission=PERSON)
async def get_mfa(ctx: Context) -> MfaMethods:
    """Get whether the caller has codes of an app, and how many backup codes are left."""
    stored = await queries.select_factors(ctx.tx, ctx.actor.user_id)
    return MfaMethods(
        totp=stored is not None and stored.totp_secret is not None,
        backup_codes=await queries.count_backup_codes(ctx.tx, ctx.actor.user_id),
    )


@get("/users/@me/mfa/webauthn/credentials", permission=PERSON)
async def get_authenticators(ctx: Context) -> list[Authenticator]:
    """List the caller's passkeys and security keys."""
    rows = await queries.select_authenticators(ctx.tx, ctx.actor.user_id)
    return [Authenticator(id=row.id, name=row.name) for row in rows]


@post(
    "/users/@me/mfa/webauthn/credentials",
    permission=PERSON,
    rate=_RATE,
    fires=(UserUpdate, SessionsClose),
    writes=False,
)
async def create_authenticator(ctx: Context, body: CreateAuthenticator) -> AuthenticatorResult:
    """Add a passkey or security key: without fields get a ticket and options for the browser, with them add it.

    The first request needs a fresh proof, of the password without a second factor; the second one ends other logins.
    """
    if not body.ticket or not body.credential:
        await require_password_or_proof(ctx, UNSET)
        ticket, challenge = await unit_of_work.run(ctx.services, ctx.actor, operations.request_authenticator, fires=())
        return AuthenticatorResult(ticket=ticket, challenge=challenge)
    made, sent = await read_credential(ctx, body.ticket, body.credential), body.ticket
    name = clean_name(body.name or "")[: limits.AUTHENTICATOR_NAME_MAX] or _DEFAULT_NAME

    async def work(inner: Context) -> CreatedAuthenticator | None:
        return None if made is None else await operations.add_authenticator(inner, sent, name, made)

    added = await attempt(ctx, work, fires=(UserUpdate, SessionsClose))
    return AuthenticatorResult(id=added.id, type=added.type, name=added.name, backup_codes=added.backup_codes)


@patch("/users/@me/mfa/webauthn/credentials/{authenticator_id}", permission=PERSON)
async def modify_authenticator(ctx: Context, authenticator_id: Snowflake, body: ModifyAuthenticator) -> Authenticator:
    """Rename a passkey or security key of the caller. Needs a fresh proof."""
    await require_proof(ctx)
    return await operations.rename_authenticator(ctx, authenticator_id, clean_name(body.name) or _DEFAULT_NAME)


@delete("/users/@me/mfa/webauthn/credentials/{authenticator_id}", permission=PERSON, fires=(UserUpdate, SessionsClose))
async def delete_authenticator(ctx: Context, authenticator_id: Snowflake) -> None:
    """Delete a passkey or security key of the caller, and end other logins. Needs a fresh proof."""
    await require_proof(ctx)
    await operations.delete_authenticator(ctx, authenticator_id)


@post("/mfa/finish", permission=PERSON, rate=_RATE, writes=False)
async def finish_mfa(ctx: Context, body: FinishMfa) -> Proof:
    """Prove a second factor, or without one the password, for a request that was refused with 401/60003."""
    if not is_ticket(ctx, body.ticket):
        raise Refusal(errors.INVALID_MFA_TICKET)
    if not ctx.actor.mfa:
        if body.mfa_type != Method.PASSWORD or not await is_own_password(ctx, body.data):
            raise Refusal(errors.INVALID_MFA_CODE)
        return Proof(new_proof(ctx))

    evidence, user_id = await read_evidence(ctx, body.ticket, body.mfa_type, body.data), ctx.actor.user_id

    async def work(inner: Context) -> Proof | None:
        if evidence.method == Method.WEBAUTHN and not await spend_ticket(inner, body.ticket, user_id):
            raise Refusal(errors.INVALID_MFA_TICKET)
        return Proof(new_proof(ctx)) if await check_evidence(inner, user_id, evidence) else None

    return await attempt(ctx, work, fires=())
