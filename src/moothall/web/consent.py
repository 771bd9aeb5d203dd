"""The consent page: an application asks, a person decides (RFC 6749, section 3.1; topics: oauth2).

What is wrong with a link is told to the person. Only where the link itself is in order is anybody sent to the
application, and then to an address that it has registered.
"""

from typing import Final
from urllib.parse import urlencode

from msgspec import Struct, structs

import moothall.oauth2.endpoints  # noqa: F401 for its row
from moothall.kernel.context import Context
from moothall.kernel.endpoint import REGISTRY
from moothall.kernel.parameters import read_query
from moothall.oauth2.authorizing import (
    AUTHORIZING,
    Asked,
    Consent,
    Location,
    Plan,
    assures_identity,
    authorize,
    is_authorized,
    read_plan,
    require_addable,
    unasked,
)
from moothall.objects import errors, limits
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import HAS_WEBHOOKS
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.scopes import BOT, COMMANDS, INSTALL_SCOPES, WEBHOOK
from moothall.resources.application.authorization.operations import ACCESS_SECONDS, FAMILY_SECONDS
from moothall.resources.application.queries import select_application
from moothall.resources.guild.listing import list_guilds
from moothall.web.browsing import Browser, Form, LoginNeeded, Page, read_whole, redirect
from moothall.web.rendering import errors_of, show
from moothall.web.wording import FIELDS, permission_choices, scope_words

_ROW: Final = REGISTRY["POST", "/oauth2/authorize"]
_ACCESS_LASTS: Final = {"code": f"{FAMILY_SECONDS // 86_400} days", "token": f"{ACCESS_SECONDS // 86_400} days"}
"""How long an application can use what it gets, by the kind of answer."""


class Choices(Struct, frozen=True, kw_only=True):
    """What the person can choose between."""

    guilds: list[tuple[int, str]]
    guild_id: int | None
    """The one chosen beforehand."""
    needs_one: bool
    """Whether one must be chosen."""
    fixed: bool
    """Whether the link leaves no choice of the guild."""
    channels: list[tuple[int, str]]


async def show_request(browser: Browser) -> Page:
    """The page; with `prompt=none` the answer at once, where it is known."""
    try:
        asked, plan = await _understand(browser)
    except Refusal as refusal:
        return await _show_wrong(browser, refusal)
    silent = browser.query.get("prompt") == "none" and plan.redirect_uri is not None and plan.response_type is not None
    # What is installed somewhere is never installed unasked.
    silent = silent and not plan.wants_webhook and not (plan.wants_guild or _installs_in(plan, asked.guild_id))
    if not browser.actor.signed_in:
        if silent:
            return _go(browser, unasked(browser.brief_context(), plan, asked))
        raise LoginNeeded
    async with browser.reading() as ctx:
        await require_addable(ctx, plan)
        known = silent and assures_identity(plan) and await is_authorized(ctx, plan)
    if known:
        return await _consent(browser, asked, Consent())
    if silent:
        return _go(browser, unasked(browser.brief_context(), plan, asked))
    return await _show(browser, plan)


async def answer_request(browser: Browser) -> Page:
    """Do what the person has decided, and send them where the application waits."""
    browser.require_person()
    form = await browser.form()
    try:
        asked, plan = await _understand(browser)
    except Refusal as refusal:
        return await _show_wrong(browser, refusal)
    if asked.scope is None and form.text("scopes") != " ".join(plan.scopes):
        # The application's own settings say what a link without scopes asks for, and they have changed meanwhile.
        return await _show(browser, plan)
    fixed = asked.guild_id if browser.query.get("disable_guild_select") == "true" else None
    # What the person has chosen counts, not what the link had chosen for them.
    asked = structs.replace(asked, guild_id=None)
    try:
        return await _consent(browser, asked, _consent_of(form, plan, fixed))
    except Refusal as refusal:
        return await _show(browser, plan, refusal, form)


async def show_installed(browser: Browser) -> Page:
    """Where an installation ends that no application waits for."""
    return await show(browser, "installed.html", denied="error" in browser.query)


