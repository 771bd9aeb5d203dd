"""Operations on second factors: check codes, and create and use the tickets of requests that wait for one."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.pipeline import too_many_requests
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.mail.messages import MailKind
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.account_mail.operations import notify_owner
from moothall.resources.user.account_mail.queries import LinkPurpose, delete_links
from moothall.resources.user.factor import codes, queries
from moothall.resources.user.factor.queries import TicketPurpose, TicketRow
from moothall.resources.user.factor.webauthn import Assertion, read_assertion, relying_party, request_options
from moothall.resources.user.queries import select_user
from moothall.runtime.secrets import hash_token, new_token
from moothall.storage.rows import UserRow

TICKET_MINUTES: Final = 10
FAILURES_MAX: Final = 10
"""Wrong TOTP codes of an account in a quarter of an hour, after which it takes none."""
_FAILURES_MS: Final = 900_000
_MINUTE_MS: Final = 60_000
_TICKET_LENGTH: Final = 43
_TOTP_DIGITS: Final = 6


class Method(StrEnum):
    """How a user proves who they are, as the API names it."""

    TOTP = "totp"
    """A TOTP code, or a backup code in its stead."""
    BACKUP = "backup"
    WEBAUTHN = "webauthn"
    """A signature of a passkey or security key."""
    PASSWORD = "password"  # noqa: S105 a method


class Evidence(Struct, frozen=True):
    """What a user proves a second factor by: a code, or for WEBAUTHN a signature that was checked."""

    method: str
    code: str
    assertion: Assertion | None = None


class ProviderLogin(Struct, frozen=True):
    """What an identity provider says of a user who logs in by it."""

    id: Snowflake
    session: str | None
    groups: tuple[str, ...]


class FactorRequired(Struct, frozen=True, kw_only=True):
    """A request waits for a second factor of its user: the ticket to go on with, and what the user has."""

    user_id: UserId
    ticket: str
    totp: bool
    backup: bool
    webauthn: str | None
    """The options for a signature, as JSON; None for a user without passkeys and security keys."""


def totp_about(user_id: UserId) -> bytes:
    """What binds the encrypted TOTP secret to its row."""
    return b"totp %d" % int(user_id)


def code_about(user_id: UserId) -> bytes:
    """What binds the hash of a backup code, or of the key in a mail, to its user."""
    return b"backup code %d" % int(user_id)


async def create_ticket(
    ctx: Context,
    user_id: UserId,
    purpose: TicketPurpose,
    *,
    undelete: bool = False,
    key: str | None = None,
    provider: ProviderLogin | None = None,
) -> str:
    """Create a ticket for a user, good for ten minutes; with `key` only together with that.

    What an identity provider has said of a user who logs in is kept until then.
    """
    ticket = new_token(_TICKET_LENGTH)
    digest = None if key is None else ctx.services.box.digests(key, about=code_about(user_id))[0]
    expires_at = Timestamp(ctx.now + TICKET_MINUTES * _MINUTE_MS)
    row = TicketRow(
        hash_token(ticket),
        user_id,
        purpose,
        undelete,
        digest,
        0,
        expires_at,
        *(() if provider is None else (provider.id, provider.session, list(provider.groups))),
    )
    await queries.insert_ticket(ctx.tx, row, ctx.now)
    return ticket


async def require_factor(
    ctx: Context,
    row: UserRow,
    purpose: TicketPurpose,
    *,
    undelete: bool = False,
    provider: ProviderLogin | None = None,
) -> FactorRequired:
    """Create a ticket with which the user goes on after proving a second factor."""
    ticket = await create_ticket(ctx, row.id, purpose, undelete=undelete, provider=provider)
    stored = await queries.select_factors(ctx.tx, row.id)
    authenticators = await queries.select_authenticators(ctx.tx, row.id)
    return FactorRequired(
        user_id=row.id,
        ticket=ticket,
        totp=stored is not None and stored.totp_secret is not None,
        backup=await queries.count_backup_codes(ctx.tx, row.id) > 0,
        webauthn=request_options(ctx, ticket, authenticators) if authenticators and relying_party(ctx) else None,
    )


async def get_ticket(ctx: Context, ticket: str, purpose: TicketPurpose) -> TicketRow:
    """Read a ticket without using it. Raises Refusal 400/60006 for one that is used, expired or unknown."""
    row = await queries.select_ticket(ctx.tx, hash_token(ticket), purpose, ctx.now)
    if row is None:
        raise Refusal(errors.INVALID_MFA_TICKET)
    return row


async def use_ticket(ctx: Context, row: TicketRow) -> None:
    """Use a ticket, which is then gone. Raises Refusal 400/60006 if another request has used it meanwhile."""
    if not await queries.delete_ticket(ctx.tx, row.hash):
        raise Refusal(errors.INVALID_MFA_TICKET)


async def read_evidence(ctx: Context, ticket: str, method: str, code: str) -> Evidence:
    """Check what needs no transaction: the signature for the ticket."""
    if method != Method.WEBAUTHN:
        return Evidence(method, code)
    return Evidence(method, "", await read_assertion(ctx, ticket, code) if ticket else None)


async def use_assertion(ctx: Context, user_id: UserId, assertion: Assertion | None) -> bool:
    """Whether a signature is of an authenticator that a user still has, and was not used before."""
    if assertion is None or assertion.authenticator.user_id != user_id:
        return False
    return await queries.count_use(ctx.tx, assertion.authenticator.id, assertion.sign_count)


async def spend_ticket(ctx: Context, ticket: str, user_id: UserId) -> bool:
    """Note that a ticket that is not stored was used; False if it was used before."""
    used = TicketPurpose.USED
    ends = Timestamp(ctx.now + TICKET_MINUTES * _MINUTE_MS)
    row = TicketRow(hash_token(ticket), user_id, used, undelete=False, key_hash=None, failures=0, expires_at=ends)
    return await queries.insert_new_ticket(ctx.tx, row, ctx.now)


async def check_evidence(ctx: Context, user_id: UserId, evidence: Evidence) -> bool:
    """Whether evidence is good for a user, who has then used it. Raises as `check_code`."""
    if evidence.method == Method.WEBAUTHN:
        good = await use_assertion(ctx, user_id, evidence.assertion)
    else:
        good = await check_code(ctx, user_id, evidence.method, evidence.code)
    if good:
        # Who has a second factor has not lost it.
        await call_off_recovery(ctx, user_id)
    return good


async def call_off_recovery(ctx: Context, user_id: UserId) -> bool:
    """Let second factors stay that were to be removed as lost ones, and notify the user; False if none were."""
    if not await queries.delete_recovery(ctx.tx, user_id):
        return False
    await delete_links(ctx.tx, user_id, LinkPurpose.RECOVERY)
    await record_act(ctx, "user.recovery_call_off", user_id, by_account=user_id)
    owner = await select_user(ctx.tx, user_id)
    if owner is not None:
        await notify_owner(ctx, owner, MailKind.RECOVERY_CALLED_OFF)
    return True


async def check_code(ctx: Context, user_id: UserId, method: str, code: str) -> bool:
    """Whether a code is good for a user, who has then used it: no code is accepted twice.

    A wrong TOTP code is counted, so the transaction must be committed. Raises Refusal 429 for a TOTP code after ten
    wrong ones; backup codes cannot be guessed, and are accepted then as well.
    """
    row = await queries.lock_factors(ctx.tx, user_id)
    if method not in {Method.TOTP, Method.BACKUP}:
        return False
    stripped = codes.read_backup_code(code)
    if method == Method.BACKUP or len(stripped) != _TOTP_DIGITS:
        hashes = ctx.services.box.named_digests(stripped, about=code_about(user_id))
        return await queries.consume_backup_code(ctx.tx, user_id, hashes)
    if row is None:
        return False
    failures = row.failures if row.failures_end_at > ctx.now else 0
    if failures >= FAILURES_MAX:
        raise too_many_requests((row.failures_end_at - ctx.now) / 1000, "user", [])
    if row.totp_secret is None:
        return False
    secret = ctx.services.box.decrypt(row.totp_secret, about=totp_about(user_id)).decode()
    step = codes.matching_step(secret, stripped, now=ctx.now, after=row.totp_step)
    if step is not None:
        await queries.update_factors(ctx.tx, user_id, totp_step=step, failures=0)
        return True
    ends_at = row.failures_end_at if failures else Timestamp(ctx.now + _FAILURES_MS)
    await queries.update_factors(ctx.tx, user_id, failures=failures + 1, failures_end_at=ends_at)
    if failures + 1 == FAILURES_MAX:
        owner = await select_user(ctx.tx, user_id)
        if owner is not None:
            await notify_owner(ctx, owner, MailKind.WRONG_CODES)
    return False


async def check_key(ctx: Context, row: TicketRow, key: str) -> bool:
    """Whether a key is that of a ticket's mail. A wrong one is counted; the ticket ends with the fifth."""
    if row.key_hash is None:
        return True
    if row.key_hash in ctx.services.box.digests(codes.read_backup_code(key), about=code_about(row.user_id)):
        return True
    if row.failures + 1 >= _WRONG_KEYS_MAX:
        await queries.delete_ticket(ctx.tx, row.hash)
    else:
        await queries.update_ticket(ctx.tx, row.hash, failures=row.failures + 1)
    return False


_WRONG_KEYS_MAX: Final = 5
