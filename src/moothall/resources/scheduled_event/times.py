"""When events begin, end and recur, as they are and with what is other this time."""

from typing import Final

from msgspec import structs

from moothall.objects import limits
from moothall.objects.scheduled_event import EntityType, EventException, EventStatus, occurrence_id
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.scheduled_event.recurrence import next_occurrence

MS: Final = 1000


def exception_at(row: EventRow, moment: Timestamp) -> EventException | None:
    """What is other with the occurrence at a moment of the rule; None if nothing is."""
    if not row.exceptions:
        return None
    wanted = occurrence_id(moment)
    return next((e for e in row.listed_exceptions() if e.event_exception_id == wanted), None)


def times_of(row: EventRow) -> tuple[Timestamp, Timestamp | None]:
    """When the occurrence that an event has come to begins and ends, with what is other this time."""
    found = exception_at(row, row.scheduled_start_time)
    if found is None:
        return row.scheduled_start_time, row.scheduled_end_time
    start = found.scheduled_start_time or row.scheduled_start_time
    return start, found.scheduled_end_time or end_after(row, start)


def end_after(row: EventRow, start: Timestamp) -> Timestamp | None:
    """When an event ends that begins at another time and lasts as long as ever."""
    if row.scheduled_end_time is None:
        return None
    return Timestamp(start + row.scheduled_end_time - row.scheduled_start_time)


def is_skipped(row: EventRow) -> bool:
    """Whether the occurrence that an event has come to is cancelled."""
    found = exception_at(row, row.scheduled_start_time)
    return found is not None and found.is_canceled


def next_moment(row: EventRow, now: Timestamp) -> Timestamp | None:
    """When an event is to be looked at next; None for one whose stage is looked at."""
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


def rolled(row: EventRow, now: Timestamp) -> EventRow | None:
    """An event at its next occurrence that is neither cancelled nor past; None if it does not recur."""
    rule = row.rule()
    if rule is None:
        return None
    # What was put off may be still to come, though its moment in the rule is past.
    put_off = [Timestamp(e.event_exception_id.created_ms) for e in row.listed_exceptions()]
    found = [_at(row, moment) for moment in put_off if row.scheduled_start_time < moment <= now]
    moment: Timestamp | None = max(row.scheduled_start_time, now)
    for _ in range(limits.EVENT_EXCEPTIONS_MAX + 1):
        moment = None if moment is None else next_occurrence(rule, moment)
        if moment is None:
            break
        found.append(_at(row, moment))
        if _is_to_come(found[-1], now):
            break
    after = min((at for at in found if _is_to_come(at, now)), key=lambda at: at.scheduled_start_time, default=None)
    if after is None:
        return None
    first = occurrence_id(after.scheduled_start_time)
    kept = [to_plain(e) for e in row.listed_exceptions() if e.event_exception_id >= first]
    return structs.replace(after, exceptions=kept)


def _at(row: EventRow, moment: Timestamp) -> EventRow:
    """An event that is still to happen, at one occurrence."""
    return structs.replace(
        row,
        status=EventStatus.SCHEDULED,
        entity_id=None,
        scheduled_start_time=moment,
        scheduled_end_time=end_after(row, moment),
    )


def _is_to_come(row: EventRow, now: Timestamp) -> bool:
    return not is_skipped(row) and times_of(row)[0] > now
