"""Applications over HTTP (resources: application; design.md, Compatibility: making them)."""

from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, patch, post
from moothall.objects import errors
from moothall.objects.application import OwnApplication
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.resources.application import operations, queries
from moothall.resources.application.access import OWN_BOT, OWNER, OWNER_OR_BOT, PERSON, application_of
from moothall.resources.application.operations import BotToken, ClientSecret, NewApplication
from moothall.resources.application.requests import CreateApplication, EditCurrentApplication, ModifyApplication
from moothall.resources.user.events import SessionsClose


@post("/applications", permission=PERSON, status=201)
async def create_application(ctx: Context, body: CreateApplication) -> NewApplication:
    """Make an application with its bot. The bot's token and the client secret are shown this once."""
    return await operations.create_application(ctx, ctx.actor.user_id, body.name, body)


@get("/applications", permission=PERSON)
async def get_applications(ctx: Context) -> list[OwnApplication]:
    """List the caller's applications."""
    return await operations.show_applications(ctx, await queries.select_of_owner(ctx.tx, ctx.actor.user_id))


@get("/applications/@me", permission=OWN_BOT)
async def get_current_application(ctx: Context) -> OwnApplication:
    """The calling bot's application."""
    return await operations.show_application(ctx, application_of(ctx))


@patch("/applications/@me", permission=OWN_BOT)
async def edit_current_application(ctx: Context, body: EditCurrentApplication) -> OwnApplication:
    """Change the calling bot's application."""
    row = await operations.modify_application(ctx, application_of(ctx), body)
    return await operations.show_application(ctx, row)


@get("/applications/{application_id}", permission=OWNER_OR_BOT)
async def get_application(ctx: Context, application_id: ApplicationId) -> OwnApplication:
    """One of the caller's applications."""
    return await operations.show_application(ctx, application_of(ctx))


@patch("/applications/{application_id}", permission=OWNER_OR_BOT)
async def modify_application(ctx: Context, application_id: ApplicationId, body: ModifyApplication) -> OwnApplication:
    """Change an application. Its name, redirect URIs and who may add its bot are for its owner alone."""
    if ctx.actor.bot and not body.only_bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    row = await operations.modify_application(ctx, application_of(ctx), body)
    return await operations.show_application(ctx, row)


@post("/applications/{application_id}/bot/reset", permission=OWNER, fires=(SessionsClose,))
async def reset_bot_token(ctx: Context, application_id: ApplicationId) -> BotToken:
    """A new token for the bot; the old one and its sessions end."""
    return await operations.reset_bot_token(ctx, application_of(ctx))


@post("/applications/{application_id}/reset", permission=OWNER)
async def reset_client_secret(ctx: Context, application_id: ApplicationId) -> ClientSecret:
    """A new client secret; the old one ends."""
    return await operations.reset_secret(ctx, application_of(ctx))


@get("/oauth2/applications/@me", permission=OWN_BOT)
async def get_current_bot_application_information(ctx: Context) -> OwnApplication:
    """The calling bot's application, as it is asked for at login."""
    return await operations.show_application(ctx, application_of(ctx))
