"""Two-factor operations: enable and disable TOTP, replace backup codes, remove all factors."""

import logging
from typing import Final

from msgspec import Struct

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake, UserId
from moothall.resources.mail.messages import MailKind
from moothall.resources.mail.operations import send_mail, sends_mail
from moothall.resources.user import queries as user_queries
from moothall.resources.user.account_mail.operations import notify_owner
from moothall.resources.user.auth_session.client import LoginClient
from moothall.resources.user.auth_session.operations import begin_session, delete_tokens_of_kind, end_other_sessions
from moothall.resources.user.events import UserUpdate
from moothall.resources.user.factor import codes, queries
from moothall.resources.user.factor.operations import (
    TICKET_MINUTES,
    check_key,
    code_about,
    create_ticket,
    get_ticket,
    totp_about,
    use_ticket,
)
from moothall.resources.user.factor.queries import AuthenticatorRow, TicketPurpose
from moothall.resources.user.factor.webauthn import NewCredential, creation_options, relying_party
from moothall.resources.user.objects import current_user
from moothall.storage.rows import UserRow

NO_PASSKEYS: Final = "Passkeys need a server that is reached by https and by a name."
log = logging.getLogger("moothall.accounts")


class BackupCode(Struct, frozen=True):
    """A code that replaces a second factor once."""

    user_id: UserId
    code: str
    consumed: bool = False


class Authenticator(Struct, frozen=True, kw_only=True):
    """A passkey or security key."""

    id: Snowflake
    type: int = 1
    name: str


class CreatedAuthenticator(Authenticator, frozen=True, kw_only=True):
    """A new one, with backup codes if it is the first factor."""

    backup_codes: list[BackupCode]


class EnabledMfa(Struct, frozen=True):
    """The token that replaces every session of the user, and the backup codes, which are not shown again."""

    token: str
    backup_codes: list[BackupCode]


async def enable_totp(ctx: Context, secret: str, code: str, client: LoginClient) -> EnabledMfa | None:
    """Enable TOTP for the caller, and end every login of the account; None for a code that is not of the secret.

    Raises Refusal 400/60001 for an account that has it.
    """
    row = await _lock_caller(ctx)
    stored = await queries.lock_factors(ctx.tx, row.id)
    if stored is not None and stored.totp_secret is not None:
        raise Refusal(errors.MFA_ENROLLED)
    step = codes.matching_step(secret, code, now=ctx.now, after=0)
    if step is None:
        return None
    sealed = ctx.services.box.encrypt(secret.encode(), about=totp_about(row.id))
    await queries.upsert_secret(ctx.tx, row.id, sealed, step=step)
    backup_codes = await replace_backup_codes(ctx, row.id)
    await _announce(ctx, row, enabled=True)
    await notify_owner(ctx, row, MailKind.MFA_ENABLED)
    return EnabledMfa(await _renew_session(ctx, row, client), backup_codes)


async def disable_totp(ctx: Context, client: LoginClient) -> str:
    """Disable TOTP for the caller, end every login of the account, and return a new session token.

    Raises Refusal 400/60002 for an account without it.
    """
    row = await _lock_caller(ctx)
    stored = await queries.lock_factors(ctx.tx, row.id)
    if stored is None or stored.totp_secret is None:
        raise Refusal(errors.MFA_NOT_ENROLLED)
    if await queries.select_authenticators(ctx.tx, row.id):
        await queries.update_factors(ctx.tx, row.id, totp_secret=None)
        await _announce(ctx, row, enabled=True)
        await notify_owner(ctx, row, MailKind.TOTP_DISABLED)
    else:
        await remove_factors(ctx, row)
    return await _renew_session(ctx, row, client)


async def request_authenticator(ctx: Context) -> tuple[str, str]:
    """Create a ticket for adding a passkey or security key; return it with the options for the browser.

    Raises Refusal: 403/40006 where browsers allow none, 50035 for a user who has twenty.
    """
    if relying_party(ctx) is None:
        raise Refusal(errors.FEATURE_DISABLED, message=NO_PASSKEYS)
    row = await _lock_caller(ctx)
    existing = await queries.select_authenticators(ctx.tx, row.id)
    if len(existing) >= limits.AUTHENTICATORS_MAX:
        refuse_field("name", FormCode.BASE_TYPE_MAX_LENGTH, "You have as many passkeys as there may be.")
    ticket = await create_ticket(ctx, row.id, TicketPurpose.AUTHENTICATOR)
    return ticket, creation_options(ctx, ticket, row, existing)


async def add_authenticator(ctx: Context, ticket: str, name: str, made: NewCredential) -> CreatedAuthenticator | None:
    """Add a passkey or security key to the caller's account, and end its other logins; None for one that exists.

    The first factor of an account brings backup codes. Raises Refusal 400/60006 for a ticket that is not good.
    """
    used = await get_ticket(ctx, ticket, TicketPurpose.AUTHENTICATOR)
    if used.user_id != ctx.actor.user_id:
        raise Refusal(errors.INVALID_MFA_TICKET)
    await use_ticket(ctx, used)
    row = await _lock_caller(ctx)
    if await queries.select_by_credential(ctx.tx, made.credential_id) is not None:
        return None
    key = AuthenticatorRow(ctx.ids.next(), row.id, made.credential_id, made.public_key, made.sign_count, name, ctx.now)
    await queries.insert_authenticator(ctx.tx, key)
    first = not row.mfa_enabled
    backup_codes = await replace_backup_codes(ctx, row.id) if first else []
    await _announce(ctx, row, enabled=True)
    await end_other_sessions(ctx)
    await notify_owner(ctx, row, MailKind.MFA_ENABLED if first else MailKind.PASSKEY_ADDED)
    return CreatedAuthenticator(id=key.id, name=name, backup_codes=backup_codes)


