"""OAuth2 over HTTP, as clients and applications speak it (api.md, Authentication; topics: oauth2)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.kernel import unit_of_work
from moothall.kernel.access import PERSON, PUBLIC, SIGNED_IN, Access
from moothall.kernel.authenticate import ANONYMOUS, TokenKind
from moothall.kernel.context import Context
from moothall.kernel.endpoint import Json, get, post
from moothall.kernel.ratelimit import Rate
from moothall.oauth2 import authorizing, exchanging, identity
from moothall.oauth2.authorizing import AUTHORIZING, Asked, Consent, Location
from moothall.oauth2.clients import CLIENT, ClientRequest, authenticate_client
from moothall.oauth2.exchanging import TokenAnswer, TokenRequest
from moothall.oauth2.identity import PublicKeys, UserInfo
from moothall.oauth2.queries import select_expiry
from moothall.oauth2.refusals import INVALID_REQUEST, OAuthRefusal
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
from moothall.resources.application.authorization.operations import find_token
from moothall.resources.application.authorization.queries import delete_given
from moothall.resources.application.objects import public_fields
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.guild.listing import list_guilds
from moothall.resources.user.queries import get_user

_EXCHANGES: Final = Rate(50, 10.0)
_NO_STORE: Final = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))

State = Annotated[str, Meta(max_length=2048)]
Uri = Annotated[str, Meta(max_length=2048)]
Word = Annotated[str, Meta(max_length=512)]


class AccessToken(Access):
    """Whoever comes with an OAuth2 access token, whatever its scopes."""

    label = "access token"
    needs_actor = False  # so that no scope is asked for

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:  # noqa: ARG002 any path
        """Raises Refusal: 401 for every other caller."""
        if ctx.actor.kind is not TokenKind.BEARER:
            raise Refusal(errors.NOT_AUTHENTICATED)


class AuthorizationRequest(Struct, frozen=True, kw_only=True):
    """What a client shows before it asks for consent."""

    application: Application
    bot: User | UnsetType = UNSET
    user: User
    guilds: list[UserGuild]
    """Those of the person's guilds where they may install it."""
    authorized: bool
    """Whether the person has consented to all of it before and need not be asked again."""
    scopes: list[str]
    permissions: PermissionSet
    redirect_uri: str | None
    wants_guild: bool
    wants_webhook: bool
    integration_type: int


class CurrentAuthorization(Struct, frozen=True, kw_only=True):
    """What an access token stands for; `user` is there with the scope identify."""

    application: Application
    scopes: list[str]
    expires: Timestamp | None
    user: User | UnsetType = UNSET


class RevokeRequest(ClientRequest, frozen=True, kw_only=True):
    """The form of revoking a token (RFC 7009)."""

    token: str | None = None
    token_type_hint: str | None = None


class Nothing(Struct, frozen=True):
    """An empty object."""


