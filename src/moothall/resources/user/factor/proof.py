"""Fresh proofs of who sits at a session, which dangerous acts demand (docs/security.md, Two factors).

A refused request carries a ticket. `POST /mfa/finish` exchanges the ticket and a code for a proof, and the request is
repeated with the proof in a header. Ticket and proof are encrypted texts for one session, and are not stored.
"""

import base64
import binascii
from typing import Final

from msgspec import UNSET, UnsetType

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.wire import Timestamp
from moothall.resources.user.factor import queries
from moothall.resources.user.factor.operations import Method
from moothall.resources.user.factor.webauthn import relying_party, request_options
from moothall.resources.user.password.verification import check_own
from moothall.resources.user.queries import select_token_time, select_user
from moothall.runtime.secrets import SecretUnreadable

PROOF_HEADER: Final = "x-discord-mfa-authorization"
PROOF_MS: Final = 300_000
"""Milliseconds for which a proof is good, and a ticket for one."""
_KIND: Final = errors.MFA_REQUIRED._replace(status=401)
_TICKET: Final = b"proof ticket"
_PROOF: Final = b"proof"
_PASSKEY: Final = b"passkey login"
_TEXT_MAX: Final = 512
_FRESH_LOGIN_MS: Final = 600_000
"""How long after logging in a user without a password needs no other proof, in milliseconds."""
_LOG_IN_AGAIN: Final = "This account has no password. Log out and in again, and do this within ten minutes."


async def require_proof(ctx: Context) -> None:
    """Refuse (401/60003, with a ticket) a person with a second factor whose session has not proved it lately."""
    if ctx.actor.kind is TokenKind.SESSION and ctx.actor.mfa and not _has_proof(ctx):
        raise await _refusal(ctx)


async def require_password_or_proof(ctx: Context, password: str | UnsetType | None) -> None:
    """Refuse a person who proves neither: with a second factor that, without one the password.

    Raises Refusal: 401/60003 with a ticket, 50035 at `password` for a wrong one; 429, 503 as `check_own`.
    """
    if _has_proof(ctx):
        return
    if ctx.actor.mfa:
        raise await _refusal(ctx)
    if password is UNSET or password is None:
        row = await select_user(ctx.tx, ctx.actor.user_id)
        if row is None or row.password_hash is not None:
            raise await _refusal(ctx)
        password = ""
    await require_password(ctx, password)


async def require_password(ctx: Context, password: str | UnsetType) -> None:
    """Raise Refusal 50035 at `password` unless it is the caller's; 429, 503 as `check_own`."""
    row = await select_user(ctx.tx, ctx.actor.user_id)
    if row is not None and row.password_hash is None:
        if not await _has_logged_in_lately(ctx):
            errors.refuse_field("password", "PASSWORD_DOES_NOT_MATCH", _LOG_IN_AGAIN)
        return
    if password is UNSET or not await is_own_password(ctx, password):
        errors.refuse_field("password", "PASSWORD_DOES_NOT_MATCH", "Password does not match.")


async def is_own_password(ctx: Context, password: str) -> bool:
    """Whether a password is the caller's. Raises Refusal: 429, 503 as `check_own`.

    Any text is that of an account without one, whose user has logged in lately.
    """
    row = await select_user(ctx.tx, ctx.actor.user_id)
    if row is not None and row.password_hash is None:
        return await _has_logged_in_lately(ctx)
    return row is not None and await check_own(ctx, row, password)


def is_ticket(ctx: Context, text: str) -> bool:
    """Whether a text is the ticket of a refusal to the session of the request."""
    return _is_sealed(ctx, text, _TICKET)


def new_passkey_ticket(ctx: Context) -> str:
    """Make a ticket for a login by passkey alone."""
    return _seal(ctx, _PASSKEY)


def is_passkey_ticket(ctx: Context, text: str) -> bool:
    """Whether a text is a ticket for a login by passkey alone that has not expired."""
    return _is_sealed(ctx, text, _PASSKEY)


def new_proof(ctx: Context) -> str:
    """Make a proof for the session of the request."""
    return _seal(ctx, _PROOF)


def _has_proof(ctx: Context) -> bool:
    return _is_sealed(ctx, ctx.header(PROOF_HEADER) or "", _PROOF)


async def _refusal(ctx: Context) -> Refusal:
    methods: list[dict[str, object]] = []
    ticket = _seal(ctx, _TICKET)
    if ctx.actor.mfa and relying_party(ctx) is not None:
        authenticators = await queries.select_authenticators(ctx.tx, ctx.actor.user_id)
        if authenticators:
            challenge = request_options(ctx, ticket, authenticators)
            methods.append({"type": Method.WEBAUTHN, "challenge": challenge})
    stored = await queries.select_factors(ctx.tx, ctx.actor.user_id) if ctx.actor.mfa else None
    if stored is not None and stored.totp_secret is not None:
        methods.append({"type": Method.TOTP, "backup_codes_allowed": True})
    if ctx.actor.mfa:
        methods.append({"type": Method.BACKUP})
    else:
        methods.append({"type": Method.PASSWORD})
    return Refusal(_KIND, extra={"mfa": {"ticket": ticket, "methods": methods}})


async def _has_logged_in_lately(ctx: Context) -> bool:
    """Whether the session of the request is new: the proof of those who log in without a password."""
    if ctx.actor.kind is not TokenKind.SESSION:
        return False
    started = await select_token_time(ctx.tx, ctx.actor.token_hash)
    return started is not None and started > ctx.now - _FRESH_LOGIN_MS


def _about(ctx: Context, kind: bytes) -> bytes:
    return kind + b" " + ctx.actor.token_hash


def _seal(ctx: Context, kind: bytes) -> str:
    expires_at = int(ctx.now + PROOF_MS).to_bytes(8, "big")
    return base64.urlsafe_b64encode(ctx.services.box.encrypt(expires_at, about=_about(ctx, kind))).decode()


def _is_sealed(ctx: Context, text: str, kind: bytes) -> bool:
    if not text or len(text) > _TEXT_MAX:
        return False
    try:
        opened = ctx.services.box.decrypt(base64.urlsafe_b64decode(text), about=_about(ctx, kind))
    except (binascii.Error, ValueError, SecretUnreadable):
        return False
    return Timestamp(int.from_bytes(opened, "big")) > ctx.now
