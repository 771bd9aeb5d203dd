"""Pages for developers: create applications and change their settings, by the same rules as over the API."""

from typing import Final

from starlette.responses import Response

from moothall.api.context import Context
from moothall.api.request.body import body_reader
from moothall.api.request.images import image_fields, stage_images
from moothall.objects.application import ApplicationFlags, IntegrationType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.objects.monetization import Sku, SkuFlags, SkuType
from moothall.objects.webhook_event import OCCURRING
from moothall.pages.activity_form import (
    ORIENTATIONS,
    PLATFORMS,
    requested_config,
    requested_mappings,
    values_of_activity,
    values_of_activity_form,
)
from moothall.pages.application_form import (
    all_permission_choices,
    requested_changes,
    values_of_application,
    values_of_form,
)
from moothall.pages.forms import Form, parse_id, parse_integer
from moothall.pages.labels import TEAM_ROLE_LABELS
from moothall.pages.page_request import PageRequest
from moothall.pages.rendering import field_errors, redirect, render_page
from moothall.pages.translations import translatable
from moothall.resources.application import operations
from moothall.resources.application.access import (
    OWNER,
    READER_OR_BOT,
    can_manage_application,
    requested_application,
)
from moothall.resources.application.embedded_activity.operations import modify_activity_config, modify_proxy_config
from moothall.resources.application.objects import BotToken, ClientSecret, NewApplication, application_object
from moothall.resources.application.requests import CreateApplication, ModifyApplication
from moothall.resources.application.team.objects import team_objects
from moothall.resources.application.team.queries import select_teams_of_user
from moothall.resources.sku.operations import create_sku as create_application_sku
from moothall.resources.sku.operations import sku_object
from moothall.resources.sku.queries import select_skus_of_application
from moothall.resources.sku.requests import CreateSku
from moothall.resources.user.events import SessionsClose

_CREATE: Final = body_reader(CreateApplication, optional=False)
_MODIFY: Final = body_reader(ModifyApplication, optional=True)
_CREATE_SKU: Final = body_reader(CreateSku, optional=False)
_SKU_FIELDS: Final = {"name": "sku_name", "type": "sku_type", "flags": "sku_type", "application_id": ""}
"""The fields of the form that creates an SKU, by the field of the request."""
_SKU_TYPES: Final = (
    (f"{int(SkuType.SUBSCRIPTION)} {SkuFlags.USER_SUBSCRIPTION}", translatable("Subscription of an account")),
    (f"{int(SkuType.SUBSCRIPTION)} {SkuFlags.GUILD_SUBSCRIPTION}", translatable("Subscription of a server")),
    (f"{int(SkuType.DURABLE)}", translatable("Kept once it is granted")),
    (f"{int(SkuType.CONSUMABLE)}", translatable("Consumed, and granted again")),
)
_IMAGES: Final = tuple(image_fields(ModifyApplication))


async def show_applications(request: PageRequest) -> Response:
    """The user's applications and teams."""
    request.require_login()
    return await render_developers(request)


async def render_developers(
    request: PageRequest, refusal: Refusal | None = None, form: Form | None = None, *, field: str = "name"
) -> Response:
    """The list of applications and teams; `field` is where the refused form has the name."""
    async with request.reading() as ctx:
        rows = await operations.list_applications(ctx, with_teams=True)
        teams = await team_objects(ctx, await select_teams_of_user(ctx.tx, ctx.actor.user_id))
    errors = {} if refusal is None else field_errors(refusal)
    if field != "name" and "name" in errors:
        errors[field] = errors.pop("name")
    return await render_page(
        request,
        "developers.html",
        refusal=refusal,
        applications=rows,
        teams=teams,
        my_id=request.actor.user_id,
        values={name: "" if form is None else form.text(name) for name in ("name", "team_id", "team_name")},
        errors=errors,
    )


async def create_application(request: PageRequest) -> Response:
    """Create an application. The response shows its secrets, which no other page does."""
    request.require_login()
    form = await request.read_form()
    values: dict[str, object] = {"name": form.text("name").strip()}
    if form.integer("team_id") is not None:
        values["team_id"] = form.text("team_id")

    async def work(ctx: Context) -> NewApplication:
        body: CreateApplication = _CREATE.from_plain(values)
        return await operations.create_application(ctx, ctx.actor.user_id, body.name, body)

    try:
        application = await request.run(work)
    except Refusal as refusal:
        return await render_developers(request, refusal, form)
    return await _render_application(request, application.id, secret=application.secret, token=application.bot.token)


async def show_application(request: PageRequest) -> Response:
    """One application with its settings."""
    request.require_login()
    return await _render_application(request, _application_id(request))


async def modify_application(request: PageRequest) -> Response:
    """Save the settings: all of them, or none if one is refused."""
    request.require_login()
    form = await request.read_form(max_files=1)
    application_id = _application_id(request)
    ctx = request.per_query_context()
    await OWNER.check(ctx, {"application_id": application_id})
    try:
        body: ModifyApplication = _MODIFY.from_plain(requested_changes(form, requested_application(ctx)))
        await stage_images(body, _IMAGES, ctx.services.blobs, ctx.services.pools.images.for_payer(ctx.payer))
        await operations.verify_and_modify_application(ctx, application_id, body)
    except Refusal as refusal:
        return await _render_application(request, application_id, refusal=refusal, form=form)
    return redirect(f"/developers/applications/{int(application_id)}?saved=1")


