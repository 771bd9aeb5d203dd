"""The SQL of scheduled events."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, structs
from sqlalchemy import bindparam, delete, func, insert, select, tuple_, update

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, UserId
from moothall.objects.scheduled_event import (
    LIVE,
    EventException,
    EventResponse,
    RecurrenceRule,
    ScheduledEvent,
)
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, convert
from moothall.storage.database import Query, Reader, StorageConflict, Transaction, in_list, insert_ignore, upsert
from moothall.storage.query import Row
from moothall.storage.schema import scheduled_event_users, scheduled_events

WHOLE: Final = Snowflake(0)
"""In place of an occurrence's id: the event as a whole."""
_MAX_AT_ONCE: Final = 500


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
    recurrence_rule: dict[str, Any] | None
    exceptions: list[dict[str, Any]]
    user_count: int
    tending: int | None

    @property
    def is_live(self) -> bool:
        """Whether it is still to happen, or happening."""
        return self.status in LIVE

    def rule(self) -> RecurrenceRule | None:
        """When it recurs; None for an event that does not."""
        return None if self.recurrence_rule is None else convert(self.recurrence_rule, RecurrenceRule)

    def listed_exceptions(self) -> list[EventException]:
        """The occurrences that are not as the rule has them."""
        found: list[EventException] = convert(self.exceptions, list[EventException])
        return found


class EventUserRow(Struct):
    """A row of `scheduled_event_users`."""

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

_select_event = Query(select(scheduled_events).where(_of_event), into=EventRow)
_lock_event = Query(select(scheduled_events).where(_of_event).with_for_update(), into=EventRow)
_select_live = Query(select(scheduled_events).where(_of_guild, _live).order_by(_E.id), into=EventRow)
_select_some = Query(
    select(scheduled_events).where(_of_guild, in_list(_E.id, "event_ids")).order_by(_E.id), into=EventRow
)
_select_in_channel = Query(
    select(scheduled_events).where(_E.channel_id == bindparam("channel_id"), _live).order_by(_E.id), into=EventRow
)
_count_live = Query(select(func.count()).select_from(scheduled_events).where(_of_guild, _live))
_insert_event = Query(insert(scheduled_events))
_delete_event = Query(delete(scheduled_events).where(_of_event))
_delete_events = Query(delete(scheduled_events).where(_of_guild, in_list(_E.id, "event_ids")))
_change_count = Query(update(scheduled_events).where(_of_event).values(user_count=_E.user_count + bindparam("more")))
_select_user = Query(select(scheduled_event_users).where(_of_user), into=EventUserRow)
_select_users_after = Query(
    select(scheduled_event_users)
    .where(_of_occurrence, _U.user_id > bindparam("after"))
    .order_by(_U.user_id)
    .limit(bindparam("maximum")),
    into=EventUserRow,
)
_select_users_before = Query(
    select(scheduled_event_users)
    .where(_of_occurrence, _U.user_id < bindparam("before"))
    .order_by(_U.user_id.desc())
    .limit(bindparam("maximum")),
    into=EventUserRow,
)
_insert_user = Query(insert_ignore(scheduled_event_users, key=_USER_KEY))
_write_user = Query(upsert(scheduled_event_users, key=_USER_KEY, update=("response",)))
_delete_user = Query(delete(scheduled_event_users).where(_of_user))
_count_users = Query(
    select(_U.exception_id, func.count())
    .where(
        _U.guild_id == bindparam("guild_id"),
        _U.event_id == bindparam("event_id"),
        in_list(_U.exception_id, "exception_ids"),
        _U.response == int(EventResponse.INTERESTED),
    )
    .group_by(_U.exception_id)
)
_delete_some_users = Query(
    delete(scheduled_event_users).where(
        _U.guild_id == bindparam("guild_id"),
        tuple_(_U.event_id, _U.exception_id, _U.user_id).in_(
            select(_U.event_id, _U.exception_id, _U.user_id)
            .where(_U.guild_id == bindparam("guild_id"), _U.event_id == bindparam("event_id"))
            .limit(_MAX_AT_ONCE)
        ),
    )
)


async def select_event(reader: Reader, guild_id: GuildId, event_id: ScheduledEventId) -> EventRow | None:
    """One event of a guild; None if there is none."""
    return await reader.one(_select_event, guild_id=guild_id, event_id=event_id)


async def lock_event(tx: Transaction, guild_id: GuildId, event_id: ScheduledEventId) -> EventRow | None:
    """The same; nobody else changes it until the transaction ends."""
    return await tx.one(_lock_event, guild_id=guild_id, event_id=event_id)


async def select_live_events(reader: Reader, guild_id: GuildId) -> list[EventRow]:
    """The events of a guild that are not over, oldest first: at most a hundred."""
    return await reader.all(_select_live, guild_id=guild_id)


async def select_events(reader: Reader, guild_id: GuildId, event_ids: Iterable[int]) -> list[EventRow]:
    """Those of some events of a guild that are still known, oldest first."""
    wanted = sorted(set(event_ids))
    return await reader.all(_select_some, guild_id=guild_id, event_ids=wanted) if wanted else []


