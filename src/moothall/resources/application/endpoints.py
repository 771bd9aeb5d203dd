"""Applications over HTTP (resources: application; design.md, Compatibility: creating them)."""

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.objects import errors
from moothall.objects.application import OwnApplication
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, TeamId
from moothall.resources.application import operations, queries
from moothall.resources.application.access import (
    OWN_BOT,
    OWNER,
    OWNER_OR_BOT,
    READER_OR_BOT,
    requested_application,
)
from moothall.resources.application.objects import (
    BotToken,
    ClientSecret,
    NewApplication,
    application_object,
    application_objects,
)
from moothall.resources.application.requests import CreateApplication, EditCurrentApplication, ModifyApplication
from moothall.resources.application.team.access import TEAM_MEMBER
from moothall.resources.user.events import SessionsClose


@post("/applications", permission=PERSON, status=201)
async def create_application(ctx: Context, body: CreateApplication) -> NewApplication:
    """Create an application with its bot. The bot's token and the client secret are returned only here."""
    return await operations.create_application(ctx, ctx.actor.user_id, body.name, body)


@get("/applications", permission=PERSON)
async def get_applications(ctx: Context, *, with_team_applications: bool = False) -> list[OwnApplication]:
    """List the caller's applications; with `with_team_applications` also those of their teams."""
    rows = await operations.list_applications(ctx, with_teams=with_team_applications)
    return await application_objects(ctx, rows)


@get("/teams/{team_id}/applications", permission=TEAM_MEMBER)
async def get_team_applications(ctx: Context, team_id: TeamId) -> list[OwnApplication]:
    """List the applications of a team."""
    return await application_objects(ctx, await queries.select_applications_of_teams(ctx.tx, [team_id]))


@get("/applications/@me", permission=OWN_BOT)
async def get_current_application(ctx: Context) -> OwnApplication:
    """Get the calling bot's application."""
    return await application_object(ctx, requested_application(ctx))


@patch("/applications/@me", permission=OWN_BOT, fires=(operations.APPLICATION_CHANGED,), writes=False)
async def edit_current_application(ctx: Context, body: EditCurrentApplication) -> OwnApplication:
    """Change the calling bot's application. A new interactions endpoint must answer a PING and refuse a forged one."""
    return await operations.verify_and_modify_application(ctx, requested_application(ctx).id, body)


@get("/applications/{application_id}", permission=READER_OR_BOT)
async def get_application(ctx: Context, application_id: ApplicationId) -> OwnApplication:
    """Get one of the caller's applications."""
    return await application_object(ctx, requested_application(ctx))


@patch("/applications/{application_id}", permission=OWNER_OR_BOT, fires=(operations.APPLICATION_CHANGED,), writes=False)
async def modify_application(ctx: Context, application_id: ApplicationId, body: ModifyApplication) -> OwnApplication:
    """Change an application. Only its owner may change the name, the redirect URIs and who may add its bot."""
    if ctx.actor.bot and not body.allowed_for_bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    return await operations.verify_and_modify_application(ctx, application_id, body)


@post("/applications/{application_id}/bot/reset", permission=OWNER, fires=(SessionsClose,))
async def reset_bot_token(ctx: Context, application_id: ApplicationId) -> BotToken:
    """Replace the bot's token, and close its sessions."""
    return await operations.reset_bot_token(ctx, requested_application(ctx))


@post("/applications/{application_id}/reset", permission=OWNER)
async def reset_client_secret(ctx: Context, application_id: ApplicationId) -> ClientSecret:
    """Replace the client secret."""
    return await operations.reset_client_secret(ctx, requested_application(ctx))


@get("/oauth2/applications/@me", permission=OWN_BOT)
async def get_current_bot_application_information(ctx: Context) -> OwnApplication:
    """Get the calling bot's application, as libraries do at login."""
    return await application_object(ctx, requested_application(ctx))


@delete("/applications/{application_id}", permission=OWNER, fires=operations.DELETE_APPLICATION_EVENTS, writes=False)
async def delete_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete an application with its bot, which leaves every guild."""
    await operations.delete_application(ctx, requested_application(ctx))
