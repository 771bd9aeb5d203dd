"""SQL of scheduled events and of responses to them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.scheduled_event import (
    LIVE,
    EventException,
    EventResponse,
    RecurrenceRule,
    ScheduledEvent,
)
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, convert
from moothall.storage.database import (
    Query,
    Reader,
    StorageConflict,
    Transaction,
    in_list,
    insert_ignore,
    update_columns,
    upsert,
)
from moothall.storage.sql import bindparam, delete, func, insert, select, tuple_, update
from moothall.storage.tables import scheduled_event_users, scheduled_events

WHOLE_EVENT: Final = Snowflake(0)
"""The `exception_id` of a response to the event as a whole instead of to one occurrence."""
BATCH_SIZE: Final = 500
"""Rows that `delete_response_batch` deletes at most."""


class EventRow(Struct):
    """A row of `scheduled_events`."""

    guild_id: GuildId
    id: ScheduledEventId
    channel_id: ChannelId | None
    creator_id: UserId | None
    name: str
    description: str | None
    image: str | None
    scheduled_start_time: Timestamp
    scheduled_end_time: Timestamp | None
    privacy_level: int
    status: int
    entity_type: int
    entity_id: Snowflake | None
    location: str | None
    recurrence_rule: JsonObject | None
    exceptions: list[JsonObject]
    user_count: int
    tending: int | None
    """The token of the `AdvanceEvent` job that makes the next automatic transition."""

    @property
    def is_live(self) -> bool:
        """Whether the event is scheduled or active."""
        return self.status in LIVE

    def rule(self) -> RecurrenceRule | None:
        """The recurrence rule; None for an event that does not recur."""
        return None if self.recurrence_rule is None else convert(self.recurrence_rule, RecurrenceRule)

    def listed_exceptions(self) -> list[EventException]:
        """The exceptions of single occurrences."""
        exceptions: list[EventException] = convert(self.exceptions, list[EventException])
        return exceptions


class EventUserRow(Struct):
    """A row of `scheduled_event_users`: a user's response to an event or to one occurrence."""

    guild_id: GuildId
    event_id: ScheduledEventId
    exception_id: Snowflake
    user_id: UserId
    response: int


_E, _U = scheduled_events.c, scheduled_event_users.c
_of_guild = _E.guild_id == bindparam("guild_id")
_of_event = _of_guild & (_E.id == bindparam("event_id"))
_live = _E.status.in_(tuple(map(int, LIVE)))
_of_occurrence = (
    (_U.guild_id == bindparam("guild_id"))
    & (_U.event_id == bindparam("event_id"))
    & (_U.exception_id == bindparam("exception_id"))
)
_of_user = _of_occurrence & (_U.user_id == bindparam("user_id"))
_USER_KEY = ("guild_id", "event_id", "exception_id", "user_id")