async def reset_client_secret(request: PageRequest) -> Response:
    """Replace the client secret, and show the new one."""
    request.require_login()
    await request.read_form()
    application_id = _application_id(request)

    async def work(ctx: Context) -> ClientSecret:
        await OWNER.check(ctx, {"application_id": application_id})
        return await operations.reset_client_secret(ctx, requested_application(ctx))

    return await _render_application(request, application_id, secret=(await request.run(work)).secret)


async def reset_token(request: PageRequest) -> Response:
    """Replace the bot's token, and show the new one."""
    request.require_login()
    await request.read_form()
    application_id = _application_id(request)

    async def work(ctx: Context) -> BotToken:
        await OWNER.check(ctx, {"application_id": application_id})
        return await operations.reset_bot_token(ctx, requested_application(ctx))

    return await _render_application(
        request, application_id, token=(await request.run(work, fires=(SessionsClose,))).token
    )


async def create_sku(request: PageRequest) -> Response:
    """Create an SKU of the application."""
    request.require_login()
    form = await request.read_form()
    application_id = _application_id(request)
    kind, _, flag = form.text("sku_type").partition(" ")
    values: dict[str, object] = {
        "application_id": str(int(application_id)),
        "type": parse_integer(kind),
        "name": form.text("sku_name").strip(),
        "flags": SkuFlags.AVAILABLE | (parse_integer(flag) or 0),
    }

    async def work(ctx: Context) -> None:
        body: CreateSku = _CREATE_SKU.from_plain(values)
        await create_application_sku(ctx, body)

    try:
        await request.run(work)
    except Refusal as refusal:
        return await _render_application(request, application_id, refusal=refusal, sku_form=form)
    return redirect(f"/developers/applications/{int(application_id)}?saved=1#skus")


async def modify_activity(request: PageRequest) -> Response:
    """Save the settings and URL mappings of the application's Activity: all of them, or none if one is refused."""
    request.require_login()
    form = await request.read_form()
    application_id = _application_id(request)

    async def work(ctx: Context) -> None:
        await OWNER.check(ctx, {"application_id": application_id})
        await modify_activity_config(ctx, application_id, requested_config(form, requested_application(ctx)))
        await modify_proxy_config(ctx, application_id, requested_mappings(form))

    try:
        await request.run(work, fires=(operations.APPLICATION_CHANGED,))
    except Refusal as refusal:
        return await _render_application(request, application_id, refusal=refusal, activity_form=form)
    return redirect(f"/developers/applications/{int(application_id)}?saved=1#activity")


async def _render_application(
    request: PageRequest,
    application_id: ApplicationId,
    *,
    refusal: Refusal | None = None,
    form: Form | None = None,
    sku_form: Form | None = None,
    activity_form: Form | None = None,
    secret: str | None = None,
    token: str | None = None,
) -> Response:
    async with request.reading() as ctx:
        await READER_OR_BOT.check(ctx, {"application_id": application_id})
        row = requested_application(ctx)
        application = await application_object(ctx, row)
        may_change = await can_manage_application(ctx, row)
        teams = await team_objects(ctx, await select_teams_of_user(ctx.tx, ctx.actor.user_id))
        skus = [sku_object(each) for each in await select_skus_of_application(ctx.tx, application_id)]
    errors = {} if refusal is None else field_errors(refusal)
    if sku_form is not None:
        errors = {_SKU_FIELDS.get(name, name): messages for name, messages in errors.items()}
    config = row.integration_types_config or {}
    installs = any("oauth2_install_params" in config.get(str(int(kind)), {}) for kind in IntegrationType)
    return await render_page(
        request,
        "application.html",
        refusal=refusal,
        errors=errors,
        application=application,
        skus=[each for each in skus if each.type != SkuType.SUBSCRIPTION_GROUP],
        sku_types=[(value, request.gettext(words)) for value, words in _SKU_TYPES],
        sku_label=lambda sku: request.gettext(_sku_label(sku)),
        sku_name="" if sku_form is None else sku_form.text("sku_name"),
        sku_type="" if sku_form is None else sku_form.text("sku_type"),
        may_change=may_change,
        values=values_of_application(row) if form is None else values_of_form(form, row),
        choices=all_permission_choices(request.gettext),
        event_types=OCCURRING,
        teams=teams,
        may_move=row.owner_id == request.actor.user_id,
        install_link=f"{request.services.limits.public_url}/oauth2/authorize?client_id={int(row.id)}",
        installs=installs or row.install_params is not None,
        secret=secret,
        token=token,
        saved="saved" in request.query,
        has_activity=bool(row.flags & ApplicationFlags.EMBEDDED),
        activity=values_of_activity(row) if activity_form is None else values_of_activity_form(activity_form),
        platforms=PLATFORMS,
        orientations=[(value, request.gettext(words)) for value, words in ORIENTATIONS],
        role_labels={role: request.gettext(words) for role, words in TEAM_ROLE_LABELS.items()},
    )


def _sku_label(sku: Sku) -> str:
    """The type of an SKU in words."""
    subscriptions = sku.flags & SkuFlags.SUBSCRIPTIONS
    value = f"{int(sku.type)} {subscriptions}" if subscriptions else f"{int(sku.type)}"
    return dict(_SKU_TYPES)[value]


def _application_id(request: PageRequest) -> ApplicationId:
    return ApplicationId(parse_id(request.path_params["application_id"]))
