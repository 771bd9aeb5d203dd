"""Authorization operations: record consents, issue codes and tokens, refresh and revoke them."""

import secrets
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct, structs

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.objects.application import IntegrationType
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, AuthorizationId, GuildId, UserId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.resources.application.authorization import queries
from moothall.resources.application.authorization.queries import AuthorizationRow, CodeRow, DeviceCodeRow, TokenRow
from moothall.runtime.secrets import hash_token, new_token
from moothall.storage.database import Reader

CODE_SECONDS: Final = 600
ACCESS_SECONDS: Final = 604_800
REFRESH_SECONDS: Final = 30 * 86_400
FAMILY_SECONDS: Final = 365 * 86_400
"""How long a family of refresh tokens can be renewed; then the user must consent again."""

DEVICE_SECONDS: Final = 900
"""How long a user has to enter the code of a device."""
POLL_SECONDS: Final = 5
"""How long a device waits between two polls; each one that comes sooner adds as much (RFC 8628, section 3.5)."""

_USER_CODE_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no words appear; 20 letters in 8 places are 34 bits (RFC 8628, section 6.1)."""
_USER_CODE_LENGTH: Final = 8
_TOKEN_LENGTH: Final = 30
_REFRESH_PART: Final = 22
_SEPARATOR: Final = "."
_MS: Final = 1000


AUTHORIZATION_GRANTED: Final = Hook[
    [Context, ApplicationId, Sequence[str], IntegrationType | None, GuildId | None], None
]("authorization granted")
"""Called with the scopes, the kind of installation and its guild in the transaction that records a consent."""
AUTHORIZATIONS_REVOKED: Final = Hook[[Context, UserId, Sequence[ApplicationId]], None]("authorizations revoked")
"""Called in the transaction that revokes a user's authorizations of applications."""


class DeviceStatus(IntEnum):
    """What the user has answered to the request of a device."""

    PENDING = 0
    GRANTED = 1
    DENIED = 2


class DeviceCodes(Struct, frozen=True):
    """The code that a device polls with, and the one that its user enters. Only their hashes are stored."""

    device_code: str
    user_code: str


class Tokens(Struct, frozen=True):
    """Issued tokens. Only their hashes are stored."""

    access_token: str
    refresh_token: str | None


async def record_consent(
    ctx: Context,
    application_id: ApplicationId,
    scopes: Sequence[str],
    *,
    user_install: bool,
    guild_id: GuildId | None = None,
) -> None:
    """Add scopes to the caller's authorization of an application, creating it if there is none.

    `guild_id` is the guild that the application was installed to.
    """
    await _store_consent(ctx, application_id, scopes, user_install=user_install)
    kind = None
    if user_install:
        kind = IntegrationType.USER_INSTALL
    elif guild_id is not None:
        kind = IntegrationType.GUILD_INSTALL
    await AUTHORIZATION_GRANTED(ctx, application_id, scopes, kind, guild_id)


async def _store_consent(
    ctx: Context, application_id: ApplicationId, scopes: Sequence[str], *, user_install: bool
) -> None:
    before = await queries.select_authorization(ctx.tx, ctx.actor.user_id, application_id)
    if before is None:
        row = AuthorizationRow(
            user_id=ctx.actor.user_id,
            application_id=application_id,
            id=AuthorizationId(ctx.ids.next()),
            scopes=" ".join(dict.fromkeys(scopes)),
            user_install=user_install,
            created_at=ctx.now,
        )
        await queries.insert_authorization(ctx.tx, row)
        return
    joined = " ".join(dict.fromkeys([*before.scopes.split(), *scopes]))
    installed = before.user_install or user_install
    if (joined, installed) != (before.scopes, before.user_install):
        await queries.update_authorization(ctx.tx, before, scopes=joined, user_install=installed)


async def revoke(ctx: Context, row: AuthorizationRow) -> None:
    """Delete an authorization with its codes, tokens and installation to the account."""
    await queries.delete_authorization(ctx.tx, row.user_id, row.application_id)
    await AUTHORIZATIONS_REVOKED(ctx, row.user_id, [row.application_id])


async def revoke_all(ctx: Context) -> None:
    """Delete all authorizations of the caller, with their codes and tokens."""
    await revoke_all_of(ctx, ctx.actor.user_id)


async def revoke_all_of(ctx: Context, user_id: UserId) -> None:
    """Delete all authorizations of a user, with their codes and tokens."""
    rows = await queries.select_of_user(ctx.tx, user_id)
    await queries.delete_authorizations(ctx.tx, user_id)
    await AUTHORIZATIONS_REVOKED(ctx, user_id, [row.application_id for row in rows])


async def issue_code(
    ctx: Context,
    application_id: ApplicationId,
    scopes: Iterable[str],
    *,
    redirect_uri: str | None,
    challenge: str | None,
    nonce: str | None,
    guild_id: GuildId | None,
    webhook_id: WebhookId | None,
) -> str:
    """Issue a code that the application can exchange for tokens of the caller, once, within `CODE_SECONDS`."""
    code = new_token(_TOKEN_LENGTH)
    row = CodeRow(
        hash=hash_token(code),
        application_id=application_id,
        user_id=ctx.actor.user_id,
        grant_id=AuthorizationId(ctx.ids.next()),
        scopes=" ".join(scopes),
        redirect_uri=redirect_uri,
        challenge=challenge,
        nonce=nonce,
        guild_id=guild_id,
        webhook_id=webhook_id,
        created_at=ctx.now,
        expires_at=Timestamp(ctx.now + CODE_SECONDS * _MS),
        used=False,
    )
    await queries.insert_code(ctx.tx, row)
    return code