_select_event = Query(lambda: select(scheduled_events).where(_of_event), into=EventRow)
_lock_event = Query(lambda: select(scheduled_events).where(_of_event).with_for_update(), into=EventRow)
_select_live = Query(lambda: select(scheduled_events).where(_of_guild, _live).order_by(_E.id), into=EventRow)
_select_some = Query(
    lambda: select(scheduled_events).where(_of_guild, in_list(_E.id, "event_ids")).order_by(_E.id), into=EventRow
)
_select_in_channel = Query(
    lambda: select(scheduled_events).where(_E.channel_id == bindparam("channel_id"), _live).order_by(_E.id),
    into=EventRow,
)
_count_live = Query(lambda: select(func.count()).select_from(scheduled_events).where(_of_guild, _live))
_insert_event = Query(lambda: insert(scheduled_events))
_delete_event = Query(lambda: delete(scheduled_events).where(_of_event))
_delete_events = Query(lambda: delete(scheduled_events).where(_of_guild, in_list(_E.id, "event_ids")))
_change_count = Query(
    lambda: update(scheduled_events).where(_of_event).values(user_count=_E.user_count + bindparam("more"))
)
_select_response = Query(lambda: select(scheduled_event_users).where(_of_user), into=EventUserRow)
_select_responses_after = Query(
    lambda: (
        select(scheduled_event_users)
        .where(_of_occurrence, _U.user_id > bindparam("after"))
        .order_by(_U.user_id)
        .limit(bindparam("maximum"))
    ),
    into=EventUserRow,
)
_select_responses_before = Query(
    lambda: (
        select(scheduled_event_users)
        .where(_of_occurrence, _U.user_id < bindparam("before"))
        .order_by(_U.user_id.desc())
        .limit(bindparam("maximum"))
    ),
    into=EventUserRow,
)
_insert_response = Query(lambda: insert_ignore(scheduled_event_users, key=_USER_KEY))
_upsert_response = Query(lambda: upsert(scheduled_event_users, key=_USER_KEY, update=("response",)))
_delete_response = Query(lambda: delete(scheduled_event_users).where(_of_user))
_count_interested = Query(
    lambda: (
        select(_U.exception_id, func.count())
        .where(
            _U.guild_id == bindparam("guild_id"),
            _U.event_id == bindparam("event_id"),
            in_list(_U.exception_id, "exception_ids"),
            _U.response == int(EventResponse.INTERESTED),
        )
        .group_by(_U.exception_id)
    )
)
_delete_response_batch = Query(
    lambda: delete(scheduled_event_users).where(
        _U.guild_id == bindparam("guild_id"),
        tuple_(_U.event_id, _U.exception_id, _U.user_id).in_(
            select(_U.event_id, _U.exception_id, _U.user_id)
            .where(_U.guild_id == bindparam("guild_id"), _U.event_id == bindparam("event_id"))
            .limit(BATCH_SIZE)
        ),
    )
)


async def select_event(reader: Reader, guild_id: GuildId, event_id: ScheduledEventId) -> EventRow | None:
    """Read one event of a guild; None for an unknown id."""
    return await reader.one(_select_event, guild_id=guild_id, event_id=event_id)


async def lock_event(tx: Transaction, guild_id: GuildId, event_id: ScheduledEventId) -> EventRow | None:
    """Read one event of a guild and lock its row until the transaction ends; None for an unknown id."""
    return await tx.one(_lock_event, guild_id=guild_id, event_id=event_id)


async def select_live_events(reader: Reader, guild_id: GuildId) -> list[EventRow]:
    """Read the scheduled and active events of a guild by ascending id: at most `EVENTS_PER_GUILD`."""
    return await reader.all(_select_live, guild_id=guild_id)


async def select_events(reader: Reader, guild_id: GuildId, event_ids: Iterable[int]) -> list[EventRow]:
    """Read events of a guild by ascending id; unknown ids are left out."""
    unique_ids = sorted(set(event_ids))
    return await reader.all(_select_some, guild_id=guild_id, event_ids=unique_ids) if unique_ids else []


async def select_events_in_channel(reader: Reader, channel_id: ChannelId) -> list[EventRow]:
    """Read the scheduled and active events in a channel by ascending id."""
    return await reader.all(_select_in_channel, channel_id=channel_id)


async def count_live_events(reader: Reader, guild_id: GuildId) -> int:
    """Count the scheduled and active events of a guild."""
    return int(await reader.scalar(_count_live, guild_id=guild_id) or 0)


async def insert_event(tx: Transaction, row: EventRow) -> None:
    """Store a new event."""
    await tx.execute(_insert_event, **structs.asdict(row))


async def update_event(tx: Transaction, before: EventRow, values: dict[str, object]) -> None:
    """Set columns of an event. Raises StorageConflict if its status is no longer that of `before`."""
    key = ("guild_id", "id", "status")
    query = update_columns(scheduled_events, key=key, columns=frozenset(values), new="new_")
    params = {f"new_{name}": value for name, value in values.items()}
    if not await tx.execute(query, guild_id=before.guild_id, id=before.id, status=before.status, **params):
        raise StorageConflict(f"event {before.id} changed its status concurrently")


async def delete_event(tx: Transaction, guild_id: GuildId, event_id: ScheduledEventId) -> bool:
    """Delete an event; False if there was none."""
    return bool(await tx.execute(_delete_event, guild_id=guild_id, event_id=event_id))


async def delete_events(tx: Transaction, guild_id: GuildId, event_ids: Sequence[ScheduledEventId]) -> None:
    """Delete several events of a guild."""
    await tx.execute(_delete_events, guild_id=guild_id, event_ids=list(event_ids))


