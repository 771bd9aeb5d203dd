"""Activity instances over HTTP (resources: application)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get, post
from moothall.objects import errors
from moothall.objects.activity import ActivityInstanceObject, read_instance_id, read_location
from moothall.objects.errors import Refusal
from moothall.objects.ids import ActivityInstanceId, ApplicationId, ChannelId, GuildId
from moothall.resources.activity import operations, queries
from moothall.resources.activity.access import PERSON_IN_CHANNEL
from moothall.resources.activity.objects import composite_id, instance_for_application
from moothall.resources.activity.operations import ACTIVITY_EVENTS
from moothall.resources.activity.proxy_tickets import issue_ticket
from moothall.resources.activity.shelf import ActivityShelf, read_shelf
from moothall.resources.application.access import BOT_OF_APPLICATION, find_application
from moothall.resources.channel.direct_message_access import require_may_write_here

_SessionId = Annotated[str, Meta(max_length=64)]


class SessionBody(Struct, frozen=True):
    """The gateway session of the client that launches or leaves an Activity."""

    session_id: _SessionId


class ProxyTicketBody(Struct, frozen=True):
    """The channel whose instance the caller takes part in."""

    channel_id: ChannelId | None = None


class ProxyTicketText(Struct, frozen=True):
    """A ticket for the proxy of an Activity."""

    ticket: str


class NoFields(Struct, frozen=True):
    """An object without fields."""


@get("/activities/shelf", permission=PERSON)
async def list_embedded_activities(ctx: Context, *, guild_id: GuildId | None = None) -> ActivityShelf:
    """List the Activities that the caller may launch, with a guild also those that are installed to it."""
    if guild_id is not None:
        await ctx.enter_guild(guild_id)
    return await read_shelf(ctx, guild_id)


@post("/activities/{channel_id}/{application_id}", permission=PERSON_IN_CHANNEL, fires=ACTIVITY_EVENTS)
async def launch_embedded_activity(
    ctx: Context, channel_id: ChannelId, application_id: ApplicationId, body: SessionBody
) -> None:
    """Join the instance of an application in a channel, or start one. Needs USE_EMBEDDED_ACTIVITIES in a guild."""
    await require_may_write_here(ctx)
    application = await find_application(ctx, application_id)
    await operations.launch_activity(ctx, application, ctx.channel, ctx.actor.user_id, body.session_id)


@post(
    "/applications/{application_id}/activities/{location_id}/instances/{instance_id}/leave",
    permission=PERSON,
    fires=ACTIVITY_EVENTS,
)
async def leave_embedded_activity_instance(
    ctx: Context, application_id: ApplicationId, location_id: str, instance_id: ActivityInstanceId, body: SessionBody
) -> NoFields:
    """Leave an instance with one of the caller's sessions; the last participant ends it."""
    row = await queries.select_instance(ctx.tx, instance_id)
    location = read_location(location_id)
    if row is None or row.application_id != application_id or location != (row.guild_id, row.channel_id):
        raise Refusal(errors.NOT_FOUND)
    if not await operations.leave_instance(ctx, instance_id, ctx.actor.user_id, body.session_id):
        raise Refusal(errors.NOT_FOUND)
    return NoFields()


@post("/applications/{application_id}/proxy-tickets", permission=PERSON)
async def create_application_proxy_ticket(
    ctx: Context, application_id: ApplicationId, body: ProxyTicketBody
) -> ProxyTicketText:
    """Create a ticket by which the proxy of an Activity tells its targets who the caller is, for 15 minutes."""
    application = await find_application(ctx, application_id)
    return ProxyTicketText(await issue_ticket(ctx, application, body.channel_id))


@get("/applications/{application_id}/activity-instances/{instance_id}", permission=BOT_OF_APPLICATION)
async def get_application_activity_instance(
    ctx: Context, application_id: ApplicationId, instance_id: Annotated[str, Meta(max_length=152_133)]
) -> ActivityInstanceObject:
    """Get a running instance by its composite id, as the application's backend checks its users."""
    reference = read_instance_id(instance_id)
    row = None if reference is None else await queries.select_instance(ctx.tx, reference.instance_id)
    if row is None or row.application_id != application_id or composite_id(row) != instance_id:
        raise Refusal(errors.NOT_FOUND)
    return instance_for_application(row, (await queries.select_participants(ctx.tx, [row.id]))[row.id])
