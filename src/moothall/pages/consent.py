"""The consent page: the authorization endpoint for browsers (RFC 6749, section 3.1; topics: oauth2).

Errors of a link are shown to the user. Browsers are redirected to the application only for a valid link, and only to a
redirect URI that the application has registered.
"""

from typing import Final
from urllib.parse import urlencode

from msgspec import Struct, structs
from starlette.responses import Response

import moothall.oauth2.endpoints  # noqa: F401 for its row
from moothall.api.context import Context
from moothall.api.endpoint import REGISTRY
from moothall.api.request.parameters import read_query
from moothall.oauth2.authorization_request import (
    AuthorizationQuery,
    ResolvedRequest,
    is_client_assured,
    resolve_request,
)
from moothall.oauth2.consent import (
    AUTHORIZE_EVENTS,
    Consent,
    Location,
    authorize,
    is_authorized,
    redirect_unprompted,
    require_installable,
)
from moothall.objects import errors, limits
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import HAS_WEBHOOKS
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake
from moothall.objects.permissions import BY_NAME, Permissions, PermissionSet
from moothall.objects.scopes import BOT, COMMANDS, INSTALL_SCOPES, WEBHOOK
from moothall.pages.forms import Form, parse_integer
from moothall.pages.labels import link_field_label, permission_choices, scope_label
from moothall.pages.page_request import LoginRequired, PageRequest
from moothall.pages.paths import CONSENT_PATH
from moothall.pages.rendering import field_errors, redirect, render_page
from moothall.resources.application.authorization.operations import ACCESS_SECONDS, FAMILY_SECONDS
from moothall.resources.application.queries import select_application
from moothall.resources.guild.listing import list_guilds