async def issue_device_codes(ctx: Context, application_id: ApplicationId, scopes: Iterable[str]) -> DeviceCodes:
    """Issue the codes of a device that asks for scopes, which are good for `DEVICE_SECONDS`."""
    letters = "".join(secrets.choice(_USER_CODE_LETTERS) for _ in range(_USER_CODE_LENGTH))
    codes = DeviceCodes(new_token(_TOKEN_LENGTH), f"{letters[:4]}-{letters[4:]}")
    row = DeviceCodeRow(
        hash=hash_token(codes.device_code),
        user_code_hash=_user_code_hash(codes.user_code),
        application_id=application_id,
        scopes=" ".join(scopes),
        status=int(DeviceStatus.PENDING),
        user_id=None,
        interval=POLL_SECONDS,
        polled_at=None,
        created_at=ctx.now,
        expires_at=Timestamp(ctx.now + DEVICE_SECONDS * _MS),
    )
    await queries.insert_device_code(ctx.tx, row)
    return codes


async def find_device_code(ctx: Context, user_code: str) -> DeviceCodeRow:
    """Find the request of a device by the code that its user enters, in any case and with any separators.

    Raises Refusal 50035 for a code that is unknown or has expired.
    """
    row = await queries.select_by_user_code(ctx.tx, _user_code_hash(user_code), ctx.now)
    if row is None:
        refuse_field("user_code", FormCode.BASE_TYPE_CHOICES, "This code is not known, or not valid any more.")
    return row


async def answer_device(ctx: Context, user_code: str, *, granted: bool) -> None:
    """Grant or deny the request of a device as the caller; a grant is a consent like any other.

    Raises Refusal 50035 for a code that is unknown, has expired or has been answered.
    """
    row = await find_device_code(ctx, user_code)
    status = DeviceStatus.GRANTED if granted else DeviceStatus.DENIED
    if not await queries.answer_device_code(ctx.tx, row.hash, status=int(status), user_id=ctx.actor.user_id):
        refuse_field("user_code", FormCode.BASE_TYPE_CHOICES, "This code has been used.")
    if granted:
        await record_consent(ctx, row.application_id, row.scopes.split(), user_install=False)


async def is_polled_too_soon(ctx: Context, row: DeviceCodeRow) -> bool:
    """Note a poll of a device, and whether it came sooner than `interval` says: then the interval grows."""
    too_soon = row.polled_at is not None and ctx.now < row.polled_at + row.interval * _MS
    interval = row.interval + (POLL_SECONDS if too_soon else 0)
    await queries.note_poll(ctx.tx, row.hash, polled_at=ctx.now, interval=interval)
    return too_soon


def _user_code_hash(user_code: str) -> bytes:
    return hash_token("".join(letter for letter in user_code.upper() if letter.isalnum()))


async def issue_tokens(
    ctx: Context,
    application_id: ApplicationId,
    user_id: UserId,
    scopes: Iterable[str],
    *,
    grant_id: AuthorizationId | None,
    refreshable: bool,
) -> Tokens:
    """Issue an access token and, if `refreshable`, the first refresh token of a family."""
    joined = " ".join(scopes)
    access = new_token(_TOKEN_LENGTH)
    row = TokenRow(
        hash=hash_token(access),
        kind=int(TokenKind.BEARER),
        user_id=user_id,
        application_id=application_id,
        scopes=joined,
        created_at=ctx.now,
        expires_at=Timestamp(ctx.now + ACCESS_SECONDS * _MS),
        grant_id=grant_id,
    )
    await queries.insert_token(ctx.tx, row)
    if not refreshable:
        return Tokens(access, None)
    family = new_token(_REFRESH_PART)
    refresh = _next_refresh_token(family)
    family_row = structs.replace(
        row,
        hash=hash_token(family),
        kind=int(TokenKind.REFRESH),
        expires_at=Timestamp(ctx.now + REFRESH_SECONDS * _MS),
        current_hash=hash_token(refresh),
    )
    await queries.insert_token(ctx.tx, family_row)
    return Tokens(access, refresh)


async def find_token(reader: Reader, token: str) -> TokenRow | None:
    """Find an access token, or the family of a refresh token, used or not; None if unknown."""
    return await queries.select_token(reader, hash_token(_family(token)))


async def renew_tokens(ctx: Context, row: TokenRow, presented: str, scopes: Iterable[str]) -> Tokens | None:
    """Issue tokens for a refresh token and invalidate it; the family keeps its original scopes.

    A refresh token that was used before may be stolen: then the whole family is deleted with its access tokens, and
    the result is None (RFC 9700, section 4.14.2).
    """
    family = _family(presented)
    refresh = _next_refresh_token(family)
    replaced = await queries.replace_refresh_token(
        ctx.tx,
        row.hash,
        hash_token(presented),
        new_hash=hash_token(refresh),
        expires_at=Timestamp(min(ctx.now + REFRESH_SECONDS * _MS, row.created_at + FAMILY_SECONDS * _MS)),
    )
    if not replaced:
        await queries.delete_grant(ctx.tx, row.user_id, row.grant_id)
        return None
    if row.application_id is None:
        raise TypeError("a refresh token without an application")
    issued = await issue_tokens(ctx, row.application_id, row.user_id, scopes, grant_id=row.grant_id, refreshable=False)
    return Tokens(issued.access_token, refresh)


def _family(token: str) -> str:
    """The first part of a refresh token, which all tokens of a family share, so that used tokens need not be stored.

    It is as secret as the whole token. A token without a separator is its own family.
    """
    return token.partition(_SEPARATOR)[0]


def _next_refresh_token(family: str) -> str:
    return f"{family}{_SEPARATOR}{new_token(_REFRESH_PART)}"
