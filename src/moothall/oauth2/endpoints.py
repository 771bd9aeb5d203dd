"""OAuth2 endpoints (api.md, Authentication; topics: oauth2)."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api import unit_of_work
from moothall.api.access import PERSON, PUBLIC, SIGNED_IN, Access, PathValues
from moothall.api.authenticate import ANONYMOUS, TokenKind
from moothall.api.context import Context
from moothall.api.endpoint import Json, get, post
from moothall.api.ratelimit import Rate
from moothall.oauth2 import openid, token_exchange
from moothall.oauth2.authorization_request import AuthorizationQuery, ResolvedRequest, can_skip_consent, resolve_request
from moothall.oauth2.client_authentication import CLIENT, ClientRequest, authenticate_client
from moothall.oauth2.consent import (
    AUTHORIZE_EVENTS,
    Consent,
    Location,
    authorize,
    is_authorized,
    require_installable,
)
from moothall.oauth2.device_flow import (
    DeviceAuthorization,
    DeviceFlow,
    DeviceRequest,
    FinishDeviceFlow,
    VerifyDeviceFlow,
    authorize_device,
    show_device_flow,
)
from moothall.oauth2.oauth_errors import INVALID_REQUEST, OAuthRefusal
from moothall.oauth2.openid import PublicKeys, UserInfo
from moothall.oauth2.queries import select_expiry
from moothall.oauth2.token_exchange import TokenRequest, TokenResponse
from moothall.objects import errors, limits
from moothall.objects.application import Application
from moothall.objects.errors import Refusal
from moothall.objects.guild import UserGuild
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.scopes import OPENID
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, encode
from moothall.resources.application.access import find_application
from moothall.resources.application.authorization.operations import answer_device, find_token
from moothall.resources.application.authorization.queries import delete_oauth2_tokens
from moothall.resources.application.objects import public_fields
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.guild.listing import list_guilds
from moothall.resources.user.queries import get_user

_TOKEN_RATE: Final = Rate(50, 10.0)
_DEVICE_RATE: Final = Rate(20, 60.0)
_USER_CODE_RATE: Final = Rate(10, 60.0)
_NO_STORE: Final = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))

State = Annotated[str, Meta(max_length=2048)]
Uri = Annotated[str, Meta(max_length=2048)]
ShortText = Annotated[str, Meta(max_length=512)]


class AccessToken(Access):
    """Any caller with an OAuth2 access token, whatever its scopes."""

    label = "access token"
    needs_actor = False  # so that no scope is required

    async def check(self, ctx: Context, path: PathValues) -> None:  # noqa: ARG002 any path
        """Raise Refusal 401 for any other caller."""
        if ctx.actor.kind is not TokenKind.BEARER:
            raise Refusal(errors.NOT_AUTHENTICATED)


class AuthorizationRequest(Struct, frozen=True, kw_only=True):
    """An authorization request, for a client that shows the consent page."""

    application: Application
    bot: User | UnsetType = UNSET
    user: User
    guilds: list[UserGuild]
    """The caller's guilds in which they may install the application."""
    authorized: bool
    """Whether an earlier consent covers the request, so that the client need not ask."""
    scopes: list[str]
    permissions: PermissionSet
    redirect_uri: str | None
    wants_guild: bool
    wants_webhook: bool
    integration_type: int


class CurrentAuthorization(Struct, frozen=True, kw_only=True):
    """The application, scopes and expiry of an access token; with the scope identify also its user."""

    application: Application
    scopes: list[str]
    expires: Timestamp | None
    user: User | UnsetType = UNSET


class RevokeRequest(ClientRequest, frozen=True, kw_only=True):
    """The form of a token revocation (RFC 7009)."""

    token: str | None = None
    token_type_hint: str | None = None


class EmptyObject(Struct, frozen=True):
    """An empty JSON object."""


@get("/oauth2/authorize", permission=PERSON)
async def get_authorization_request(
    ctx: Context,
    *,
    client_id: ApplicationId,
    scope: ShortText | None = None,
    permissions: PermissionSet | None = None,
    guild_id: GuildId | None = None,
    response_type: ShortText | None = None,
    redirect_uri: Uri | None = None,
    state: State | None = None,
    code_challenge: ShortText | None = None,
    code_challenge_method: ShortText | None = None,
    integration_type: int | None = None,
    nonce: ShortText | None = None,
) -> AuthorizationRequest:
    """Get an authorization request: what the application requests, and the guilds it can be installed in."""
    row = await find_application(ctx, client_id)
    query = AuthorizationQuery(
        client_id=client_id,
        # A link with only a client_id adds the bot.
        scope=scope or ("bot" if response_type is None and redirect_uri is None else None),
        permissions=permissions,
        guild_id=guild_id,
        response_type=response_type or ("code" if row.bot_require_code_grant else None),
        redirect_uri=redirect_uri,
        state=state,
        code_challenge=code_challenge,
        code_challenge_method=code_challenge_method,
        integration_type=integration_type,
        nonce=nonce,
    )
    request = resolve_request(row, query)
    await require_installable(ctx, request)
    return await _show_request(ctx, request)


async def _show_request(ctx: Context, request: ResolvedRequest) -> AuthorizationRequest:
    row = request.application
    user = await get_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    bot = await _get_bot(ctx, row)
    guilds = await list_guilds(ctx, before=None, after=None, maximum=limits.GUILD_LIST_MAX, with_counts=False)
    needed = Permissions.MANAGE_GUILD if request.wants_guild else Permissions.MANAGE_WEBHOOKS
    return AuthorizationRequest(
        application=Application(**public_fields(row, bot)),
        bot=UNSET if bot is None else bot,
        user=user,
        guilds=[guild for guild in guilds if guild.permissions & needed],
        authorized=can_skip_consent(request) and await is_authorized(ctx, request),
        scopes=request.scopes,
        permissions=request.permissions,
        redirect_uri=request.redirect_uri,
        wants_guild=request.wants_guild,
        wants_webhook=request.wants_webhook,
        integration_type=int(request.user_install),
    )


