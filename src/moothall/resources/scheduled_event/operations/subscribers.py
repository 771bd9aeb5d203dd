"""Interested users of scheduled events and of single occurrences (resources: guild scheduled event)."""

from typing import Final

from msgspec import UNSET

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.scheduled_event import EventResponse, ScheduledEventUser, occurrence_id
from moothall.objects.wire import Timestamp
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.events import GuildScheduledEventUserAdd, GuildScheduledEventUserRemove
from moothall.resources.scheduled_event.queries import WHOLE_EVENT, EventRow
from moothall.resources.scheduled_event.recurrence import is_occurrence

RESPONSE_EVENTS: Final[Fires] = (GuildScheduledEventUserAdd, GuildScheduledEventUserRemove)
"""For `fires` of rows that may change a user's response to an occurrence."""


async def add_subscriber(ctx: Context, event: EventRow) -> ScheduledEventUser:
    """Mark the actor as interested in an event. A second call changes nothing and emits nothing.

    Raises Refusal: 403/20001 for bots, 400/180000 for an event that has ended.
    """
    _require_user(ctx)
    _require_live(event)
    user_id = ctx.actor.user_id
    if await queries.insert_subscriber(ctx.tx, event, user_id):
        ctx.emit(_user_event(GuildScheduledEventUserAdd, ctx, event, WHOLE_EVENT))
    return ScheduledEventUser(guild_scheduled_event_id=event.id, user_id=user_id)


async def remove_subscriber(ctx: Context, event: EventRow) -> None:
    """Mark the actor as no longer interested. Raises Refusal: 403/20001 for bots, 404/10071 without interest."""
    _require_user(ctx)
    if not await queries.delete_response(ctx.tx, event, ctx.actor.user_id):
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT_USER)
    ctx.emit(_user_event(GuildScheduledEventUserRemove, ctx, event, WHOLE_EVENT))


async def respond_to_occurrence(
    ctx: Context, event: EventRow, occurrence: Snowflake, response: int
) -> ScheduledEventUser:
    """Store whether the actor is interested in one occurrence; the same response again emits nothing.

    Raises Refusal as `add_subscriber`, and 404/10070 for an unknown occurrence.
    """
    _require_user(ctx)
    _require_live(event)
    require_occurrence(event, occurrence)
    user_id = ctx.actor.user_id
    before = await queries.select_response(ctx.tx, event, user_id, occurrence)
    if before is None or before.response != response:
        await queries.upsert_response(ctx.tx, event, user_id, occurrence, response)
        if response == EventResponse.INTERESTED:
            ctx.emit(_user_event(GuildScheduledEventUserAdd, ctx, event, occurrence))
        elif before is not None:
            ctx.emit(_user_event(GuildScheduledEventUserRemove, ctx, event, occurrence))
    return ScheduledEventUser(
        guild_scheduled_event_id=event.id,
        guild_scheduled_event_exception_id=occurrence,
        user_id=user_id,
        response=response,
    )


async def delete_occurrence_response(ctx: Context, event: EventRow, occurrence: Snowflake) -> None:
    """Delete the actor's response to one occurrence. Raises Refusal: 403/20001 for bots, 404/10071 without one."""
    _require_user(ctx)
    before = await queries.select_response(ctx.tx, event, ctx.actor.user_id, occurrence)
    if before is None or occurrence == WHOLE_EVENT:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT_USER)
    await queries.delete_response(ctx.tx, event, ctx.actor.user_id, occurrence)
    if before.response == EventResponse.INTERESTED:
        ctx.emit(_user_event(GuildScheduledEventUserRemove, ctx, event, occurrence))


def require_occurrence(event: EventRow, occurrence: Snowflake) -> None:
    """Raise Refusal 404/10070 for an id that belongs to no occurrence of a recurring event."""
    rule, moment = event.rule(), Timestamp(occurrence.created_ms)
    recurs_then = moment == event.scheduled_start_time or (rule is not None and is_occurrence(rule, moment))
    if rule is None or occurrence != occurrence_id(moment) or not recurs_then:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)


def _require_user(ctx: Context) -> None:
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)


def _require_live(event: EventRow) -> None:
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)


def _user_event(
    event_class: type[GuildScheduledEventUserAdd | GuildScheduledEventUserRemove],
    ctx: Context,
    event: EventRow,
    occurrence: Snowflake,
) -> GuildScheduledEventUserAdd | GuildScheduledEventUserRemove:
    return event_class(
        guild_id=event.guild_id,
        guild_scheduled_event_id=event.id,
        guild_scheduled_event_exception_id=UNSET if occurrence == WHOLE_EVENT else occurrence,
        user_id=ctx.actor.user_id,
        channel_id=event.channel_id,
    )