@get("/oauth2/authorize", permission=PERSON)
async def get_authorization_request(
    ctx: Context,
    *,
    client_id: ApplicationId,
    scope: Word | None = None,
    permissions: PermissionSet | None = None,
    guild_id: GuildId | None = None,
    response_type: Word | None = None,
    redirect_uri: Uri | None = None,
    state: State | None = None,
    code_challenge: Word | None = None,
    code_challenge_method: Word | None = None,
    integration_type: int | None = None,
    nonce: Word | None = None,
) -> AuthorizationRequest:
    """What an application asks of the caller, and where they may install it."""
    row = await find_application(ctx, client_id)
    asked = Asked(
        client_id=client_id,
        # Without anything else it is a question for what the application is.
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
    plan = authorizing.read_plan(row, asked)
    await authorizing.require_addable(ctx, plan)
    return await authorization_request(ctx, plan)


async def authorization_request(ctx: Context, plan: authorizing.Plan) -> AuthorizationRequest:
    """What the caller is shown of a request that makes sense."""
    row = plan.application
    user = await get_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    bot = await _bot_of(ctx, row)
    guilds = await list_guilds(ctx, before=None, after=None, maximum=limits.GUILD_LIST_MAX, with_counts=False)
    needed = Permissions.MANAGE_GUILD if plan.wants_guild else Permissions.MANAGE_WEBHOOKS
    return AuthorizationRequest(
        application=Application(**public_fields(row, bot)),
        bot=UNSET if bot is None else bot,
        user=user,
        guilds=[guild for guild in guilds if guild.permissions & needed],
        authorized=authorizing.may_be_silent(plan) and await authorizing.is_authorized(ctx, plan),
        scopes=plan.scopes,
        permissions=plan.permissions,
        redirect_uri=plan.redirect_uri,
        wants_guild=plan.wants_guild,
        wants_webhook=plan.wants_webhook,
        integration_type=int(plan.user_install),
    )


@post("/oauth2/authorize", permission=PERSON, fires=AUTHORIZING)
async def authorize_application(
    ctx: Context,
    body: Consent,
    *,
    client_id: ApplicationId,
    scope: Word | None = None,
    permissions: PermissionSet | None = None,
    guild_id: GuildId | None = None,
    response_type: Word | None = None,
    redirect_uri: Uri | None = None,
    state: State | None = None,
    code_challenge: Word | None = None,
    code_challenge_method: Word | None = None,
    integration_type: int | None = None,
    nonce: Word | None = None,
) -> Location:
    """Consent to what an application asks for, or say no; where the browser goes with the answer.

    With the scope bot its bot is added to a guild that the caller manages, with webhook.incoming a
    webhook is made in a channel of it.
    """
    asked = Asked(
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
    return await authorizing.authorize(ctx, asked, body)


@post("/oauth2/token", permission=CLIENT, rate=_EXCHANGES, writes=False)
async def exchange_token(ctx: Context, body: TokenRequest) -> Json[TokenAnswer]:
    """Tokens for a code, a refresh token or the client's own secret; refusals in the shape of RFC 6749."""
    client = await authenticate_client(ctx, body)
    await identity.ready(ctx.services)

    async def work(inner: Context) -> TokenAnswer | OAuthRefusal:
        return await exchanging.exchange(inner, client, body)

    answer = await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=())
    if isinstance(answer, OAuthRefusal):
        raise answer
    return Json(encode(answer), _NO_STORE)


@post("/oauth2/token/revoke", permission=CLIENT, rate=_EXCHANGES, writes=False)
async def revoke_token(ctx: Context, body: RevokeRequest) -> Nothing:
    """End a token with all others of the same person and application; one that is unknown is ended already."""
    client = await authenticate_client(ctx, body)
    if body.token is None:
        raise OAuthRefusal(INVALID_REQUEST, "token is required")
    row = await find_token(ctx.tx, body.token)
    if row is not None and row.application_id == client.application.id:
        user_id, application_id = row.user_id, client.application.id

        async def work(inner: Context) -> None:
            await delete_given(inner.tx, user_id, application_id)

        await unit_of_work.run(ctx.services, ANONYMOUS, work, fires=())
    return Nothing()


@get("/oauth2/keys", permission=PUBLIC)
async def get_public_keys(ctx: Context) -> PublicKeys:
    """The keys that id tokens are verified with (RFC 7517)."""
    return await identity.public_keys(ctx.services)


@get("/oauth2/userinfo", permission=SIGNED_IN, scope=OPENID)
async def get_openid_connect_userinfo(ctx: Context) -> UserInfo:
    """The claims about whom an access token of the scope openid stands for."""
    scopes = ctx.actor.scopes if ctx.actor.kind is TokenKind.BEARER else frozenset({"email"})
    return await identity.user_info(ctx, ctx.actor.user_id, scopes)


@get("/oauth2/@me", permission=AccessToken())
async def get_current_authorization_information(ctx: Context) -> CurrentAuthorization:
    """What the access token of this request stands for."""
    if ctx.actor.application_id is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    row = await find_application(ctx, ctx.actor.application_id)
    user = await get_user(ctx.tx, ctx.actor.user_id) if "identify" in ctx.actor.scopes else None
    return CurrentAuthorization(
        application=Application(**public_fields(row, await _bot_of(ctx, row))),
        scopes=sorted(ctx.actor.scopes),
        expires=await select_expiry(ctx.tx, ctx.actor.token_hash),
        user=UNSET if user is None else user,
    )


async def _bot_of(ctx: Context, row: ApplicationRow) -> User | None:
    return await get_user(ctx.tx, UserId(row.id) if row.bot_user_id is None else row.bot_user_id)
