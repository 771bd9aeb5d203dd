"""OAuth2 over HTTP, as clients speak it (api.md, Authentication; topics: oauth2)."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from moothall.kernel.access import Access
from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, post
from moothall.oauth2 import authorizing
from moothall.oauth2.authorizing import Asked, Consent, Location, require_addable
from moothall.oauth2.queries import select_expiry
from moothall.objects import errors, limits
from moothall.objects.application import Application
from moothall.objects.errors import Refusal
from moothall.objects.guild import UserGuild
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.user import User
from moothall.objects.wire import Timestamp
from moothall.resources.application.access import PERSON, find_application
from moothall.resources.application.operations import public_fields
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.guild.listing import list_guilds
from moothall.resources.installation.operations import ADDING
from moothall.resources.user.queries import get_user


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
    """Those of the person's guilds where they may add the bot."""
    authorized: bool = False


class CurrentAuthorization(Struct, frozen=True, kw_only=True):
    """What an access token stands for; `user` is there with the scope identify."""

    application: Application
    scopes: list[str]
    expires: Timestamp | None
    user: User | UnsetType = UNSET


@get("/oauth2/authorize", permission=PERSON)
async def get_authorization_request(ctx: Context, *, client_id: ApplicationId) -> AuthorizationRequest:
    """What an application is, and where the caller may add its bot."""
    row = await find_application(ctx, client_id)
    require_addable(ctx, row)
    user = await get_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    bot = await _bot_of(ctx, row)
    guilds = await list_guilds(ctx, before=None, after=None, most=limits.GUILD_LIST_MAX, with_counts=False)
    return AuthorizationRequest(
        application=Application(**public_fields(row, bot)),
        bot=UNSET if bot is None else bot,
        user=user,
        guilds=[guild for guild in guilds if guild.permissions & Permissions.MANAGE_GUILD],
    )


@post("/oauth2/authorize", permission=PERSON, fires=ADDING)
async def authorize_application(
    ctx: Context,
    body: Consent,
    *,
    client_id: ApplicationId,
    scope: str = "",
    permissions: PermissionSet = Permissions.NONE,
    guild_id: GuildId | None = None,
    response_type: str | None = None,
) -> Location:
    """Consent to what an application asks for: with the scope bot, add its bot to a guild that the caller manages."""
    asked = Asked(
        client_id=client_id, scope=scope, permissions=permissions, guild_id=guild_id, response_type=response_type
    )
    return await authorizing.authorize(ctx, asked, body)


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
