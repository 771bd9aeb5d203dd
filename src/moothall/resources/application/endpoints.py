"""Applications over HTTP (resources: application; design.md, Compatibility: making them)."""

from moothall.kernel import unit_of_work
from moothall.kernel.access import PERSON
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, get, patch, post
from moothall.objects import errors
from moothall.objects.application import OwnApplication
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, TeamId
from moothall.resources.application import deletion, operations, queries
from moothall.resources.application.access import (
    OWN_BOT,
    OWNER,
    OWNER_OR_BOT,
    READER_OR_BOT,
    application_of,
    find_application,
    is_owner,
)
from moothall.resources.application.operations import BotToken, ClientSecret, NewApplication
from moothall.resources.application.queries import lock_application
from moothall.resources.application.requests import CreateApplication, EditCurrentApplication, ModifyApplication
from moothall.resources.application.team.access import TEAM_MEMBER
from moothall.resources.user.events import SessionsClose


@post("/applications", permission=PERSON, status=201)
async def create_application(ctx: Context, body: CreateApplication) -> NewApplication:
    """Make an application with its bot. The bot's token and the client secret are shown this once."""
    return await operations.create_application(ctx, ctx.actor.user_id, body.name, body)


@get("/applications", permission=PERSON)
async def get_applications(ctx: Context, *, with_team_applications: bool = False) -> list[OwnApplication]:
    """List the applications that answer to the caller; those of all their teams too, if asked for."""
    found = await operations.applications_of(ctx, of_teams=with_team_applications)
    return await operations.show_applications(ctx, found)


@get("/teams/{team_id}/applications", permission=TEAM_MEMBER)
async def get_team_applications(ctx: Context, team_id: TeamId) -> list[OwnApplication]:
    """List what a team owns."""
    return await operations.show_applications(ctx, await queries.select_of_teams(ctx.tx, [team_id]))


@get("/applications/@me", permission=OWN_BOT)
async def get_current_application(ctx: Context) -> OwnApplication:
    """The calling bot's application."""
    return await operations.show_application(ctx, application_of(ctx))


@patch("/applications/@me", permission=OWN_BOT, writes=False)
async def edit_current_application(ctx: Context, body: EditCurrentApplication) -> OwnApplication:
    """Change the calling bot's application. A new interactions endpoint must answer a PING, and refuse a forged one."""
    return await change_application(ctx, application_of(ctx).id, body)


@get("/applications/{application_id}", permission=READER_OR_BOT)
async def get_application(ctx: Context, application_id: ApplicationId) -> OwnApplication:
    """One of the caller's applications."""
    return await operations.show_application(ctx, application_of(ctx))


@patch("/applications/{application_id}", permission=OWNER_OR_BOT, writes=False)
async def modify_application(ctx: Context, application_id: ApplicationId, body: ModifyApplication) -> OwnApplication:
    """Change an application. Its name, redirect URIs and who may add its bot are for its owner alone."""
    if ctx.actor.bot and not body.only_bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    return await change_application(ctx, application_id, body)


async def change_application(
    ctx: Context, application_id: ApplicationId, body: EditCurrentApplication
) -> OwnApplication:
    """Change what the caller may change: an endpoint is asked first, then everything is stored in one transaction."""
    await operations.verify_endpoint(ctx.services, await find_application(ctx, application_id), body)

    async def work(inner: Context) -> OwnApplication:
        row = await lock_application(inner.tx, application_id)
        if row is None:
            raise Refusal(errors.UNKNOWN_APPLICATION)
        if not inner.actor.bot and not await is_owner(inner, row):
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        return await operations.show_application(inner, await operations.modify_application(inner, row, body))

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=())


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


@delete("/applications/{application_id}", permission=OWNER, fires=deletion.DELETING, writes=False)
async def delete_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete an application with its bot, which leaves every guild."""
    await deletion.delete_application(ctx, application_of(ctx))
