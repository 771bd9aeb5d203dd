"""Who wants to come to an event, and which occurrences of it are other than its rule has them."""

from typing import Final

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.scheduled_event import EventException, EventResponse, ScheduledEventUser, occurrence_id
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event import queries
from moothall.resources.scheduled_event.events import GuildScheduledEventUserAdd, GuildScheduledEventUserRemove
from moothall.resources.scheduled_event.lifecycle import save_and_announce
from moothall.resources.scheduled_event.queries import WHOLE, EventRow
from moothall.resources.scheduled_event.recurrence import is_occurrence
from moothall.resources.scheduled_event.requests import CreateException, ModifyException, check_end
from moothall.resources.scheduled_event.times import end_after

ANSWERING: Final[Fires] = (GuildScheduledEventUserAdd, GuildScheduledEventUserRemove)
"""What a row declares to fire if it may change somebody's answer to an occurrence."""


async def subscribe(ctx: Context, event: EventRow) -> ScheduledEventUser:
    """Have the actor want to come; the second time changes nothing and tells nobody.

    Raises Refusal: 403/20001 for bots, 400/180000 for an event that is over.
    """
    _require_open(ctx, event)
    user_id = ctx.actor.user_id
    if await queries.insert_user(ctx.tx, event, user_id):
        ctx.emit(_announced(GuildScheduledEventUserAdd, ctx, event, WHOLE))
    return ScheduledEventUser(guild_scheduled_event_id=event.id, user_id=user_id)


async def unsubscribe(ctx: Context, event: EventRow) -> None:
    """Have the actor not want to come any more. Raises Refusal: 403/20001, 404/10071 for one who did not want to."""
    _require_person(ctx)
    if not await queries.delete_user(ctx.tx, event, ctx.actor.user_id):
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT_USER)
    ctx.emit(_announced(GuildScheduledEventUserRemove, ctx, event, WHOLE))


async def answer_occurrence(ctx: Context, event: EventRow, occurrence: Snowflake, response: int) -> ScheduledEventUser:
    """Note whether the actor wants to come to one occurrence. Raises Refusal as `subscribe`, and 404/10070."""
    _require_open(ctx, event)
    require_occurrence(event, occurrence)
    user_id = ctx.actor.user_id
    before = await queries.select_user(ctx.tx, event, user_id, occurrence)
    if before is None or before.response != response:
        await queries.write_user(ctx.tx, event, user_id, occurrence, response)
        if response == EventResponse.INTERESTED:
            ctx.emit(_announced(GuildScheduledEventUserAdd, ctx, event, occurrence))
        elif before is not None:
            ctx.emit(_announced(GuildScheduledEventUserRemove, ctx, event, occurrence))
    return ScheduledEventUser(
        guild_scheduled_event_id=event.id,
        guild_scheduled_event_exception_id=occurrence,
        user_id=user_id,
        response=response,
    )


async def forget_answer(ctx: Context, event: EventRow, occurrence: Snowflake) -> None:
    """Take the actor's answer to one occurrence back. Raises Refusal: 403/20001, 404/10071."""
    _require_person(ctx)
    before = await queries.select_user(ctx.tx, event, ctx.actor.user_id, occurrence)
    if before is None or occurrence == WHOLE:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT_USER)
    await queries.delete_user(ctx.tx, event, ctx.actor.user_id, occurrence)
    if before.response == EventResponse.INTERESTED:
        ctx.emit(_announced(GuildScheduledEventUserRemove, ctx, event, occurrence))


def require_occurrence(event: EventRow, occurrence: Snowflake) -> None:
    """Refuse (404/10070) what is no occurrence of an event."""
    rule, moment = event.rule(), Timestamp(occurrence.created_ms)
    known = moment == event.scheduled_start_time or (rule is not None and is_occurrence(rule, moment))
    if rule is None or occurrence != occurrence_id(moment) or not known:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)


