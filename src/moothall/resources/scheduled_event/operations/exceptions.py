"""Exceptions: single occurrences of a recurring event that are cancelled or take place at another time."""

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import LAST_MS, Snowflake
from moothall.objects.scheduled_event import EventException, occurrence_id
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event.operations.lifecycle import save_and_announce
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.scheduled_event.recurrence import is_occurrence
from moothall.resources.scheduled_event.requests import CreateException, ModifyException, check_end
from moothall.resources.scheduled_event.times import end_after


async def create_exception(ctx: Context, event: EventRow, body: CreateException) -> EventException:
    """Move or cancel one occurrence of a recurring event.

    Raises Refusal: 400/180000 for an event that has ended; 400/50035 for an event that does not recur, a moment that is
    not an upcoming occurrence, an occurrence that has an exception, or more than `EVENT_EXCEPTIONS_MAX` exceptions.
    """
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    moment, rule = body.original_scheduled_start_time, event.rule()
    field = "original_scheduled_start_time"
    exceptions = event.listed_exceptions()
    if rule is None:
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "The event does not recur.")
    if moment < event.scheduled_start_time or not (moment == event.scheduled_start_time or is_occurrence(rule, moment)):
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "Not an upcoming occurrence.")
    if moment > LAST_MS:
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "This occurrence is too late to have an id.")
    if any(e.event_exception_id == occurrence_id(moment) for e in exceptions):
        refuse_field(field, FormCode.BASE_TYPE_CHOICES, "This occurrence has an exception already.")
    if len(exceptions) >= limits.EVENT_EXCEPTIONS_MAX:
        refuse_field(field, FormCode.BASE_TYPE_MAX_LENGTH, "The event has the maximum number of exceptions.")
    exception = EventException(
        event_id=event.id,
        event_exception_id=occurrence_id(moment),
        scheduled_start_time=body.scheduled_start_time,
        scheduled_end_time=body.scheduled_end_time,
        is_canceled=bool(body.is_canceled),
    )
    _check_times(exception, event)
    await _store(ctx, event, [*exceptions, exception])
    return exception


async def modify_exception(
    ctx: Context, event: EventRow, exception_id: Snowflake, body: ModifyException
) -> EventException:
    """Change the times of an exception, or whether it is cancelled.

    Raises Refusal: 404/10070 for an unknown exception, 400/180000 for an event that has ended, 400/50035.
    """
    before = _find_exception(event, exception_id)
    after = before
    if body.scheduled_start_time is not UNSET:
        after = structs.replace(after, scheduled_start_time=body.scheduled_start_time)
    if body.scheduled_end_time is not UNSET:
        after = structs.replace(after, scheduled_end_time=body.scheduled_end_time)
    if isinstance(body.is_canceled, bool):
        after = structs.replace(after, is_canceled=body.is_canceled)
    _check_times(after, event)
    if after != before:
        exceptions = [e if e.event_exception_id != exception_id else after for e in event.listed_exceptions()]
        await _store(ctx, event, exceptions)
    return after


async def delete_exception(ctx: Context, event: EventRow, exception_id: Snowflake) -> None:
    """Remove an exception, so that the rule applies to the occurrence again.

    Raises Refusal: 404/10070 for an unknown exception, 400/180000 for an event that has ended.
    """
    _find_exception(event, exception_id)
    await _store(ctx, event, [e for e in event.listed_exceptions() if e.event_exception_id != exception_id])


def _find_exception(event: EventRow, exception_id: Snowflake) -> EventException:
    if not event.is_live:
        raise Refusal(errors.EVENT_FINISHED)
    for exception in event.listed_exceptions():
        if exception.event_exception_id == exception_id:
            return exception
    raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)


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
    change = AuditLogChange(key="guild_scheduled_event_exceptions", old_value=event.exceptions, new_value=plain)
    await ctx.audit(AuditLogEvent.GUILD_SCHEDULED_EVENT_UPDATE, target=event.id, changes=[change])
    await save_and_announce(ctx, ctx.guild, event, structs.replace(event, exceptions=plain))
