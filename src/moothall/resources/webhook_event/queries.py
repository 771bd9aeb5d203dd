"""The SQL of webhook events."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from moothall.objects.ids import ApplicationId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, insert, not_, select, update
from moothall.storage.tables import webhook_event_failures, webhook_events


class EventRow(Struct):
    """A row of `webhook_events`."""

    id: Snowflake
    application_id: ApplicationId
    body: str
    created_at: Timestamp
    attempts: int
    next_attempt_at: Timestamp
    claim_id: Snowflake | None


_e = webhook_events.c
_insert = Query(lambda: insert(webhook_events))
_select_due_ids = Query(
    lambda: (
        select(_e.id, _e.application_id)
        .where(
            _e.next_attempt_at <= bindparam("now", type_=_e.next_attempt_at.type),
            not_(in_list(_e.application_id, "busy_ids")),
        )
        .order_by(_e.next_attempt_at, _e.id)
        .limit(bindparam("maximum"))
    )
)
_claim = Query(
    lambda: (
        update(webhook_events)
        .where(in_list(_e.id, "event_ids"), _e.next_attempt_at <= bindparam("now", type_=_e.next_attempt_at.type))
        .values(attempts=_e.attempts + 1, next_attempt_at=bindparam("until"), claim_id=bindparam("new_claim_id"))
    )
)
_select_claimed = Query(lambda: select(webhook_events).where(_e.claim_id == bindparam("claim_id")), into=EventRow)
_postpone = Query(
    lambda: (
        update(webhook_events)
        .where(_e.id == bindparam("event_id"))
        .values(next_attempt_at=bindparam("at"), claim_id=None)
    )
)
_delete = Query(lambda: delete(webhook_events).where(_e.id == bindparam("event_id")))
_delete_of_application = Query(lambda: delete(webhook_events).where(_e.application_id == bindparam("application_id")))
_count_failure = Query(
    lambda: upsert(
        webhook_event_failures,
        key=("application_id",),
        update={"failures": webhook_event_failures.c.failures + 1},
        returning=(webhook_event_failures.c.failures,),
    )
)
_forget_failures = Query(
    lambda: delete(webhook_event_failures).where(webhook_event_failures.c.application_id == bindparam("application_id"))
)


async def insert_events(tx: Transaction, rows: Iterable[EventRow]) -> None:
    """Store events."""
    await tx.execute_many(_insert, [structs.asdict(row) for row in rows])


async def select_due(
    reader: Reader, now: Timestamp, busy_ids: Sequence[ApplicationId], maximum: int
) -> list[tuple[Snowflake, ApplicationId]]:
    """The ids of due events with their applications, without those of busy applications, longest due first."""
    rows: list[Any] = await reader.all(_select_due_ids, now=now, busy_ids=list(busy_ids), maximum=maximum)
    return [(Snowflake(row[0]), ApplicationId(Snowflake(row[1]))) for row in rows]


async def claim_events(
    tx: Transaction, event_ids: Sequence[Snowflake], claim_id: Snowflake, *, now: Timestamp, until: Timestamp
) -> list[EventRow]:
    """Count an attempt of those events that no other process has claimed meanwhile; these events."""
    await tx.execute(_claim, event_ids=list(event_ids), now=now, until=until, new_claim_id=claim_id)
    return await tx.all(_select_claimed, claim_id=claim_id)


async def postpone_event(tx: Transaction, event_id: Snowflake, at: Timestamp) -> None:
    """Set the time of the next attempt."""
    await tx.execute(_postpone, event_id=event_id, at=at)


async def delete_event(tx: Transaction, event_id: Snowflake) -> None:
    """Delete an event."""
    await tx.execute(_delete, event_id=event_id)


async def delete_events_of_application(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete all events of an application, and its count of failures."""
    await tx.execute(_delete_of_application, application_id=application_id)
    await tx.execute(_forget_failures, application_id=application_id)


async def count_failure(tx: Transaction, application_id: ApplicationId) -> int:
    """Count an event that was not acknowledged; how many in a row there are now."""
    return int(await tx.scalar(_count_failure, application_id=application_id, failures=1))


async def forget_failures(tx: Transaction, application_id: ApplicationId) -> None:
    """Forget the events that were not acknowledged."""
    await tx.execute(_forget_failures, application_id=application_id)