async def create_exception(ctx: Context, event: EventRow, body: CreateException) -> EventException:
    """Have one occurrence be other than the rule has it.

    Raises Refusal: 400/180000 for an event that is over; 400/50035 for what is no occurrence still to come, is
    another one than the rule's already, or one too many.
    """
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    moment, rule = body.original_scheduled_start_time, event.rule()
    field = "original_scheduled_start_time"
    known = event.listed_exceptions()
    if rule is None:
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "The event does not recur.")
    if moment < event.scheduled_start_time or not (moment == event.scheduled_start_time or is_occurrence(rule, moment)):
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "Not an occurrence that is still to come.")
    if any(e.event_exception_id == occurrence_id(moment) for e in known):
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "This occurrence has an exception already.")
    if len(known) >= limits.EVENT_EXCEPTIONS_MAX:
        refuse_field(field, FormCode.BASE_TYPE_MAX_LENGTH, "The event has as many exceptions as may be.")
    made = EventException(
        event_id=event.id,
        event_exception_id=occurrence_id(moment),
        scheduled_start_time=body.scheduled_start_time,
        scheduled_end_time=body.scheduled_end_time,
        is_canceled=bool(body.is_canceled),
    )
    _check(made, event)
    await _store(ctx, event, [*known, made])
    return made


async def change_exception(
    ctx: Context, event: EventRow, exception_id: Snowflake, body: ModifyException
) -> EventException:
    """Change what is other with one occurrence. Raises Refusal: 404/10070, 400/180000, 400/50035."""
    before = _exception(event, exception_id)
    after = before
    if body.scheduled_start_time is not UNSET:
        after = structs.replace(after, scheduled_start_time=body.scheduled_start_time)
    if body.scheduled_end_time is not UNSET:
        after = structs.replace(after, scheduled_end_time=body.scheduled_end_time)
    if isinstance(body.is_canceled, bool):
        after = structs.replace(after, is_canceled=body.is_canceled)
    _check(after, event)
    if after != before:
        kept = [e if e.event_exception_id != exception_id else after for e in event.listed_exceptions()]
        await _store(ctx, event, kept)
    return after


async def remove_exception(ctx: Context, event: EventRow, exception_id: Snowflake) -> None:
    """Have one occurrence be as the rule has it again. Raises Refusal: 404/10070, 400/180000."""
    _exception(event, exception_id)
    await _store(ctx, event, [e for e in event.listed_exceptions() if e.event_exception_id != exception_id])


def _exception(event: EventRow, exception_id: Snowflake) -> EventException:
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    for found in event.listed_exceptions():
        if found.event_exception_id == exception_id:
            return found
    raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)


def _check(made: EventException, event: EventRow) -> None:
    form_errors = FormErrors()
    start = made.scheduled_start_time or Timestamp(made.event_exception_id.created_ms)
    if made.scheduled_start_time is not None and made.scheduled_start_time <= Timestamp.now():
        code = FormCode.GUILD_SCHEDULED_EVENT_SCHEDULE_PAST
        form_errors.add("scheduled_start_time", code, "Cannot schedule event in the past.")
    check_end(start, made.scheduled_end_time or end_after(event, start), form_errors)
    form_errors.raise_if_any()


async def _store(ctx: Context, event: EventRow, exceptions: list[EventException]) -> None:
    listed = [to_plain(e) for e in sorted(exceptions, key=lambda e: e.event_exception_id)]
    change = AuditLogChange(key="guild_scheduled_event_exceptions", old_value=event.exceptions, new_value=listed)
    await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_UPDATE, target=event.id, changes=[change])
    await save_and_announce(ctx, ctx.guild, event, structs.replace(event, exceptions=listed))


def _require_person(ctx: Context) -> None:
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)


def _require_open(ctx: Context, event: EventRow) -> None:
    _require_person(ctx)
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)


def _announced(
    kind: type[GuildScheduledEventUserAdd | GuildScheduledEventUserRemove],
    ctx: Context,
    event: EventRow,
    occurrence: Snowflake,
) -> GuildScheduledEventUserAdd | GuildScheduledEventUserRemove:
    return kind(
        guild_id=event.guild_id,
        guild_scheduled_event_id=event.id,
        guild_scheduled_event_exception_id=UNSET if occurrence == WHOLE else occurrence,
        user_id=ctx.actor.user_id,
        channel_id=event.channel_id,
    )
