"""What an application asks of a person, and what the person's consent does (RFC 6749, section 4)."""

import re
from typing import Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from msgspec import Struct

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.objects import errors
from moothall.objects.application import InstallParams, IntegrationType
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, WebhookId
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.redirect_uris import redirect_uri_error
from moothall.objects.scopes import (
    BOT,
    COMMANDS,
    GRANTABLE_SCOPES,
    INSTALL_SCOPES,
    OPENID,
    SCOPES,
    WEBHOOK,
    read_scopes,
)
from moothall.objects.wire import convert
from moothall.resources.application.access import can_manage_application
from moothall.resources.application.authorization.operations import (
    ACCESS_SECONDS,
    issue_code,
    issue_tokens,
    record_consent,
)
from moothall.resources.application.authorization.queries import select_authorization
from moothall.resources.application.queries import ApplicationRow, lock_application
from moothall.resources.integration.operations import ADD_BOT_EVENTS, add_bot, install_commands
from moothall.resources.webhook.operations import DELETE_WEBHOOK_EVENTS as ANNOUNCING_WEBHOOKS
from moothall.resources.webhook.operations import add_webhook, require_supports_webhooks

AUTHORIZING: Final[Fires] = (*ADD_BOT_EVENTS, *ANNOUNCING_WEBHOOKS)
"""What a row declares to fire if a person may consent in it."""

_DENIED: Final = "The resource owner or authorization server denied the request"
_UNASKED: Final = "The resource owner has to be asked"
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_RESPONSE_TYPES: Final = ("code", "token")
_NAME_MAX: Final = 80


class Consent(Struct, frozen=True, kw_only=True):
    """A person's answer. What it leaves out is taken from the request that was asked."""

    authorize: bool = True
    guild_id: GuildId | None = None
    permissions: PermissionSet | None = None
    webhook_channel_id: ChannelId | None = None
    integration_type: int | None = None


class Location(Struct, frozen=True):
    """Where the person's browser goes next."""

    location: str


class Asked(Struct, frozen=True, kw_only=True):
    """What an application asks for: the query of its link."""

    client_id: ApplicationId
    scope: str | None = None
    permissions: PermissionSet | None = None
    guild_id: GuildId | None = None
    response_type: str | None = None
    redirect_uri: str | None = None
    state: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None
    integration_type: int | None = None
    nonce: str | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """A request that makes sense: what a consent to it would do."""

    application: ApplicationRow
    scopes: list[str]
    permissions: PermissionSet
    redirect_uri: str | None
    """Where the answer goes; None for a plain installation, which nobody is told of."""
    response_type: str | None
    user_install: bool
    challenge: str | None

    @property
    def wants_guild(self) -> bool:
        """Whether the person has to choose a guild to install the application in."""
        return BOT in self.scopes or (COMMANDS in self.scopes and not self.user_install and self.response_type is None)

    @property
    def wants_webhook(self) -> bool:
        """Whether the person has to choose a channel that gets a webhook."""
        return WEBHOOK in self.scopes


def read_plan(application: ApplicationRow, asked: Asked) -> Plan:
    """What an application's link asks for.

    Raises Refusal 50035 with every field that is wrong; one whose `redirect_uri` is wrong must be
    shown to the person and never sent there.
    """
    form_errors = FormErrors()
    kind = _integration_type(application, asked, form_errors)
    scopes, permissions = _scopes(application, asked, kind, form_errors)
    redirect_uri = _redirect(application, asked, scopes, form_errors)
    if asked.response_type and asked.response_type not in _RESPONSE_TYPES:
        form_errors.add("response_type", *FieldError.choices(_RESPONSE_TYPES))
    elif not asked.response_type and application.bot_require_code_grant and BOT in scopes:
        form_errors.add("response_type", FormCode.BASE_TYPE_REQUIRED, "Integration requires code grant")
    elif not asked.response_type and not set(scopes) <= set(INSTALL_SCOPES):
        form_errors.add("response_type", *FieldError.required())
    challenge = _challenge(application, asked, form_errors)
    form_errors.raise_if_any()
    return Plan(
        application=application,
        scopes=scopes,
        permissions=permissions,
        redirect_uri=redirect_uri,
        response_type=asked.response_type or None,
        user_install=kind == IntegrationType.USER_INSTALL and COMMANDS in scopes,
        challenge=challenge,
    )


