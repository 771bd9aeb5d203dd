"""Consent: applying a user's answer to an authorization request (RFC 6749, section 4)."""

from typing import Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from msgspec import Struct, structs

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.oauth2.authorization_request import AuthorizationQuery, ResolvedRequest, resolve_request
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, GuildId, WebhookId
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.scopes import BOT, COMMANDS, INSTALL_SCOPES, OPENID
from moothall.resources.application.access import can_manage_application
from moothall.resources.application.authorization.operations import (
    ACCESS_SECONDS,
    issue_code,
    issue_tokens,
    record_consent,
)
from moothall.resources.application.authorization.queries import select_authorization
from moothall.resources.application.queries import lock_application
from moothall.resources.integration.operations import ADD_BOT_EVENTS, add_bot, install_commands
from moothall.resources.webhook.operations import DELETE_WEBHOOK_EVENTS as WEBHOOK_EVENTS
from moothall.resources.webhook.operations import add_webhook, require_supports_webhooks

AUTHORIZE_EVENTS: Final[Fires] = (*ADD_BOT_EVENTS, *WEBHOOK_EVENTS)
"""The events that `authorize` may emit."""

_DENIED: Final = "The resource owner or authorization server denied the request"
_NOT_PROMPTED: Final = "The resource owner has to be asked"
_NAME_MAX: Final = 80


class Consent(Struct, frozen=True, kw_only=True):
    """A user's answer. None takes the value of the authorization request."""

    authorize: bool = True
    guild_id: GuildId | None = None
    permissions: PermissionSet | None = None
    webhook_channel_id: ChannelId | None = None
    integration_type: int | None = None


class Location(Struct, frozen=True):
    """The URL that the user's browser is redirected to."""

    location: str


async def authorize(ctx: Context, query: AuthorizationQuery, consent: Consent) -> Location:
    """Apply a consent: install, create a webhook, issue a code or token; return the redirect to the application.

    Raises Refusal: 404/10002, 403/20012 for another user's private bot, 50035 for an invalid request, 404/10004 for a
    guild that the user is not in, 403/50013 without MANAGE_GUILD or a requested permission, without MANAGE_WEBHOOKS
    for a webhook, and as `add_bot` and `add_webhook`.
    """
    application = await lock_application(ctx.tx, query.client_id)
    if application is None or application.disabled:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    if consent.integration_type is not None and query.integration_type is None:
        query = structs.replace(query, integration_type=consent.integration_type)
    request = resolve_request(application, query)
    if not consent.authorize:
        return _redirect(ctx, request, query, {"error": "access_denied", "error_description": _DENIED})
    await require_installable(ctx, request)
    guild_id = query.guild_id if consent.guild_id is None else consent.guild_id
    _require_choices(request, guild_id, consent)
    permissions = request.permissions if consent.permissions is None else consent.permissions
    installs_to_guild = request.wants_guild or (
        guild_id is not None and COMMANDS in request.scopes and not request.user_install
    )
    if installs_to_guild:
        await _install(ctx, request, guild_id, permissions)
    webhook_id = None
    if request.wants_webhook:
        webhook_id = await _create_webhook(ctx, request, guild_id, consent.webhook_channel_id)
    await record_consent(
        ctx,
        application.id,
        request.scopes,
        user_install=request.user_install,
        guild_id=guild_id if installs_to_guild else None,
    )
    response: dict[str, str] = {}
    if guild_id is not None and BOT in request.scopes:
        response = {"guild_id": str(int(guild_id)), "permissions": permissions.wire()}
    if request.response_type == "code":
        response["code"] = await issue_code(
            ctx,
            application.id,
            request.scopes,
            redirect_uri=query.redirect_uri,
            challenge=request.challenge,
            nonce=query.nonce if OPENID in request.scopes else None,
            guild_id=guild_id if BOT in request.scopes else None,
            webhook_id=webhook_id,
        )
    elif request.response_type == "token":
        tokens = await issue_tokens(
            ctx, application.id, ctx.actor.user_id, request.scopes, grant_id=None, refreshable=False
        )
        response |= {
            "access_token": tokens.access_token,
            "token_type": "Bearer",
            "expires_in": str(ACCESS_SECONDS),
            "scope": " ".join(request.scopes),
        }
    return _redirect(ctx, request, query, response)