_ROW: Final = REGISTRY["POST", "/oauth2/authorize"]
_ACCESS_DAYS: Final = {"code": FAMILY_SECONDS // 86_400, "token": ACCESS_SECONDS // 86_400}
"""How many days an application has access, by response type."""


class GuildChoices(Struct, frozen=True, kw_only=True):
    """The guilds and channels that the user can choose from, as ids and names."""

    guilds: list[tuple[int, str]]
    guild_id: int | None
    """The guild that is selected."""
    required: bool
    """Whether a guild must be chosen."""
    fixed: bool
    """Whether the link fixes the guild (`disable_guild_select`)."""
    channels: list[tuple[int, str]]


async def show_request(request: PageRequest) -> Response:
    """The consent page; with `prompt=none` the redirect of an earlier consent, or of an error."""
    try:
        link, resolved = await _read_link(request)
    except Refusal as refusal:
        return await _render_link_errors(request, refusal)
    silent = (
        request.query.get("prompt") == "none"
        and resolved.redirect_uri is not None
        and resolved.response_type is not None
    )
    # Nothing is installed without asking.
    silent = (
        silent
        and not resolved.wants_webhook
        and not (resolved.wants_guild or _installs_commands(resolved, link.guild_id))
    )
    if not request.actor.signed_in:
        if silent:
            return _redirect_to(request, redirect_unprompted(request.per_query_context(), resolved, link))
        raise LoginRequired
    async with request.reading() as ctx:
        await require_installable(ctx, resolved)
        authorized = silent and is_client_assured(resolved) and await is_authorized(ctx, resolved)
    if authorized:
        return await _consent(request, link, Consent())
    if silent:
        return _redirect_to(request, redirect_unprompted(request.per_query_context(), resolved, link))
    return await _render_consent(request, resolved)


async def answer_request(request: PageRequest) -> Response:
    """Apply the user's decision, and redirect to the application."""
    request.require_login()
    form = await request.read_form()
    try:
        link, resolved = await _read_link(request)
    except Refusal as refusal:
        return await _render_link_errors(request, refusal)
    if link.scope is None and form.text("scopes") != " ".join(resolved.scopes):
        # A link without scopes takes those of the application's settings, which have changed since the page was shown.
        return await _render_consent(request, resolved)
    fixed_guild_id = link.guild_id if request.query.get("disable_guild_select") == "true" else None
    # The form decides, not the guild that the link preselected.
    link = structs.replace(link, guild_id=None)
    try:
        return await _consent(request, link, _read_consent(form, resolved, fixed_guild_id))
    except Refusal as refusal:
        return await _render_consent(request, resolved, refusal, form)


async def show_installed(request: PageRequest) -> Response:
    """The page after an installation without a redirect URI."""
    return await render_page(request, "installed.html", denied="error" in request.query)


async def redirect_from_api(request: PageRequest) -> Response:
    """Redirect a browser from the API's path of the consent page to the page, with its query."""
    query = request.http.query_string.decode("latin-1")
    response = redirect(f"{CONSENT_PATH}?{query}" if query else CONSENT_PATH, status=302)
    response.headers["vary"] = "accept, authorization"
    return response


async def _read_link(request: PageRequest) -> tuple[AuthorizationQuery, ResolvedRequest]:
    """Read the query of an authorization link. Raises Refusal: 50035, 404/10002."""
    query = read_query(_ROW.signature.query_parameters, request.http.query_string)
    link = AuthorizationQuery(**query)
    async with request.reading() as ctx:
        row = await select_application(ctx.tx, link.client_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return link, resolve_request(row, link)


def _installs_commands(resolved: ResolvedRequest, guild_id: GuildId | None) -> bool:
    """Whether consenting installs the application's commands to the guild."""
    return guild_id is not None and COMMANDS in resolved.scopes and not resolved.user_install


async def _consent(request: PageRequest, link: AuthorizationQuery, consent: Consent) -> Response:
    async def work(ctx: Context) -> Location:
        return await authorize(ctx, link, consent)

    return _redirect_to(request, await request.run(work, fires=AUTHORIZE_EVENTS, lock=consent.guild_id))


def _read_consent(form: Form, resolved: ResolvedRequest, fixed_guild_id: GuildId | None) -> Consent:
    if form.text("answer") != "allow":
        return Consent(authorize=False)
    guild_id, channel_id = form.integer("guild_id"), form.integer("webhook_channel_id")
    permissions = None
    if resolved.permissions and BOT in resolved.scopes:
        # The user may grant less than was requested, never more.
        bits = {str(int(bit)): int(bit) for bit in BY_NAME.values() if resolved.permissions & bit}
        permissions = PermissionSet(sum({bits[text] for text in form.texts("permission") if text in bits}))
    if fixed_guild_id is None and guild_id is not None:
        fixed_guild_id = GuildId(Snowflake(guild_id))
    return Consent(
        guild_id=fixed_guild_id,
        permissions=permissions,
        webhook_channel_id=None if channel_id is None else ChannelId(Snowflake(channel_id)),
    )


def _redirect_to(request: PageRequest, location: Location) -> Response:
    # A path stays at the host by which the browser reached this server.
    installed_page = f"{_public_url(request)}/oauth2/authorized"
    text = location.location
    return redirect(text.removeprefix(_public_url(request)) if text.partition("?")[0] == installed_page else text)


def _public_url(request: PageRequest) -> str:
    return request.services.limits.public_url


async def _render_consent(
    request: PageRequest, resolved: ResolvedRequest, refusal: Refusal | None = None, form: Form | None = None
) -> Response:
    async with request.reading() as ctx:
        choices = await _guild_choices(request, ctx, resolved, form)
        authorized = await is_authorized(ctx, resolved)
    gets_tokens = bool(set(resolved.scopes) - {*INSTALL_SCOPES, WEBHOOK})
    return await render_page(
        request,
        "consent.html",
        refusal=refusal,
        redirects_away=True,
        application=resolved.application,
        scopes=[(scope, scope_label(scope, request.gettext)) for scope in resolved.scopes],
        permissions=permission_choices(resolved.permissions, request.gettext) if BOT in resolved.scopes else [],
        ticked=None if form is None else set(form.texts("permission")),
        choices=choices,
        wants_channel=resolved.wants_webhook,
        user_install=resolved.user_install,
        authorized=authorized,
        access_days=_ACCESS_DAYS.get(resolved.response_type or "") if gets_tokens else None,
        redirect_uri=resolved.redirect_uri,
        query=[(name, value) for name, value in request.query.items() if name != "guild_id"],
        other_link=_other_installation_link(request, resolved),
    )


async def _guild_choices(
    request: PageRequest, ctx: Context, resolved: ResolvedRequest, form: Form | None
) -> GuildChoices | None:
    """The guilds where the user has the permissions that consenting needs; None if the link asks for no guild."""
    installs = resolved.wants_guild or (COMMANDS in resolved.scopes and not resolved.user_install)
    if not installs and not resolved.wants_webhook:
        return None
    needed = int(Permissions.MANAGE_GUILD if installs else Permissions.NONE)
    if resolved.wants_webhook:
        needed |= Permissions.MANAGE_WEBHOOKS
    own_guilds = await list_guilds(ctx, before=None, after=None, maximum=limits.GUILD_LIST_MAX, with_counts=False)
    guilds = [(int(guild.id), guild.name) for guild in own_guilds if guild.permissions & needed == needed]
    required = resolved.wants_guild or resolved.wants_webhook
    guild_id = parse_integer(request.query.get("guild_id", ""))
    fixed = guild_id is not None and request.query.get("disable_guild_select") == "true"
    if fixed:
        guilds = [guild for guild in guilds if guild[0] == guild_id]
    elif form is not None:
        guild_id = form.integer("guild_id")
    if guild_id not in {each for each, _ in guilds}:
        guild_id = guilds[0][0] if len(guilds) == 1 and required else None
    channels = (
        await _channels(ctx, GuildId(Snowflake(guild_id))) if resolved.wants_webhook and guild_id is not None else []
    )
    return GuildChoices(guilds=guilds, guild_id=guild_id, required=required, fixed=fixed, channels=channels)


async def _channels(ctx: Context, guild_id: GuildId) -> list[tuple[int, str]]:
    """The channels of a guild in which the user may create webhooks, by position."""
    await ctx.enter_guild(guild_id)
    needed = Permissions.VIEW_CHANNEL | Permissions.MANAGE_WEBHOOKS
    channels = sorted(
        (await ctx.guild.channels(ctx.tx)).values(), key=lambda channel: (channel.position or 0, channel.id)
    )
    return [
        (int(channel.id), str(channel.name))
        for channel in channels
        if channel.type in HAS_WEBHOOKS and ctx.member.permissions_in(channel) & needed == needed
    ]


def _other_installation_link(request: PageRequest, resolved: ResolvedRequest) -> str | None:
    """The link that installs to the user instead of a guild, or the reverse; None if only one is possible."""
    if resolved.response_type is not None or COMMANDS not in resolved.scopes:
        return None
    application = resolved.application
    kind = IntegrationType.GUILD_INSTALL if resolved.user_install else IntegrationType.USER_INSTALL
    if str(int(kind)) not in (application.integration_types_config or {}):
        return None
    scope = COMMANDS if kind is IntegrationType.USER_INSTALL else request.query.get("scope")
    scope = scope if "scope" in request.query else None
    try:
        resolve_request(
            application, AuthorizationQuery(client_id=application.id, scope=scope, integration_type=int(kind))
        )
    except Refusal:
        return None
    query = {"client_id": str(int(application.id)), "integration_type": str(int(kind))}
    return f"/oauth2/authorize?{urlencode(query if scope is None else query | {'scope': scope})}"


async def _render_link_errors(request: PageRequest, refusal: Refusal) -> Response:
    """The page of an invalid link: what is wrong with each of its parameters."""
    rows = [(link_field_label(name, request.gettext), messages) for name, messages in field_errors(refusal).items()]
    return await render_page(
        request, "invalid_link.html", status=refusal.status, fields_with_errors=rows, message=refusal.message
    )