async def authorize(ctx: Context, asked: Asked, consent: Consent) -> Location:
    """Do what a person consents to, and say where their browser goes with the answer.

    Raises Refusal: 404/10002, 403/20012 for another's private bot, 50035 for a request that makes no
    sense, 404/10004 for a guild not joined, 403/50013 without MANAGE_GUILD or a permission that is
    asked for, without MANAGE_WEBHOOKS for a webhook, and as `add_bot` and `add_webhook`.
    """
    application = await lock_application(ctx.tx, asked.client_id)
    if application is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    if consent.integration_type is not None and asked.integration_type is None:
        asked = _with_type(asked, consent.integration_type)
    plan = read_plan(application, asked)
    if not consent.authorize:
        return denied(ctx, plan, asked)
    await require_addable(ctx, plan)
    guild_id = asked.guild_id if consent.guild_id is None else consent.guild_id
    _require_choices(plan, guild_id, consent)
    permissions = plan.permissions if consent.permissions is None else consent.permissions
    if plan.wants_guild or (guild_id is not None and COMMANDS in plan.scopes and not plan.user_install):
        await _install(ctx, plan, guild_id, permissions)
    webhook_id = await _make_webhook(ctx, plan, guild_id, consent.webhook_channel_id) if plan.wants_webhook else None
    await record_consent(ctx, application.id, plan.scopes, user_install=plan.user_install)
    given: dict[str, str] = {}
    if guild_id is not None and BOT in plan.scopes:
        given = {"guild_id": str(int(guild_id)), "permissions": permissions.wire()}
    if plan.response_type == "code":
        given["code"] = await issue_code(
            ctx,
            application.id,
            plan.scopes,
            redirect_uri=asked.redirect_uri,
            challenge=plan.challenge,
            nonce=asked.nonce if OPENID in plan.scopes else None,
            guild_id=guild_id if BOT in plan.scopes else None,
            webhook_id=webhook_id,
        )
    elif plan.response_type == "token":
        tokens = await issue_tokens(
            ctx, application.id, ctx.actor.user_id, plan.scopes, grant_id=None, refreshable=False
        )
        given |= {
            "access_token": tokens.access_token,
            "token_type": "Bearer",
            "expires_in": str(ACCESS_SECONDS),
            "scope": " ".join(plan.scopes),
        }
    return _location(ctx, plan, asked, given)


async def is_authorized(ctx: Context, plan: Plan) -> bool:
    """Whether the caller has consented to all of it before, so that `prompt=none` needs not ask again."""
    if plan.wants_guild or plan.wants_webhook:
        return False
    row = await select_authorization(ctx.tx, ctx.actor.user_id, plan.application.id)
    return row is not None and set(plan.scopes) <= set(row.scopes.split()) and row.user_install >= plan.user_install


def assures_identity(plan: Plan) -> bool:
    """Whether only the application itself can use the answer, so that `prompt=none` may do without the person.

    A token in an address and a code that anyone exchanges without a secret are good for whichever program gets hold
    of them, and any program may claim a scheme or listen on the loopback address (RFC 8252, section 8.6). A scheme of
    its own is a program on people's devices, whose secret is none (section 8.5). An https address is its owner's.
    """
    if plan.response_type != "code" or plan.redirect_uri is None:
        return False
    scheme = urlsplit(plan.redirect_uri).scheme
    return scheme == "https" or (scheme == "http" and not plan.application.public_client)


def may_be_silent(plan: Plan) -> bool:
    """Whether a consent of before will do: nothing is sent to the application, or only it can use what is sent."""
    return plan.response_type is None or assures_identity(plan)


def denied(ctx: Context, plan: Plan, asked: Asked) -> Location:
    """Where the browser goes with a no."""
    return _location(ctx, plan, asked, {"error": "access_denied", "error_description": _DENIED})


def unasked(ctx: Context, plan: Plan, asked: Asked) -> Location:
    """Where the browser goes that was not to be asked (`prompt=none`), though there is something to ask."""
    error = "consent_required" if ctx.actor.signed_in else "login_required"
    return _location(ctx, plan, asked, {"error": error, "error_description": _UNASKED})


async def require_addable(ctx: Context, plan: Plan) -> None:
    """What is not public is installed by its owner, or who is in its team, only (403/20012)."""
    application = plan.application
    installs = any(scope in INSTALL_SCOPES for scope in plan.scopes)
    if installs and not application.bot_public and not await can_manage_application(ctx, application, read_only=True):
        raise Refusal(errors.NOT_APPLICATION_OWNER)


def _with_type(asked: Asked, kind: int) -> Asked:
    return Asked(**{name: getattr(asked, name) for name in asked.__struct_fields__} | {"integration_type": kind})


def _integration_type(application: ApplicationRow, asked: Asked, form_errors: FormErrors) -> int:
    supported = tuple(int(key) for key in application.integration_types_config or {})
    if asked.integration_type is None:
        return int(IntegrationType.GUILD_INSTALL)
    if asked.integration_type not in supported:
        form_errors.add("integration_type", *FieldError.choices(supported))
    return asked.integration_type