@post("/oauth2/authorize", permission=PERSON, fires=AUTHORIZE_EVENTS)
async def authorize_application(
    ctx: Context,
    body: Consent,
    *,
    client_id: ApplicationId,
    scope: ShortText | None = None,
    permissions: PermissionSet | None = None,
    guild_id: GuildId | None = None,
    response_type: ShortText | None = None,
    redirect_uri: Uri | None = None,
    state: State | None = None,
    code_challenge: ShortText | None = None,
    code_challenge_method: ShortText | None = None,
    integration_type: int | None = None,
    nonce: ShortText | None = None,
) -> Location:
    """Accept or deny an authorization request; returns the URL to redirect the browser to.

    The scope bot adds the application's bot to a guild that the caller manages; webhook.incoming creates a webhook in
    one of its channels.
    """
    query = AuthorizationQuery(
        client_id=client_id,
        scope=scope,
        permissions=permissions,
        guild_id=guild_id,
        response_type=response_type,
        redirect_uri=redirect_uri,
        state=state,
        code_challenge=code_challenge,
        code_challenge_method=code_challenge_method,
        integration_type=integration_type,
        nonce=nonce,
    )
    return await authorize(ctx, query, body)


@post("/oauth2/token", permission=CLIENT, rate=_TOKEN_RATE, writes=False)
async def exchange_token(ctx: Context, body: TokenRequest) -> Json[TokenResponse]:
    """Exchange a code, a refresh token or client credentials for tokens. Errors have the format of RFC 6749."""
    client = await authenticate_client(ctx, body)
    await openid.load_signing_key(ctx.services)

    async def work(inner: Context) -> TokenResponse | OAuthRefusal:
        return await token_exchange.exchange(inner, client, body)

    response = await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=())
    if isinstance(response, OAuthRefusal):
        raise response
    return Json(encode(response), _NO_STORE)


@post("/oauth2/token/revoke", permission=CLIENT, rate=_TOKEN_RATE, writes=False)
async def revoke_token(ctx: Context, body: RevokeRequest) -> EmptyObject:
    """Revoke a token and all others of the same user and application. An unknown token is a success (RFC 7009)."""
    client = await authenticate_client(ctx, body)
    if body.token is None:
        raise OAuthRefusal(INVALID_REQUEST, "token is required")
    row = await find_token(ctx.tx, body.token)
    if row is not None and row.application_id == client.application.id:
        user_id, application_id = row.user_id, client.application.id

        async def work(inner: Context) -> None:
            await delete_oauth2_tokens(inner.tx, user_id, application_id)

        await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=())
    return EmptyObject()


@post("/oauth2/device/authorize", permission=CLIENT, rate=_DEVICE_RATE, writes=False)
async def authorize_oauth2_device(ctx: Context, body: DeviceRequest) -> Json[DeviceAuthorization]:
    """Begin the authorization of a device without a browser (RFC 8628): a code to poll with, one for its user.

    The user enters the second one at `verification_uri`, and the device asks `/oauth2/token` every `interval` seconds.
    """
    client = await authenticate_client(ctx, body)

    async def work(inner: Context) -> DeviceAuthorization:
        return await authorize_device(inner, client, body)

    return Json(encode(await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=())), _NO_STORE)


@post("/oauth2/device/verify", permission=PERSON, rate=_USER_CODE_RATE)
async def get_oauth2_device_flow(ctx: Context, body: VerifyDeviceFlow) -> DeviceFlow:
    """Get what a device asks for, by the code that it shows to its user."""
    return await show_device_flow(ctx, body.user_code)


@post("/oauth2/device/finish", permission=PERSON, rate=_USER_CODE_RATE)
async def finish_oauth2_device_flow(ctx: Context, body: FinishDeviceFlow) -> None:
    """Grant or deny what a device asks for, by the code that it shows to its user. A code is answered once."""
    await answer_device(ctx, body.user_code, granted=body.result == "granted")


@get("/oauth2/keys", permission=PUBLIC)
async def get_public_keys(ctx: Context) -> PublicKeys:
    """Get the public keys that verify id tokens (RFC 7517)."""
    return await openid.public_keys(ctx.services)


@get("/oauth2/userinfo", permission=SIGNED_IN, scope=OPENID)
async def get_openid_connect_userinfo(ctx: Context) -> UserInfo:
    """Get the OpenID Connect claims about the caller."""
    scopes = ctx.actor.scopes if ctx.actor.kind is TokenKind.BEARER else frozenset({"email"})
    return await openid.user_info(ctx, ctx.actor.user_id, scopes)


@get("/oauth2/@me", permission=AccessToken())
async def get_current_authorization_information(ctx: Context) -> CurrentAuthorization:
    """Get the application, scopes, expiry and user of the caller's access token."""
    if ctx.actor.application_id is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    row = await find_application(ctx, ctx.actor.application_id)
    user = await get_user(ctx.tx, ctx.actor.user_id) if "identify" in ctx.actor.scopes else None
    return CurrentAuthorization(
        application=Application(**public_fields(row, await _get_bot(ctx, row))),
        scopes=sorted(ctx.actor.scopes),
        expires=await select_expiry(ctx.tx, ctx.actor.token_hash),
        user=UNSET if user is None else user,
    )


async def _get_bot(ctx: Context, row: ApplicationRow) -> User | None:
    return await get_user(ctx.tx, UserId(row.id) if row.bot_user_id is None else row.bot_user_id)
