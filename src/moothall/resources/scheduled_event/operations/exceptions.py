"""Exceptions: single occurrences of a recurring event that are cancelled or take place at another time."""

from msgspec import Struct, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import LAST_MS, Snowflake
from moothall.objects.scheduled_event import EventException, occurrence_id
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event.events import (
    GuildScheduledEventExceptionCreate,
    GuildScheduledEventExceptionDelete,
)
from moothall.resources.scheduled_event.operations.lifecycle import save_event
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.scheduled_event.recurrence import is_occurrence
from moothall.resources.scheduled_event.requests import CreateException, ModifyException, check_end
from moothall.resources.scheduled_event.times import end_after


class _AuditedFields(Struct, frozen=True, kw_only=True):
    """The fields of an exception that audit log entries compare, by their change keys."""

    scheduled_start_time: Timestamp | None
    scheduled_end_time: Timestamp | None
    is_canceled: bool


async def create_exception(ctx: Context, event: EventRow, body: CreateException) -> EventException:
    """Move or cancel one occurrence of a recurring event, replacing the exception that it has.

    Raises Refusal: 400/180000 for an event that has ended; 400/180005 for a body that changes nothing; 400/50035 for an
    event that does not recur, a moment that is not an upcoming occurrence, or more than `EVENT_EXCEPTIONS_MAX`
    exceptions.
    """
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    if body.scheduled_start_time is None and body.scheduled_end_time is None and body.is_canceled is None:
        raise Refusal(errors.EVENT_EXCEPTION_EMPTY)
    moment, rule = body.original_scheduled_start_time, event.rule()
    field = "original_scheduled_start_time"
    if rule is None:
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "The event does not recur.")
    if moment < event.scheduled_start_time or not (moment == event.scheduled_start_time or is_occurrence(rule, moment)):
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "Not an upcoming occurrence.")
    if moment > LAST_MS:
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "This occurrence is too late to have an id.")
    exception = EventException(
        event_id=event.id,
        event_exception_id=occurrence_id(moment),
        scheduled_start_time=body.scheduled_start_time,
        scheduled_end_time=body.scheduled_end_time,
        is_canceled=bool(body.is_canceled),
    )
    before, others = _split(event, exception.event_exception_id)
    if before is None and len(others) >= limits.EVENT_EXCEPTIONS_MAX:
        refuse_field(field, FormCode.BASE_TYPE_MAX_LENGTH, "The event has the maximum number of exceptions.")
    await _put(ctx, event, before, exception)
    return exception


async def modify_exception(
    ctx: Context, event: EventRow, exception_id: Snowflake, body: ModifyException
) -> EventException:
    """Set the times of an exception and whether it is cancelled; what the body leaves out gets its default.

    Raises Refusal: 404/10070 for an unknown exception, 400/180000 for an event that has ended, 400/50035.
    """
    before = _find_exception(event, exception_id)
    after = EventException(
        event_id=event.id,
        event_exception_id=exception_id,
        scheduled_start_time=body.scheduled_start_time,
        scheduled_end_time=body.scheduled_end_time,
        is_canceled=bool(body.is_canceled),
    )
    await _put(ctx, event, before, after)
    return after


async def delete_exception(ctx: Context, event: EventRow, exception_id: Snowflake) -> None:
    """Remove an exception, so that the rule applies to the occurrence again.

    Raises Refusal: 404/10070 for an unknown exception, 400/180000 for an event that has ended.
    """
    exception = _find_exception(event, exception_id)
    await _store(ctx, event, _split(event, exception_id)[1])
    await _audit(ctx, AuditLogEvent.GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE, exception, None)
    ctx.emit(GuildScheduledEventExceptionDelete.of(event, exception))


def _split(event: EventRow, exception_id: Snowflake) -> tuple[EventException | None, list[EventException]]:
    """The exception of an occurrence, None if it has none, and those of the others."""
    listed = event.listed_exceptions()
    exception = next((e for e in listed if e.event_exception_id == exception_id), None)
    return exception, [e for e in listed if e.event_exception_id != exception_id]


def _find_exception(event: EventRow, exception_id: Snowflake) -> EventException:
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    exception, _ = _split(event, exception_id)
    if exception is None:
        raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
    return exception


async def _put(ctx: Context, event: EventRow, before: EventException | None, after: EventException) -> None:
    """Check, store, record and announce an exception; nothing if it equals the one before."""
    _check_times(after, event)
    if after == before:
        return
    await _store(ctx, event, [*_split(event, after.event_exception_id)[1], after])
    created, updated = (
        AuditLogEvent.GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE,
        AuditLogEvent.GUILD_SCHEDULED_EVENT_EXCEPTION_UPDATE,
    )
    await _audit(ctx, created if before is None else updated, before, after)
    # Changes are announced by this event too: GUILD_SCHEDULED_EVENT_EXCEPTION_UPDATE is documented as unused.
    ctx.emit(GuildScheduledEventExceptionCreate.of(event, after))


def _check_times(exception: EventException, event: EventRow) -> None:
    form_errors = FormErrors()
    start = exception.scheduled_start_time or Timestamp(exception.event_exception_id.created_ms)
    if exception.scheduled_start_time is not None and exception.scheduled_start_time <= Timestamp.now():
        code = FormCode.GUILD_SCHEDULED_EVENT_SCHEDULE_PAST
        form_errors.add("scheduled_start_time", code, "Cannot schedule event in the past.")
    check_end(start, exception.scheduled_end_time or end_after(event, start), form_errors)
    form_errors.raise_if_any()


async def _store(ctx: Context, event: EventRow, exceptions: list[EventException]) -> None:
    plain = [to_plain(e) for e in sorted(exceptions, key=lambda e: e.event_exception_id)]
    await save_event(ctx, event, structs.replace(event, exceptions=plain))


async def _audit(
    ctx: Context, action: AuditLogEvent, before: EventException | None, after: EventException | None
) -> None:
    exception = after or before
    if exception is None:
        return
    await ctx.audit(
        action,
        target=exception.event_id,
        changes=differences(_audited_fields(before), _audited_fields(after)),
        options=AuditLogOptions(event_exception_id=exception.event_exception_id),
    )


def _audited_fields(exception: EventException | None) -> _AuditedFields | None:
    if exception is None:
        return None
    return _AuditedFields(
        scheduled_start_time=exception.scheduled_start_time,
        scheduled_end_time=exception.scheduled_end_time,
        is_canceled=exception.is_canceled,
    )
