"""How consents, codes and tokens come to be and end."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, structs

from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.kernel.secrets import hash_token, new_token
from moothall.objects.ids import ApplicationId, AuthorizationId, GuildId, UserId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.resources.application.authorization import queries
from moothall.resources.application.authorization.queries import AuthorizationRow, CodeRow, TokenRow
from moothall.storage.database import Reader

CODE_SECONDS: Final = 600
ACCESS_SECONDS: Final = 604_800
REFRESH_SECONDS: Final = 30 * 86_400
FAMILY_SECONDS: Final = 365 * 86_400
"""How long refresh tokens can be had for refresh tokens: then the person has to come by again."""

_TOKEN_LENGTH: Final = 30
_REFRESH_PART: Final = 22
_SEPARATOR: Final = "."
_MS: Final = 1000


class Tokens(Struct, frozen=True):
    """What is given for a code: shown this once, kept as hashes only."""

    access_token: str
    refresh_token: str | None


async def record_consent(
    ctx: Context, application_id: ApplicationId, scopes: Iterable[str], *, user_install: bool
) -> None:
    """Remember that the caller lets an application do something, besides what they let it do before."""
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


async def take_back(ctx: Context, row: AuthorizationRow) -> None:
    """End an authorization with every code and token of it, and what it installed to the account."""
    await queries.delete_authorization(ctx.tx, row.user_id, row.application_id)


async def take_back_all(ctx: Context) -> None:
    """End every authorization that the caller has given, with all codes and tokens."""
    await queries.delete_authorizations(ctx.tx, ctx.actor.user_id)


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
    """A code that the application may exchange for tokens of the caller's, once, within ten minutes."""
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


async def issue_tokens(
    ctx: Context,
    application_id: ApplicationId,
    user_id: UserId,
    scopes: Iterable[str],
    *,
    grant_id: AuthorizationId | None,
    refreshable: bool,
) -> Tokens:
    """An access token, and where it is `refreshable` the first refresh token of a family with it."""
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
    """The row of an access token, or of the family that a refresh token belongs to, used or not; None if unknown."""
    return await queries.select_token(reader, hash_token(_family(token)))


async def renew_tokens(ctx: Context, row: TokenRow, presented: str, scopes: Iterable[str]) -> Tokens | None:
    """Tokens for a refresh token, which is used up by it; its family keeps the scopes of its beginning.

    A refresh token that was used before is in two hands, and which of them is the application's cannot be told: the
    whole family ends with every access token of it, and the answer is None (RFC 9700, section 4.14.2).
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
    """What a refresh token shares with those that it replaced: so used ones are known without a list of them.

    The first part is as secret as the whole. A token without a separator is its own family.
    """
    return token.partition(_SEPARATOR)[0]


def _next_refresh_token(family: str) -> str:
    return f"{family}{_SEPARATOR}{new_token(_REFRESH_PART)}"
