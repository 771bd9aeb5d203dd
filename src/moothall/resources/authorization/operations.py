"""How consents, codes and tokens come to be and end."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.kernel.secrets import hash_token, new_token
from moothall.objects.ids import ApplicationId, AuthorizationId, GuildId, UserId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.resources.authorization import queries
from moothall.resources.authorization.queries import AuthorizationRow, CodeRow, TokenRow

CODE_SECONDS: Final = 600
ACCESS_SECONDS: Final = 604_800
REFRESH_SECONDS: Final = 30 * 86_400

_TOKEN_LENGTH: Final = 30
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
    """An access token, and where it is `refreshable` a refresh token with it."""
    joined = " ".join(scopes)

    async def issue(kind: TokenKind, seconds: int) -> str:
        token = new_token(_TOKEN_LENGTH)
        row = TokenRow(
            hash=hash_token(token),
            kind=int(kind),
            user_id=user_id,
            application_id=application_id,
            scopes=joined,
            created_at=ctx.now,
            expires_at=Timestamp(ctx.now + seconds * _MS),
            grant_id=grant_id,
        )
        await queries.insert_token(ctx.tx, row)
        return token

    access = await issue(TokenKind.BEARER, ACCESS_SECONDS)
    return Tokens(access, await issue(TokenKind.REFRESH, REFRESH_SECONDS) if refreshable else None)
