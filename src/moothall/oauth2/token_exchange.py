"""The grants of the token endpoint: code, refresh token, client credentials, device code (RFC 6749, 7636, 8628)."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.oauth2.client_authentication import Client, ClientRequest
from moothall.oauth2.oauth_errors import (
    ACCESS_DENIED,
    AUTHORIZATION_PENDING,
    EXPIRED_TOKEN,
    INVALID_GRANT,
    INVALID_REQUEST,
    INVALID_SCOPE,
    SLOW_DOWN,
    UNAUTHORIZED_CLIENT,
    UNSUPPORTED_GRANT_TYPE,
    OAuthRefusal,
)
from moothall.oauth2.openid import id_token
from moothall.objects.guild import Guild
from moothall.objects.ids import ApplicationId, AuthorizationId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.scopes import BOT, CLIENT_CREDENTIAL_SCOPES, OPENID, UPDATE_COMMANDS, read_scopes
from moothall.objects.webhook import Webhook
from moothall.resources.application.authorization import queries
from moothall.resources.application.authorization.operations import (
    ACCESS_SECONDS,
    DeviceStatus,
    Tokens,
    find_token,
    is_polled_too_soon,
    issue_tokens,
    renew_tokens,
)
from moothall.resources.application.authorization.queries import CodeRow
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.guild.objects import guild_object
from moothall.resources.webhook.operations import show_webhook
from moothall.resources.webhook.queries import select_webhook
from moothall.runtime.secrets import hash_token

DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_TEAM_SCOPES: Final = frozenset({"identify", UPDATE_COMMANDS})


class TokenRequest(ClientRequest, frozen=True, kw_only=True):
    """The form of a token request."""

    grant_type: str | None = None
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    device_code: str | None = None
    scope: str | None = None


class TokenResponse(Struct, frozen=True, kw_only=True):
    """A token response: `expires_in` in seconds, `webhook` with the scope webhook.incoming, `guild` with bot."""

    token_type: str = "Bearer"  # noqa: S105 the type, no secret
    access_token: str
    expires_in: int = ACCESS_SECONDS
    refresh_token: str | UnsetType = UNSET
    scope: str
    id_token: str | UnsetType = UNSET
    guild: Guild | UnsetType = UNSET
    webhook: Webhook | UnsetType = UNSET


async def exchange(ctx: Context, client: Client, body: TokenRequest) -> TokenResponse | OAuthRefusal:
    """Exchange the grant of a token request for tokens.

    The second use of a code or refresh token returns its OAuthRefusal instead of raising it, because the transaction
    commits the revocation of the tokens of the first use; so does a poll of a device, which is counted. Every other
    error raises OAuthRefusal with status 400.
    """
    if body.grant_type == "authorization_code":
        return await _exchange_code(ctx, client, body)
    if body.grant_type == "refresh_token":
        return await _refresh(ctx, client, body)
    if body.grant_type == "client_credentials":
        return await _issue_to_owner(ctx, client, body)
    if body.grant_type == DEVICE_GRANT:
        return await _poll(ctx, client, body)
    if body.grant_type is None:
        raise OAuthRefusal(INVALID_REQUEST, "grant_type is required")
    raise OAuthRefusal(UNSUPPORTED_GRANT_TYPE, "This grant_type is not known")


async def _exchange_code(ctx: Context, client: Client, body: TokenRequest) -> TokenResponse | OAuthRefusal:
    if body.code is None:
        raise OAuthRefusal(INVALID_REQUEST, "code is required")
    digest = hash_token(body.code)
    row = await queries.select_code(ctx.tx, digest)
    if row is None or row.application_id != client.application.id or row.expires_at <= ctx.now:
        raise OAuthRefusal(INVALID_GRANT, "Invalid code")
    _check_redirect(row, client, body)
    _check_verifier(row, client, body)
    if not await queries.use_code(ctx.tx, digest):
        await queries.delete_grant(ctx.tx, row.user_id, row.grant_id)
        return OAuthRefusal(INVALID_GRANT, "The code was used before")
    scopes = row.scopes.split()
    tokens = await issue_tokens(
        ctx, client.application.id, row.user_id, scopes, grant_id=row.grant_id, refreshable=True
    )
    return await _token_response(ctx, client.application, row.user_id, scopes, tokens, code=row)


def _check_redirect(row: CodeRow, client: Client, body: TokenRequest) -> None:
    """Require the redirect URI of the authorization request; if it had none, a registered one or none."""
    allowed = {row.redirect_uri} if row.redirect_uri is not None else {None, *client.application.redirect_uris}
    if body.redirect_uri not in allowed:
        raise OAuthRefusal(INVALID_GRANT, "redirect_uri is not the one of the authorization")


def _check_verifier(row: CodeRow, client: Client, body: TokenRequest) -> None:
    if row.challenge is None:
        if body.code_verifier is not None or not client.confidential:
            raise OAuthRefusal(INVALID_GRANT, "The code was given without a code_challenge")
        return
    if body.code_verifier is None:
        raise OAuthRefusal(INVALID_GRANT, "code_verifier is required")
    digest = hashlib.sha256(body.code_verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=")
    if not hmac.compare_digest(challenge, row.challenge.encode()):
        raise OAuthRefusal(INVALID_GRANT, "code_verifier does not fit")


async def _refresh(ctx: Context, client: Client, body: TokenRequest) -> TokenResponse | OAuthRefusal:
    if body.refresh_token is None:
        raise OAuthRefusal(INVALID_REQUEST, "refresh_token is required")
    row = await find_token(ctx.tx, body.refresh_token)
    if (
        row is None
        or row.kind != TokenKind.REFRESH
        or row.application_id != client.application.id
        or (row.expires_at is not None and row.expires_at <= ctx.now)
    ):
        raise OAuthRefusal(INVALID_GRANT, "Invalid refresh token")
    consented = row.scopes.split()
    scopes = consented if body.scope is None else read_scopes(body.scope)
    tokens = await renew_tokens(ctx, row, body.refresh_token, scopes)
    if tokens is None:
        return OAuthRefusal(INVALID_GRANT, "The refresh token was used before")
    if not set(scopes) <= set(consented):
        # Raising rolls the renewal back: the refresh token stays valid.
        raise OAuthRefusal(INVALID_SCOPE, "A refresh cannot ask for more than was consented to")
    return await _token_response(ctx, client.application, row.user_id, scopes, tokens)


async def _poll(ctx: Context, client: Client, body: TokenRequest) -> TokenResponse | OAuthRefusal:
    """The tokens of a device whose user has granted them; they are given once (RFC 8628, section 3.5)."""
    if body.device_code is None:
        raise OAuthRefusal(INVALID_REQUEST, "device_code is required")
    row = await queries.select_device_code(ctx.tx, hash_token(body.device_code))
    if row is None or row.application_id != client.application.id:
        raise OAuthRefusal(INVALID_GRANT, "Invalid device_code")
    if row.expires_at <= ctx.now:
        raise OAuthRefusal(EXPIRED_TOKEN, "The device_code has expired")
    if row.status == DeviceStatus.DENIED:
        raise OAuthRefusal(ACCESS_DENIED, "The user has denied the request")
    if row.status == DeviceStatus.PENDING or row.user_id is None:
        if await is_polled_too_soon(ctx, row):
            return OAuthRefusal(SLOW_DOWN, "Wait longer between two requests")
        return OAuthRefusal(AUTHORIZATION_PENDING, "The user has not answered yet")
    if not await queries.delete_device_code(ctx.tx, row.hash):
        raise OAuthRefusal(INVALID_GRANT, "Invalid device_code")
    scopes = row.scopes.split()
    tokens = await issue_tokens(
        ctx,
        client.application.id,
        row.user_id,
        scopes,
        grant_id=AuthorizationId(ctx.ids.next()),
        refreshable=True,
    )
    return await _token_response(ctx, client.application, row.user_id, scopes, tokens)


async def _issue_to_owner(ctx: Context, client: Client, body: TokenRequest) -> TokenResponse:
    if not client.confidential:
        raise OAuthRefusal(UNAUTHORIZED_CLIENT, "A public client has no credentials")
    scopes = read_scopes(body.scope or "")
    if not scopes:
        raise OAuthRefusal(INVALID_SCOPE, "scope is required")
    allowed = CLIENT_CREDENTIAL_SCOPES if client.application.team_id is None else _TEAM_SCOPES
    if unknown := [scope for scope in scopes if scope not in allowed]:
        raise OAuthRefusal(INVALID_SCOPE, f"Not given to a client by itself: {' '.join(unknown)[:100]}")
    application = client.application
    tokens = await issue_tokens(ctx, application.id, application.owner_id, scopes, grant_id=None, refreshable=False)
    return TokenResponse(access_token=tokens.access_token, scope=" ".join(scopes))


async def _token_response(
    ctx: Context,
    application: ApplicationRow,
    user_id: UserId,
    scopes: Sequence[str],
    tokens: Tokens,
    *,
    code: CodeRow | None = None,
) -> TokenResponse:
    optional: JsonObject = {}
    if code is not None and code.webhook_id is not None:
        row = await select_webhook(ctx.tx, code.webhook_id)
        if row is not None:
            optional["webhook"] = await show_webhook(ctx, row, knows_token=True)
    if code is not None and code.guild_id is not None and BOT in scopes:
        await ctx.visit_guild(code.guild_id)
        optional["guild"] = guild_object(ctx.guild)
    if OPENID in scopes:
        nonce = None if code is None else code.nonce
        optional["id_token"] = await id_token(ctx, ApplicationId(application.id), user_id, scopes, nonce)
    return TokenResponse(
        access_token=tokens.access_token,
        refresh_token=UNSET if tokens.refresh_token is None else tokens.refresh_token,
        scope=" ".join(scopes),
        **optional,
    )