async def _understand(browser: Browser) -> tuple[Asked, Plan]:
    """What the link asks for. Raises Refusal: 50035, 404/10002."""
    query = read_query(_ROW.query_parameters, browser.request.query_string)
    asked = Asked(**query)
    async with browser.reading() as ctx:
        row = await select_application(ctx.tx, asked.client_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return asked, read_plan(row, asked)


def _installs_in(plan: Plan, guild_id: GuildId | None) -> bool:
    """Whether the application's commands go to a guild with a consent to it."""
    return guild_id is not None and COMMANDS in plan.scopes and not plan.user_install


async def _consent(browser: Browser, asked: Asked, consent: Consent) -> Page:
    async def work(ctx: Context) -> Location:
        return await authorize(ctx, asked, consent)

    return _go(browser, await browser.run(work, fires=AUTHORIZING, lock=consent.guild_id))


def _consent_of(form: Form, plan: Plan, fixed: GuildId | None) -> Consent:
    if form.text("answer") != "allow":
        return Consent(authorize=False)
    guild_id, channel_id = form.whole("guild_id"), form.whole("webhook_channel_id")
    permissions = None
    if plan.permissions and BOT in plan.scopes:
        # A person may give less than was asked for, never more.
        asked = {str(bit): bit for bit, _, _ in permission_choices(plan.permissions)}
        permissions = PermissionSet(sum({asked[text] for text in form.all("permission") if text in asked}))
    if fixed is None and guild_id is not None:
        fixed = GuildId(Snowflake(guild_id))
    return Consent(
        guild_id=fixed,
        permissions=permissions,
        webhook_channel_id=None if channel_id is None else ChannelId(Snowflake(channel_id)),
    )


def _go(browser: Browser, location: Location) -> Page:
    # Our own page is at whatever name the browser knows this server by.
    own = f"{_public_url(browser)}/oauth2/authorized"
    text = location.location
    return redirect(text.removeprefix(_public_url(browser)) if text.partition("?")[0] == own else text)


def _public_url(browser: Browser) -> str:
    return browser.services.limits.public_url


async def _show(browser: Browser, plan: Plan, refusal: Refusal | None = None, form: Form | None = None) -> Page:
    async with browser.reading() as ctx:
        choices = await _choices(browser, ctx, plan, form)
        already = await is_authorized(ctx, plan)
    wrong = {} if refusal is None else errors_of(refusal)
    return await show(
        browser,
        "consent.html",
        status=200 if refusal is None else refusal.status,
        elsewhere=True,
        application=plan.application,
        scopes=[(scope, scope_words(scope)) for scope in plan.scopes],
        permissions=permission_choices(plan.permissions) if BOT in plan.scopes else [],
        ticked=None if form is None else set(form.all("permission")),
        choices=choices,
        wants_channel=plan.wants_webhook,
        user_install=plan.user_install,
        already=already,
        lasts=_ACCESS_LASTS.get(plan.response_type or "") if set(plan.scopes) - {*INSTALL_SCOPES, WEBHOOK} else None,
        goes_to=plan.redirect_uri,
        query=[(name, value) for name, value in browser.query.items() if name != "guild_id"],
        other=_other_way(browser, plan),
        errors=wrong,
        problem=None if refusal is None or wrong else refusal.message,
    )


async def _choices(browser: Browser, ctx: Context, plan: Plan, form: Form | None) -> Choices | None:
    """The guilds where the person may do it, and channels of the one chosen; None where no place is asked for."""
    installs = plan.wants_guild or (COMMANDS in plan.scopes and not plan.user_install)
    if not installs and not plan.wants_webhook:
        return None
    needed = int(Permissions.MANAGE_GUILD if installs else Permissions.NONE)
    if plan.wants_webhook:
        needed |= Permissions.MANAGE_WEBHOOKS
    found = await list_guilds(ctx, before=None, after=None, maximum=limits.GUILD_LIST_MAX, with_counts=False)
    guilds = [(int(guild.id), guild.name) for guild in found if guild.permissions & needed == needed]
    needs_one = plan.wants_guild or plan.wants_webhook
    chosen = read_whole(browser.query.get("guild_id", ""))
    fixed = chosen is not None and browser.query.get("disable_guild_select") == "true"
    if fixed:
        guilds = [guild for guild in guilds if guild[0] == chosen]
    elif form is not None:
        chosen = form.whole("guild_id")
    if chosen not in {guild_id for guild_id, _ in guilds}:
        chosen = guilds[0][0] if len(guilds) == 1 and needs_one else None
    channels = await _channels(ctx, GuildId(Snowflake(chosen))) if plan.wants_webhook and chosen is not None else []
    return Choices(guilds=guilds, guild_id=chosen, needs_one=needs_one, fixed=fixed, channels=channels)


async def _channels(ctx: Context, guild_id: GuildId) -> list[tuple[int, str]]:
    """The channels of a guild that the person may make webhooks in, in their order."""
    await ctx.enter_guild(guild_id)
    needed = Permissions.VIEW_CHANNEL | Permissions.MANAGE_WEBHOOKS
    found = sorted((await ctx.guild.channels(ctx.tx)).values(), key=lambda channel: (channel.position or 0, channel.id))
    return [
        (int(channel.id), str(channel.name))
        for channel in found
        if channel.type in HAS_WEBHOOKS and ctx.member.permissions_in(channel) & needed == needed
    ]


def _other_way(browser: Browser, plan: Plan) -> str | None:
    """The link of installing it the other way, where a plain installation can go both; None elsewhere."""
    if plan.response_type is not None or COMMANDS not in plan.scopes:
        return None
    application = plan.application
    kind = IntegrationType.GUILD_INSTALL if plan.user_install else IntegrationType.USER_INSTALL
    if str(int(kind)) not in (application.integration_types_config or {}):
        return None
    scope = COMMANDS if kind is IntegrationType.USER_INSTALL else browser.query.get("scope")
    scope = scope if "scope" in browser.query else None
    try:
        read_plan(application, Asked(client_id=application.id, scope=scope, integration_type=int(kind)))
    except Refusal:
        return None
    query = {"client_id": str(int(application.id)), "integration_type": str(int(kind))}
    return f"/oauth2/authorize?{urlencode(query if scope is None else query | {'scope': scope})}"


async def _show_wrong(browser: Browser, refusal: Refusal) -> Page:
    """What is wrong with a link, to the person who followed it."""
    told = [(FIELDS.get(name, name), messages) for name, messages in errors_of(refusal).items()]
    return await show(browser, "wrong_link.html", status=refusal.status, told=told, message=refusal.message)
