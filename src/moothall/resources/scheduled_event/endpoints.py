"""Scheduled events over HTTP (resources: guild scheduled event)."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post, put
from moothall.objects import limits
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import GuildId, ScheduledEventId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.scheduled_event import (
    EventException,
    ScheduledEvent,
    ScheduledEventUser,
    ScheduledEventUserCount,
)
from moothall.resources.member.queries import get_members, member_objects
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.access import CreatesEvents, ManagesEvent, ViewsEvent, can_view_event
from moothall.resources.scheduled_event.events import (
    GuildScheduledEventCreate,
    GuildScheduledEventExceptionCreate,
    GuildScheduledEventExceptionDelete,
    GuildScheduledEventUserAdd,
    GuildScheduledEventUserRemove,
)
from moothall.resources.scheduled_event.operations import exceptions, scheduled_events, subscribers
from moothall.resources.scheduled_event.queries import WHOLE_EVENT, EventRow, event_object
from moothall.resources.scheduled_event.requests import (
    CreateException,
    CreateScheduledEvent,
    ModifyException,
    ModifyScheduledEvent,
    RespondToOccurrence,
)
from moothall.resources.user.queries import get_users

_EVENTS = "/guilds/{guild_id}/scheduled-events"
_EVENT = f"{_EVENTS}/{{guild_scheduled_event_id}}"
_OCCURRENCE = f"{_EVENT}/{{guild_scheduled_event_exception_id}}"
_Limit = Annotated[int, Meta(ge=1, le=limits.EVENT_USER_LIST_MAX)]


@get(_EVENTS, permission=MEMBER)
async def list_guild_scheduled_events(
    ctx: Context, guild_id: GuildId, *, with_user_count: bool = False
) -> list[ScheduledEvent]:
    """List the scheduled and active events of a guild in channels that the caller may view."""
    rows = await queries.select_live_events(ctx.tx, guild_id)
    if len(rows) > 1:
        # Load all channels in one query instead of one by one.
        await ctx.guild.channels(ctx.tx)
    visible = [row for row in rows if await can_view_event(ctx, row)]
    return await _event_objects(ctx, visible, counts=with_user_count)


@post(_EVENTS, permission=CreatesEvents(), audit_reason=True, fires=(GuildScheduledEventCreate,))
async def create_guild_scheduled_event(ctx: Context, guild_id: GuildId, body: CreateScheduledEvent) -> ScheduledEvent:
    """Create an event."""
    return (await _event_objects(ctx, [await scheduled_events.create_event(ctx, body)]))[0]


@get(_EVENT, permission=ViewsEvent())
async def get_guild_scheduled_event(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId, *, with_user_count: bool = False
) -> ScheduledEvent:
    """Get an event; events that have ended can be read for 30 days."""
    return (await _event_objects(ctx, [ctx.resource(EventRow)], counts=with_user_count))[0]


@patch(_EVENT, permission=ManagesEvent(), audit_reason=True, fires=scheduled_events.MODIFY_FIRES)
async def modify_guild_scheduled_event(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId, body: ModifyScheduledEvent
) -> ScheduledEvent:
    """Change, start, end or cancel an event."""
    return (await _event_objects(ctx, [await scheduled_events.modify_event(ctx, ctx.resource(EventRow), body)]))[0]


@delete(_EVENT, permission=ManagesEvent(), audit_reason=True, fires=scheduled_events.DELETE_FIRES)
async def delete_guild_scheduled_event(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId
) -> None:
    """Delete an event."""
    await scheduled_events.delete_event(ctx, ctx.resource(EventRow))


@get(f"{_EVENT}/users", permission=ViewsEvent())
async def get_guild_scheduled_event_users(
    ctx: Context,
    guild_id: GuildId,
    guild_scheduled_event_id: ScheduledEventId,
    *,
    limit: _Limit = limits.EVENT_USER_LIST_MAX,
    with_member: bool = False,
    before: UserId | None = None,
    after: UserId | None = None,
) -> list[ScheduledEventUser]:
    """List interested users by ascending id; with `before`, `after` is ignored."""
    return await _users(ctx, WHOLE_EVENT, with_member=with_member, before=before, after=after, maximum=limit)


@get(f"{_EVENT}/users/counts", permission=ViewsEvent())
async def count_guild_scheduled_event_users(
    ctx: Context,
    guild_id: GuildId,
    guild_scheduled_event_id: ScheduledEventId,
    *,
    guild_scheduled_event_exception_ids: list[Snowflake] | None = None,
) -> ScheduledEventUserCount:
    """Count the users interested in the event as a whole and in single occurrences."""
    row = ctx.resource(EventRow)
    exception_ids = guild_scheduled_event_exception_ids or []
    if len(exception_ids) > limits.EVENT_COUNTED_EXCEPTIONS_MAX:
        maximum = FieldError.length(None, limits.EVENT_COUNTED_EXCEPTIONS_MAX)
        refuse_field("guild_scheduled_event_exception_ids", *maximum)
    counts = await queries.count_interested(ctx.tx, row, [each for each in exception_ids if each != WHOLE_EVENT])
    return ScheduledEventUserCount(
        guild_scheduled_event_count=row.user_count,
        guild_scheduled_event_exception_counts={str(int(each)): count for each, count in counts.items()},
    )


@put(f"{_EVENT}/users/@me", permission=ViewsEvent(), fires=(GuildScheduledEventUserAdd,), status=200)
async def create_guild_scheduled_event_user(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId
) -> ScheduledEventUser:
    """Mark the caller as interested in an event. Not for bots."""
    return await subscribers.add_subscriber(ctx, ctx.resource(EventRow))


@delete(f"{_EVENT}/users/@me", permission=ViewsEvent(), fires=(GuildScheduledEventUserRemove,))
async def delete_guild_scheduled_event_user(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId
) -> None:
    """Mark the caller as no longer interested in an event."""
    await subscribers.remove_subscriber(ctx, ctx.resource(EventRow))


@get(f"{_OCCURRENCE}/users", permission=ViewsEvent())
async def list_guild_scheduled_event_exception_users(
    ctx: Context,
    guild_id: GuildId,
    guild_scheduled_event_id: ScheduledEventId,
    guild_scheduled_event_exception_id: Snowflake,
    *,
    limit: _Limit = limits.EVENT_USER_LIST_MAX,
    with_member: bool = False,
    before: UserId | None = None,
    after: UserId | None = None,
) -> list[ScheduledEventUser]:
    """List the users who responded to one occurrence by ascending id."""
    subscribers.require_occurrence(ctx.resource(EventRow), guild_scheduled_event_exception_id)
    return await _users(
        ctx, guild_scheduled_event_exception_id, with_member=with_member, before=before, after=after, maximum=limit
    )


@put(f"{_OCCURRENCE}/users/@me", permission=ViewsEvent(), fires=subscribers.RESPONSE_EVENTS)
async def create_guild_scheduled_event_exception_user(
    ctx: Context,
    guild_id: GuildId,
    guild_scheduled_event_id: ScheduledEventId,
    guild_scheduled_event_exception_id: Snowflake,
    body: RespondToOccurrence,
) -> ScheduledEventUser:
    """Set whether the caller is interested in one occurrence. Not for bots."""
    return await subscribers.respond_to_occurrence(
        ctx, ctx.resource(EventRow), guild_scheduled_event_exception_id, body.response
    )


@delete(f"{_OCCURRENCE}/users/@me", permission=ViewsEvent(), fires=(GuildScheduledEventUserRemove,))
async def delete_guild_scheduled_event_exception_user(
    ctx: Context,
    guild_id: GuildId,
    guild_scheduled_event_id: ScheduledEventId,
    guild_scheduled_event_exception_id: Snowflake,
) -> None:
    """Delete the caller's response to one occurrence."""
    await subscribers.delete_occurrence_response(ctx, ctx.resource(EventRow), guild_scheduled_event_exception_id)


