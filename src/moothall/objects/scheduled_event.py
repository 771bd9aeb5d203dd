"""Scheduled events of a guild, their recurrence, and who wants to come (resources: guild scheduled event)."""

from enum import IntEnum
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, UserId, snowflake_at
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class EventStatus(IntEnum):
    """How far an event has come."""

    SCHEDULED = 1
    ACTIVE = 2
    COMPLETED = 3
    CANCELED = 4


LIVE: Final = (EventStatus.SCHEDULED, EventStatus.ACTIVE)
"""Those of events that are still to happen, or are happening."""
TRANSITIONS: Final = frozenset(
    {
        (EventStatus.SCHEDULED, EventStatus.ACTIVE),
        (EventStatus.ACTIVE, EventStatus.COMPLETED),
        (EventStatus.SCHEDULED, EventStatus.CANCELED),
    }
)


class EntityType(IntEnum):
    """Where an event takes place."""

    STAGE_INSTANCE = 1
    VOICE = 2
    EXTERNAL = 3


class EventPrivacyLevel(IntEnum):
    """Whom an event is for."""

    GUILD_ONLY = 2


class Frequency(IntEnum):
    """How often an event recurs."""

    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3


class EventResponse(IntEnum):
    """Whether somebody wants to come."""

    UNINTERESTED = 0
    INTERESTED = 1


class NWeekday(Struct, frozen=True, kw_only=True):
    """A day of one week of the month: `n` is 1 to 5, `day` 0 for Monday to 6 for Sunday."""

    n: int
    day: int


class RecurrenceRule(Struct, frozen=True, kw_only=True):
    """When an event recurs. Weekdays are 0 for Monday to 6 for Sunday, months 1 to 12."""

    start: Timestamp
    end: Timestamp | None = None
    frequency: int
    interval: int = 1
    by_weekday: list[int] | None = None
    by_n_weekday: list[NWeekday] | None = None
    by_month: list[int] | None = None
    by_month_day: list[int] | None = None
    by_year_day: list[int] | None = None
    count: int | None = None


class EventException(Struct, frozen=True, kw_only=True):
    """One occurrence of a recurring event that is not as the rule has it.

    A null start is the rule's; without an end it lasts as long as ever.
    """

    event_id: ScheduledEventId
    event_exception_id: Snowflake
    """The moment that the rule has, as the smallest id of it: an occurrence has one exception at most."""
    scheduled_start_time: Timestamp | None
    scheduled_end_time: Timestamp | None
    is_canceled: bool


def occurrence_id(moment: Timestamp) -> Snowflake:
    """What the occurrence at a moment of the rule goes by."""
    return snowflake_at(moment)


class ScheduledEvent(Struct, frozen=True, kw_only=True):
    """An event. `creator` and `user_count` are in answers only, the count where asked for."""

    id: ScheduledEventId
    guild_id: GuildId
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
    entity_metadata: dict[str, Any] | None
    """`location` for an external event, else null."""
    recurrence_rule: RecurrenceRule | None
    guild_scheduled_event_exceptions: list[EventException]
    creator: User | UnsetType = UNSET
    user_count: int | UnsetType = UNSET


class ScheduledEventUser(Struct, frozen=True, kw_only=True):
    """Somebody's answer to an event, or to one occurrence of it."""

    guild_scheduled_event_id: ScheduledEventId
    guild_scheduled_event_exception_id: Snowflake | UnsetType = UNSET
    user_id: UserId
    user: User | UnsetType = UNSET
    member: Member | UnsetType = UNSET
    response: int = EventResponse.INTERESTED


class ScheduledEventUserCount(Struct, frozen=True, kw_only=True):
    """How many want to come, to the event as a whole and to single occurrences of it."""

    guild_scheduled_event_count: int
    guild_scheduled_event_exception_counts: dict[str, int]
