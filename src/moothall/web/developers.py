"""The developers' corner: making applications and setting them up, by the same rules as over the API."""

from typing import Any, Final

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
from moothall.web.application_form import asked_changes, choices, given_of_form, given_of_row
from moothall.web.browsing import Browser, Form, Page, read_id, redirect
from moothall.web.rendering import errors_of, show

_CREATE: Final = body_reader(CreateApplication, optional=False)
_MODIFY: Final = body_reader(ModifyApplication, optional=True)
_IMAGES: Final = image_fields(ModifyApplication)


async def show_applications(browser: Browser) -> Page:
    """What the person has made, and their teams."""
    browser.require_person()
    return await show_corner(browser)


async def show_corner(
    browser: Browser, refusal: Refusal | None = None, form: Form | None = None, *, field: str = "name"
) -> Page:
    """The first page, with what was wrong with the form whose name stands in `field`."""
    async with browser.reading() as ctx:
        rows = await operations.list_applications(ctx, with_teams=True)
        teams = await team_objects(ctx, await select_teams_of_user(ctx.tx, ctx.actor.user_id))
    wrong = {} if refusal is None else errors_of(refusal)
    if field != "name" and "name" in wrong:
        wrong[field] = wrong.pop("name")
    return await show(
        browser,
        "developers.html",
        status=200 if refusal is None else refusal.status,
        applications=rows,
        teams=teams,
        my_id=browser.actor.user_id,
        given={name: "" if form is None else form.text(name) for name in ("name", "team_id", "team_name")},
        errors=wrong,
        problem=None if refusal is None or wrong else refusal.message,
    )


async def create(browser: Browser) -> Page:
    """Make an application; its secrets are shown on the page that answers, and never again."""
    browser.require_person()
    form = await browser.form()
    given: dict[str, Any] = {"name": form.text("name").strip()}
    if form.whole("team_id") is not None:
        given["team_id"] = form.text("team_id")

    async def work(ctx: Context) -> NewApplication:
        body: CreateApplication = _CREATE.from_plain(given)
        return await operations.create_application(ctx, ctx.actor.user_id, body.name, body)

    try:
        made = await browser.run(work)
    except Refusal as refusal:
        return await show_corner(browser, refusal, form)
    return await _show(browser, made.id, secret=made.secret, token=made.bot.token)


async def show_application(browser: Browser, application_id: str) -> Page:
    """One application, with everything that can be set."""
    browser.require_person()
    return await _show(browser, _id(application_id))


async def modify(browser: Browser, application_id: str) -> Page:
    """Save the settings, all or none of them."""
    browser.require_person()
    form = await browser.form()
    which = _id(application_id)
    ctx = browser.brief_context()
    await OWNER.check(ctx, {"application_id": which})
    try:
        body: ModifyApplication = _MODIFY.from_plain(asked_changes(form, requested_application(ctx)))
        await stage_images(body, _IMAGES, browser.services.blobs)
        await operations.verify_and_modify_application(ctx, which, body)
    except Refusal as refusal:
        return await _show(browser, which, refusal=refusal, form=form)
    return redirect(f"/developers/applications/{int(which)}?saved=1")


async def reset_client_secret(browser: Browser, application_id: str) -> Page:
    """A new client secret, shown this once."""
    browser.require_person()
    await browser.form()
    which = _id(application_id)

    async def work(ctx: Context) -> ClientSecret:
        await OWNER.check(ctx, {"application_id": which})
        return await operations.reset_client_secret(ctx, requested_application(ctx))

    return await _show(browser, which, secret=(await browser.run(work)).secret)


async def reset_token(browser: Browser, application_id: str) -> Page:
    """A new token of the bot's, shown this once."""
    browser.require_person()
    await browser.form()
    which = _id(application_id)

    async def work(ctx: Context) -> BotToken:
        await OWNER.check(ctx, {"application_id": which})
        return await operations.reset_bot_token(ctx, requested_application(ctx))

    return await _show(browser, which, token=(await browser.run(work, fires=(SessionsClose,))).token)


async def _show(
    browser: Browser,
    application_id: ApplicationId,
    *,
    refusal: Refusal | None = None,
    form: Form | None = None,
    secret: str | None = None,
    token: str | None = None,
) -> Page:
    async with browser.reading() as ctx:
        await READER_OR_BOT.check(ctx, {"application_id": application_id})
        row = requested_application(ctx)
        shown = await application_object(ctx, row)
        may_change = await can_manage_application(ctx, row)
        teams = await team_objects(ctx, await select_teams_of_user(ctx.tx, ctx.actor.user_id))
    wrong = {} if refusal is None else errors_of(refusal)
    config = row.integration_types_config or {}
    installs = any("oauth2_install_params" in config.get(str(int(kind)), {}) for kind in IntegrationType)
    return await show(
        browser,
        "application.html",
        status=200 if refusal is None else refusal.status,
        application=shown,
        may_change=may_change,
        given=given_of_row(row) if form is None else given_of_form(form, row),
        choices=choices(),
        teams=teams,
        may_move=row.owner_id == browser.actor.user_id,
        install_link=f"{browser.services.limits.public_url}/oauth2/authorize?client_id={int(row.id)}",
        installs=installs or row.install_params is not None,
        secret=secret,
        token=token,
        saved="saved" in browser.query,
        errors=wrong,
        problem=None if refusal is None or wrong else refusal.message,
    )


def _id(text: str) -> ApplicationId:
    return ApplicationId(read_id(text))