@post(f"{_EVENT}/exceptions", permission=ManagesEvent(), audit_reason=True, fires=(GuildScheduledEventExceptionCreate,))
async def create_guild_scheduled_event_exception(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId, body: CreateException
) -> EventException:
    """Move or cancel one occurrence of a recurring event, replacing the exception that it has."""
    return await exceptions.create_exception(ctx, ctx.resource(EventRow), body)


@patch(
    f"{_EVENT}/exceptions/{{exception_id}}",
    permission=ManagesEvent(),
    audit_reason=True,
    fires=(GuildScheduledEventExceptionCreate,),
)
async def modify_guild_scheduled_event_exception(
    ctx: Context,
    guild_id: GuildId,
    guild_scheduled_event_id: ScheduledEventId,
    exception_id: Snowflake,
    body: ModifyException,
) -> EventException:
    """Set the exception of one occurrence anew; fields left out get their defaults."""
    return await exceptions.modify_exception(ctx, ctx.resource(EventRow), exception_id, body)


@delete(
    f"{_EVENT}/exceptions/{{exception_id}}",
    permission=ManagesEvent(),
    audit_reason=True,
    fires=(GuildScheduledEventExceptionDelete,),
)
async def delete_guild_scheduled_event_exception(
    ctx: Context, guild_id: GuildId, guild_scheduled_event_id: ScheduledEventId, exception_id: Snowflake
) -> None:
    """Remove the exception of one occurrence, so that the rule applies again."""
    await exceptions.delete_exception(ctx, ctx.resource(EventRow), exception_id)


async def _event_objects(ctx: Context, rows: Sequence[EventRow], *, counts: bool = False) -> list[ScheduledEvent]:
    users = await get_users(ctx.tx, {row.creator_id for row in rows if row.creator_id is not None})
    return [
        event_object(row, creator=UNSET if row.creator_id is None else users.get(row.creator_id, UNSET), counts=counts)
        for row in rows
    ]


async def _users(
    ctx: Context,
    exception_id: Snowflake,
    *,
    with_member: bool,
    before: UserId | None,
    after: UserId | None,
    maximum: int,
) -> list[ScheduledEventUser]:
    event = ctx.resource(EventRow)
    rows = await queries.select_responses(ctx.tx, event, exception_id, before=before, after=after, maximum=maximum)
    user_ids = [row.user_id for row in rows]
    users = await get_users(ctx.tx, user_ids)
    members: dict[UserId, Member] = {}
    if with_member:
        member_rows = await get_members(ctx.tx, event.guild_id, user_ids)
        members = dict(zip(member_rows, await member_objects(ctx.tx, list(member_rows.values())), strict=True))
    return [
        ScheduledEventUser(
            guild_scheduled_event_id=event.id,
            guild_scheduled_event_exception_id=UNSET if exception_id == WHOLE_EVENT else exception_id,
            user_id=row.user_id,
            user=users[row.user_id],
            member=members.get(row.user_id, UNSET),
            response=row.response,
        )
        for row in rows
        if row.user_id in users
    ]