async def rename_authenticator(ctx: Context, authenticator_id: Snowflake, name: str) -> Authenticator:
    """Rename an authenticator of the caller. Raises Refusal 404/10012."""
    if not await queries.rename_authenticator(ctx.tx, ctx.actor.user_id, authenticator_id, name):
        raise Refusal(errors.UNKNOWN_TOKEN)
    return Authenticator(id=authenticator_id, name=name)


async def delete_authenticator(ctx: Context, authenticator_id: Snowflake) -> None:
    """Delete an authenticator of the caller, and end the other logins. The last factor takes the backup codes with it.

    Raises Refusal 404/10012.
    """
    row = await _lock_caller(ctx)
    if not await queries.delete_authenticator(ctx.tx, row.id, authenticator_id):
        raise Refusal(errors.UNKNOWN_TOKEN)
    stored = await queries.lock_factors(ctx.tx, row.id)
    has_totp = stored is not None and stored.totp_secret is not None
    if has_totp or await queries.select_authenticators(ctx.tx, row.id):
        await _announce(ctx, row, enabled=True)
        await notify_owner(ctx, row, MailKind.PASSKEY_REMOVED)
    else:
        await remove_factors(ctx, row)
    await end_other_sessions(ctx)


async def remove_factors(ctx: Context, row: UserRow) -> None:
    """Remove every second factor of a user, with the backup codes, and notify them."""
    await queries.delete_factors(ctx.tx, row.id)
    await _announce(ctx, row, enabled=False)
    await notify_owner(ctx, row, MailKind.MFA_DISABLED)


async def reset_factors(ctx: Context, row: UserRow) -> bool:
    """Remove the second factors of a user for the operator, and end every login; False if there are none."""
    await user_queries.lock_user(ctx.tx, row.id)
    if not row.mfa_enabled:
        return False
    await remove_factors(ctx, row)
    await delete_tokens_of_kind(ctx, row.id, TokenKind.SESSION)
    log.warning("the operator has removed the second factors of %s (%d)", row.username, int(row.id))
    return True


async def replace_backup_codes(ctx: Context, user_id: UserId) -> list[BackupCode]:
    """Make new backup codes for a user; the ones of before are good no longer."""
    made = codes.new_backup_codes()
    box, about = ctx.services.box, code_about(user_id)
    await queries.replace_backup_codes(ctx.tx, user_id, [box.named_digests(code, about=about)[0] for code in made])
    return [BackupCode(user_id, code) for code in made]


async def request_backup_codes(ctx: Context) -> tuple[str, bool]:
    """Create a ticket for new backup codes; return it, and whether a key was mailed that they need as well."""
    row = await _lock_caller(ctx)
    if not row.mfa_enabled:
        raise Refusal(errors.MFA_NOT_ENROLLED)
    key = None
    if row.email is not None and row.verified and sends_mail(ctx):
        key = codes.new_key()
        await send_mail(
            ctx,
            MailKind.BACKUP_CODES_KEY,
            EmailAddress(row.email),
            {"name": row.username, "key": f"{key[:4]}-{key[4:]}", "minutes": str(TICKET_MINUTES)},
            user_id=row.id,
            locale=row.locale,
        )
    return await create_ticket(ctx, row.id, TicketPurpose.BACKUP_CODES, key=key), key is not None


async def use_backup_codes_ticket(ctx: Context, ticket: str, key: str) -> list[BackupCode] | None:
    """Make new backup codes by a ticket of the caller; None for a wrong key. Raises Refusal 400/60009."""
    try:
        row = await get_ticket(ctx, ticket, TicketPurpose.BACKUP_CODES)
    except Refusal:
        raise Refusal(errors.INVALID_MFA_SESSION) from None
    if row.user_id != ctx.actor.user_id:
        raise Refusal(errors.INVALID_MFA_SESSION)
    if not await check_key(ctx, row, key):
        return None
    await use_ticket(ctx, row)
    owner = await _lock_caller(ctx)
    await notify_owner(ctx, owner, MailKind.BACKUP_CODES_CHANGED)
    return await replace_backup_codes(ctx, row.user_id)


async def _lock_caller(ctx: Context) -> UserRow:
    await user_queries.lock_user(ctx.tx, ctx.actor.user_id)
    row = await user_queries.select_user(ctx.tx, ctx.actor.user_id)
    if row is None or row.deleted:
        raise Refusal(errors.NOT_AUTHENTICATED)
    return row


async def _announce(ctx: Context, row: UserRow, *, enabled: bool) -> None:
    if row.mfa_enabled != enabled:
        await user_queries.update_user(ctx.tx, row.id, mfa_enabled=enabled)
        row.mfa_enabled = enabled
    ctx.emit(UserUpdate(user=current_user(row)))


async def _renew_session(ctx: Context, row: UserRow, client: LoginClient) -> str:
    await delete_tokens_of_kind(ctx, row.id, TokenKind.SESSION)
    return await begin_session(ctx, row.id, client, seconds=None)