def _scopes(
    application: ApplicationRow, asked: Asked, kind: int, form_errors: FormErrors
) -> tuple[list[str], PermissionSet]:
    """The scopes and permissions asked for; a link that names none asks for the application's defaults."""
    scopes = read_scopes(asked.scope or "")
    permissions = Permissions.NONE if asked.permissions is None else asked.permissions
    if not scopes:
        defaults = _defaults(application, kind)
        if defaults is None or asked.redirect_uri is not None or asked.response_type:
            form_errors.add("scope", *FieldError.required())
            return [], PermissionSet(permissions)
        scopes = defaults.scopes
        permissions = defaults.permissions if asked.permissions is None else asked.permissions
    for scope in scopes:
        if scope not in SCOPES:
            form_errors.add("scope", *FieldError.choices(SCOPES))
            break
        if scope not in GRANTABLE_SCOPES:
            form_errors.add(
                "scope", FormCode.BASE_TYPE_CHOICES, f"The scope {scope} is not given to applications here."
            )
        elif scope == BOT and kind == IntegrationType.USER_INSTALL:
            form_errors.add("scope", FormCode.BASE_TYPE_CHOICES, "A bot cannot be installed to a user.")
    return scopes, PermissionSet(permissions)


def _defaults(application: ApplicationRow, kind: int) -> InstallParams | None:
    config = (application.integration_types_config or {}).get(str(kind)) or {}
    params = config.get("oauth2_install_params") or (
        application.install_params if kind == IntegrationType.GUILD_INSTALL else None
    )
    return None if params is None else convert(params, InstallParams)


def _redirect(application: ApplicationRow, asked: Asked, scopes: list[str], form_errors: FormErrors) -> str | None:
    # Those that older versions let be registered are checked again.
    registered = [uri for uri in application.redirect_uris if redirect_uri_error(uri) is None]
    if asked.redirect_uri is not None:
        if asked.redirect_uri not in registered:
            form_errors.add(
                "redirect_uri", FormCode.BASE_TYPE_CHOICES, "This redirect URI is not registered for the application."
            )
        return asked.redirect_uri
    if not asked.response_type or (not registered and set(scopes) <= set(INSTALL_SCOPES)):
        return None
    if not registered:
        form_errors.add("redirect_uri", FormCode.BASE_TYPE_REQUIRED, "The application has registered no redirect URI.")
        return None
    return registered[0]


def _challenge(application: ApplicationRow, asked: Asked, form_errors: FormErrors) -> str | None:
    if not asked.code_challenge:
        # A method alone is what remains of a request whose challenge was taken away.
        if asked.response_type == "code" and (application.public_client or asked.code_challenge_method):
            form_errors.add("code_challenge", *FieldError.required())
        return None
    if asked.code_challenge_method != "S256":
        form_errors.add("code_challenge_method", *FieldError.choices(("S256",)))
    if not _CHALLENGE.fullmatch(asked.code_challenge):
        form_errors.add("code_challenge", FormCode.BASE_TYPE_BAD_TYPE, "This is no SHA-256 in base64url.")
    return asked.code_challenge


def _require_choices(plan: Plan, guild_id: GuildId | None, consent: Consent) -> None:
    form_errors = FormErrors()
    if guild_id is None and (plan.wants_guild or plan.wants_webhook):
        form_errors.add("guild_id", *FieldError.required())
    if consent.webhook_channel_id is None and plan.wants_webhook:
        form_errors.add("webhook_channel_id", *FieldError.required())
    form_errors.raise_if_any()


async def _install(ctx: Context, plan: Plan, guild_id: GuildId | None, permissions: PermissionSet) -> None:
    if guild_id is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    await ctx.enter_guild(guild_id)
    ctx.require(Permissions.MANAGE_GUILD)
    ctx.require(permissions)
    scopes = [scope for scope in plan.scopes if scope in INSTALL_SCOPES]
    if BOT in scopes:
        await add_bot(ctx, plan.application, permissions=permissions, scopes=scopes)
    else:
        await install_commands(ctx, plan.application)


async def _make_webhook(ctx: Context, plan: Plan, guild_id: GuildId | None, channel_id: ChannelId | None) -> WebhookId:
    if channel_id is None or guild_id is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    access = await ctx.enter_channel(channel_id)
    if access.guild is None or access.guild.id != guild_id:
        refuse_field("webhook_channel_id", FormCode.BASE_TYPE_CHOICES, "This channel is not in the guild.")
    ctx.require(Permissions.MANAGE_WEBHOOKS)
    require_supports_webhooks(access.channel)
    application = plan.application
    made = await add_webhook(
        ctx,
        channel_id,
        name=application.name[:_NAME_MAX],
        avatar=application.icon,
        user_id=ctx.actor.user_id,
        application_id=application.id,
    )
    return made.id


def _location(ctx: Context, plan: Plan, asked: Asked, given: dict[str, str]) -> Location:
    if asked.state is not None:
        given["state"] = asked.state
    if plan.redirect_uri is None:
        return Location(f"{ctx.services.limits.public_url}/oauth2/authorized?{urlencode(given)}")
    parts = urlsplit(plan.redirect_uri)
    if plan.response_type == "token":
        return Location(urlunsplit(parts._replace(fragment=urlencode(given))))
    query = f"{parts.query}&{urlencode(given)}" if parts.query else urlencode(given)
    return Location(urlunsplit(parts._replace(query=query)))