async def select_events_in_channel(reader: Reader, channel_id: ChannelId) -> list[EventRow]:
    """The events in a channel that are not over."""
    return await reader.all(_select_in_channel, channel_id=channel_id)


async def count_live_events(reader: Reader, guild_id: GuildId) -> int:
    """How many events of a guild are not over."""
    return int(await reader.scalar(_count_live, guild_id=guild_id) or 0)


async def insert_event(tx: Transaction, row: EventRow) -> None:
    """Store a new event."""
    await tx.execute(_insert_event, **structs.asdict(row))


@cache
def _update_event(columns: frozenset[str]) -> Query[Row]:
    values = {name: bindparam(f"new_{name}", type_=_E[name].type) for name in sorted(columns)}
    return Query(update(scheduled_events).where(_of_event, _E.status == bindparam("was")).values(values))


async def update_event(tx: Transaction, before: EventRow, values: dict[str, object]) -> None:
    """Set columns of an event as it was read. Raises StorageConflict if it has begun or ended since."""
    query = _update_event(frozenset(values))
    given = {f"new_{name}": value for name, value in values.items()}
    if not await tx.execute(query, guild_id=before.guild_id, event_id=before.id, was=before.status, **given):
        raise StorageConflict(f"event {before.id} is not as it was")


async def delete_event(tx: Transaction, guild_id: GuildId, event_id: ScheduledEventId) -> bool:
    """Remove an event; False if it was gone already."""
    return bool(await tx.execute(_delete_event, guild_id=guild_id, event_id=event_id))


async def delete_events(tx: Transaction, guild_id: GuildId, event_ids: Sequence[ScheduledEventId]) -> None:
    """Remove several events of a guild."""
    await tx.execute(_delete_events, guild_id=guild_id, event_ids=list(event_ids))


async def select_user(
    reader: Reader, event: EventRow, user_id: UserId, exception_id: Snowflake = WHOLE
) -> EventUserRow | None:
    """Somebody's answer; None for those who gave none."""
    return await reader.one(
        _select_user, guild_id=event.guild_id, event_id=event.id, exception_id=exception_id, user_id=user_id
    )


async def select_users(
    reader: Reader,
    event: EventRow,
    exception_id: Snowflake,
    *,
    before: UserId | None,
    after: UserId | None,
    maximum: int,
) -> list[EventUserRow]:
    """Answers by ascending user id: the last before one, or the first after another."""
    access = {"guild_id": event.guild_id, "event_id": event.id, "exception_id": exception_id, "maximum": maximum}
    if before is None:
        return await reader.all(_select_users_after, after=after or 0, **access)
    return (await reader.all(_select_users_before, before=before, **access))[::-1]


async def insert_user(tx: Transaction, event: EventRow, user_id: UserId) -> bool:
    """Note and count that somebody wants to come; False if that is known."""
    key = {"guild_id": event.guild_id, "event_id": event.id}
    done = await tx.execute(_insert_user, exception_id=WHOLE, user_id=user_id, response=1, **key)
    if done:
        await tx.execute(_change_count, more=1, **key)
    return bool(done)


async def delete_user(tx: Transaction, event: EventRow, user_id: UserId, exception_id: Snowflake = WHOLE) -> bool:
    """Forget somebody's answer, and count them no more; False if there was none."""
    key = {"guild_id": event.guild_id, "event_id": event.id}
    done = await tx.execute(_delete_user, exception_id=exception_id, user_id=user_id, **key)
    if done and exception_id == WHOLE:
        await tx.execute(_change_count, more=-1, **key)
    return bool(done)


async def write_user(tx: Transaction, event: EventRow, user_id: UserId, exception_id: Snowflake, response: int) -> None:
    """Note somebody's answer to one occurrence in place of the one before."""
    await tx.execute(
        _write_user,
        guild_id=event.guild_id,
        event_id=event.id,
        exception_id=exception_id,
        user_id=user_id,
        response=response,
    )


async def count_users(reader: Reader, event: EventRow, exception_ids: Collection[Snowflake]) -> dict[Snowflake, int]:
    """How many want to come to single occurrences of an event."""
    wanted = sorted(set(exception_ids))
    rows = await reader.all(_count_users, guild_id=event.guild_id, event_id=event.id, exception_ids=wanted)
    found = {Snowflake(exception_id): int(count) for exception_id, count in rows}
    return {exception_id: found.get(exception_id, 0) for exception_id in wanted}


async def delete_some_users(tx: Transaction, guild_id: GuildId, event_id: ScheduledEventId) -> bool:
    """Remove at most some hundred answers to an event; False once there are none."""
    return bool(await tx.execute(_delete_some_users, guild_id=guild_id, event_id=event_id))


def event_object(row: EventRow, *, creator: User | UnsetType = UNSET, counts: bool = False) -> ScheduledEvent:
    """The object of an event."""
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