async def select_response(
    reader: Reader, event: EventRow, user_id: UserId, exception_id: Snowflake = WHOLE_EVENT
) -> EventUserRow | None:
    """Read a user's response; None if there is none."""
    return await reader.one(
        _select_response, guild_id=event.guild_id, event_id=event.id, exception_id=exception_id, user_id=user_id
    )


async def select_responses(
    reader: Reader,
    event: EventRow,
    exception_id: Snowflake,
    *,
    before: UserId | None,
    after: UserId | None,
    maximum: int,
) -> list[EventUserRow]:
    """Read at most `maximum` responses by ascending user id.

    These are the last ones before the user `before`, or without it the first ones after the user `after`.
    """
    params = {"guild_id": event.guild_id, "event_id": event.id, "exception_id": exception_id, "maximum": maximum}
    if before is None:
        return await reader.all(_select_responses_after, after=after or 0, **params)
    return (await reader.all(_select_responses_before, before=before, **params))[::-1]


async def insert_subscriber(tx: Transaction, event: EventRow, user_id: UserId) -> bool:
    """Store a user as interested in an event and increment its `user_count`; False if they are already."""
    key = {"guild_id": event.guild_id, "event_id": event.id}
    inserted = await tx.execute(_insert_response, exception_id=WHOLE_EVENT, user_id=user_id, response=1, **key)
    if inserted:
        await tx.execute(_change_count, more=1, **key)
    return bool(inserted)


async def delete_response(
    tx: Transaction, event: EventRow, user_id: UserId, exception_id: Snowflake = WHOLE_EVENT
) -> bool:
    """Delete a user's response, and decrement `user_count` for one to the whole event; False if there was none."""
    key = {"guild_id": event.guild_id, "event_id": event.id}
    deleted = await tx.execute(_delete_response, exception_id=exception_id, user_id=user_id, **key)
    if deleted and exception_id == WHOLE_EVENT:
        await tx.execute(_change_count, more=-1, **key)
    return bool(deleted)


async def upsert_response(
    tx: Transaction, event: EventRow, user_id: UserId, exception_id: Snowflake, response: int
) -> None:
    """Store a user's response to one occurrence, replacing the one before."""
    await tx.execute(
        _upsert_response,
        guild_id=event.guild_id,
        event_id=event.id,
        exception_id=exception_id,
        user_id=user_id,
        response=response,
    )


async def count_interested(
    reader: Reader, event: EventRow, exception_ids: Collection[Snowflake]
) -> dict[Snowflake, int]:
    """Count the users interested in single occurrences, by occurrence id; 0 for ids without responses."""
    unique_ids = sorted(set(exception_ids))
    rows = await reader.all(_count_interested, guild_id=event.guild_id, event_id=event.id, exception_ids=unique_ids)
    counts = {Snowflake(exception_id): int(count) for exception_id, count in rows}
    return {exception_id: counts.get(exception_id, 0) for exception_id in unique_ids}


async def delete_response_batch(tx: Transaction, guild_id: GuildId, event_id: ScheduledEventId) -> bool:
    """Delete at most `BATCH_SIZE` responses to an event; False once there are none."""
    return bool(await tx.execute(_delete_response_batch, guild_id=guild_id, event_id=event_id))


def event_object(row: EventRow, *, creator: User | UnsetType = UNSET, counts: bool = False) -> ScheduledEvent:
    """The API object of an event; `user_count` is included with `counts`."""
    return ScheduledEvent(
        id=row.id,
        guild_id=row.guild_id,
        channel_id=row.channel_id,
        creator_id=row.creator_id,
        name=row.name,
        description=row.description,
        image=row.image,
        scheduled_start_time=row.scheduled_start_time,
        scheduled_end_time=row.scheduled_end_time,
        privacy_level=row.privacy_level,
        status=row.status,
        entity_type=row.entity_type,
        entity_id=row.entity_id,
        entity_metadata=None if row.location is None else {"location": row.location},
        recurrence_rule=row.rule(),
        guild_scheduled_event_exceptions=row.listed_exceptions(),
        creator=creator,
        user_count=row.user_count if counts else UNSET,
    )
