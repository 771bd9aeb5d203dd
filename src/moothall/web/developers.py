"""Pages for developers: create applications and change their settings, by the same rules as over the API."""

from typing import Any, Final

from starlette.responses import Response

from moothall.kernel.body import body_reader
from moothall.kernel.context import Context
from moothall.kernel.images import image_fields, stage_images
from moothall.objects.application import IntegrationType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.resources.application import operations
from moothall.resources.application.access import (
    OWNER,
    READER_OR_BOT,
    can_manage_application,
    requested_application,
)
from moothall.resources.application.objects import BotToken, ClientSecret, NewApplication, application_object
from moothall.resources.application.requests import CreateApplication, ModifyApplication
from moothall.resources.application.team.objects import team_objects
from moothall.resources.application.team.queries import select_teams_of_user
from moothall.resources.user.events import SessionsClose
from moothall.web.application_form import (
    all_permission_choices,
    requested_changes,
    values_of_application,
    values_of_form,
)
from moothall.web.forms import Form, parse_id
from moothall.web.page_request import PageRequest
from moothall.web.rendering import field_errors, redirect, render_page

_CREATE: Final = body_reader(CreateApplication, optional=False)
_MODIFY: Final = body_reader(ModifyApplication, optional=True)
_IMAGES: Final = image_fields(ModifyApplication)


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
    """Create an application. The response shows its secrets, application_id no other page does."""
    request.require_login()
    form = await request.read_form()
    values: dict[str, Any] = {"name": form.text("name").strip()}
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
        await stage_images(body, _IMAGES, request.services.blobs)
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


async def _render_application(
    request: PageRequest,
    application_id: ApplicationId,
    *,
    refusal: Refusal | None = None,
    form: Form | None = None,
    secret: str | None = None,
    token: str | None = None,
) -> Response:
    async with request.reading() as ctx:
        await READER_OR_BOT.check(ctx, {"application_id": application_id})
        row = requested_application(ctx)
        application = await application_object(ctx, row)
        may_change = await can_manage_application(ctx, row)
        teams = await team_objects(ctx, await select_teams_of_user(ctx.tx, ctx.actor.user_id))
    config = row.integration_types_config or {}
    installs = any("oauth2_install_params" in config.get(str(int(kind)), {}) for kind in IntegrationType)
    return await render_page(
        request,
        "application.html",
        refusal=refusal,
        application=application,
        may_change=may_change,
        values=values_of_application(row) if form is None else values_of_form(form, row),
        choices=all_permission_choices(),
        teams=teams,
        may_move=row.owner_id == request.actor.user_id,
        install_link=f"{request.services.limits.public_url}/oauth2/authorize?client_id={int(row.id)}",
        installs=installs or row.install_params is not None,
        secret=secret,
        token=token,
        saved="saved" in request.query,
    )


def _application_id(request: PageRequest) -> ApplicationId:
    return ApplicationId(parse_id(request.path_params["application_id"]))