async def is_authorized(ctx: Context, request: ResolvedRequest) -> bool:
    """Whether the caller has consented to the whole request before, so that `prompt=none` shows no page."""
    if request.wants_guild or request.wants_webhook:
        return False
    row = await select_authorization(ctx.tx, ctx.actor.user_id, request.application.id)
    return (
        row is not None and set(request.scopes) <= set(row.scopes.split()) and row.user_install >= request.user_install
    )


def redirect_unprompted(ctx: Context, request: ResolvedRequest, query: AuthorizationQuery) -> Location:
    """The redirect for `prompt=none` when the user would have to log in or consent."""
    error = "consent_required" if ctx.actor.signed_in else "login_required"
    return _redirect(ctx, request, query, {"error": error, "error_description": _NOT_PROMPTED})


async def require_installable(ctx: Context, request: ResolvedRequest) -> None:
    """Raise Refusal 403/20012 if the request installs a private bot of which the caller is not owner or team member."""
    application = request.application
    installs = any(scope in INSTALL_SCOPES for scope in request.scopes)
    if installs and not application.bot_public and not await can_manage_application(ctx, application, read_only=True):
        raise Refusal(errors.NOT_APPLICATION_OWNER)


def _require_choices(request: ResolvedRequest, guild_id: GuildId | None, consent: Consent) -> None:
    form_errors = FormErrors()
    if guild_id is None and (request.wants_guild or request.wants_webhook):
        form_errors.add("guild_id", *FieldError.required())
    if consent.webhook_channel_id is None and request.wants_webhook:
        form_errors.add("webhook_channel_id", *FieldError.required())
    form_errors.raise_if_any()


async def _install(
    ctx: Context, request: ResolvedRequest, guild_id: GuildId | None, permissions: PermissionSet
) -> None:
    if guild_id is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    await ctx.enter_guild(guild_id)
    ctx.require(Permissions.MANAGE_GUILD)
    ctx.require(permissions)
    scopes = [scope for scope in request.scopes if scope in INSTALL_SCOPES]
    if BOT in scopes:
        await add_bot(ctx, request.application, permissions=permissions, scopes=scopes)
    else:
        await install_commands(ctx, request.application)


async def _create_webhook(
    ctx: Context, request: ResolvedRequest, guild_id: GuildId | None, channel_id: ChannelId | None
) -> WebhookId:
    if channel_id is None or guild_id is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    access = await ctx.enter_channel(channel_id)
    if access.guild is None or access.guild.id != guild_id:
        refuse_field("webhook_channel_id", FormCode.BASE_TYPE_CHOICES, "This channel is not in the guild.")
    ctx.require(Permissions.MANAGE_WEBHOOKS)
    require_supports_webhooks(access.channel)
    application = request.application
    webhook = await add_webhook(
        ctx,
        channel_id,
        name=application.name[:_NAME_MAX],
        avatar=application.icon,
        user_id=ctx.actor.user_id,
        application_id=application.id,
    )
    return webhook.id


def _redirect(ctx: Context, request: ResolvedRequest, query: AuthorizationQuery, response: dict[str, str]) -> Location:
    """The redirect URI with the response parameters: in the fragment for a token, in the query otherwise."""
    if query.state is not None:
        response["state"] = query.state
    if request.redirect_uri is None:
        return Location(f"{ctx.services.limits.public_url}/oauth2/authorized?{urlencode(response)}")
    parts = urlsplit(request.redirect_uri)
    if request.response_type == "token":
        return Location(urlunsplit(parts._replace(fragment=urlencode(response))))
    encoded = f"{parts.query}&{urlencode(response)}" if parts.query else urlencode(response)
    return Location(urlunsplit(parts._replace(query=encoded)))
