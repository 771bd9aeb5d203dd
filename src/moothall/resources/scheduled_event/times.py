"""Start and end times of events, with the exceptions of single occurrences."""

from itertools import chain, islice
from typing import Final

from msgspec import structs

from moothall.objects import limits
from moothall.objects.scheduled_event import EntityType, EventException, EventStatus, occurrence_id
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.scheduled_event.recurrence import occurrences

MS: Final = 1000


def exception_at(row: EventRow, moment: Timestamp) -> EventException | None:
    """The exception of the occurrence that the rule has at a moment; None if it has none."""
    if not row.exceptions:
        return None
    exception_id = occurrence_id(moment)
    return next((e for e in row.listed_exceptions() if e.event_exception_id == exception_id), None)


def times_of(row: EventRow) -> tuple[Timestamp, Timestamp | None]:
    """Start and end of the current occurrence, its exception included."""
    exception = exception_at(row, row.scheduled_start_time)
    if exception is None:
        return row.scheduled_start_time, row.scheduled_end_time
    start = exception.scheduled_start_time or row.scheduled_start_time
    return start, exception.scheduled_end_time or end_after(row, start)


def end_after(row: EventRow, start: Timestamp) -> Timestamp | None:
    """The end of an event that is moved to `start` and keeps its duration; None without an end."""
    if row.scheduled_end_time is None:
        return None
    return Timestamp(start + row.scheduled_end_time - row.scheduled_start_time)


def is_skipped(row: EventRow) -> bool:
    """Whether the current occurrence is cancelled."""
    exception = exception_at(row, row.scheduled_start_time)
    return exception is not None and exception.is_canceled


def next_moment(row: EventRow, now: Timestamp) -> Timestamp | None:
    """When the status of an event is due to change or be checked; None for one that follows its stage."""
    if not row.is_live:
        return Timestamp(now + limits.EVENT_KEPT * MS)
    start, end = times_of(row)
    if row.status == EventStatus.SCHEDULED:
        if is_skipped(row):
            return row.scheduled_start_time
        return start if row.entity_type == EntityType.EXTERNAL else Timestamp(start + limits.EVENT_PATIENCE * MS)
    if row.entity_type == EntityType.EXTERNAL:
        return end
    return Timestamp(now + limits.STAGE_LOOK * MS) if row.entity_type == EntityType.VOICE else None


def move_to_next_occurrence(row: EventRow, now: Timestamp) -> EventRow | None:
    """Move an event to its next occurrence that is neither cancelled nor past; None if there is none."""
    rule = row.rule()
    if rule is None:
        return None
    exceptions = {e.event_exception_id: e for e in row.listed_exceptions()}

    def is_upcoming(moment: Timestamp) -> bool:
        exception = exceptions.get(occurrence_id(moment))
        if exception is None:
            return moment > now
        return not exception.is_canceled and (exception.scheduled_start_time or moment) > now

    # An occurrence that was put off may be still to come although its moment in the rule is past.
    moments = (Timestamp(exception_id.created_ms) for exception_id in exceptions)
    put_off = sorted(moment for moment in moments if row.scheduled_start_time < moment <= now)
    # One more than there can be exceptions.
    upcoming = islice(occurrences(rule, max(row.scheduled_start_time, now)), limits.EVENT_EXCEPTIONS_MAX + 1)
    moment = next(filter(is_upcoming, chain(put_off, upcoming)), None)
    if moment is None:
        return None
    first = occurrence_id(moment)
    return structs.replace(
        row,
        status=EventStatus.SCHEDULED,
        entity_id=None,
        scheduled_start_time=moment,
        scheduled_end_time=end_after(row, moment),
        exceptions=[to_plain(e) for e in exceptions.values() if e.event_exception_id >= first],
    )
