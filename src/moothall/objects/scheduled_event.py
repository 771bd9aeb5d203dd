"""Scheduled events of guilds, their recurrence and interested users (resources: guild scheduled event)."""

from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, UserId, snowflake_at
from moothall.objects.json_object import JsonObject
from moothall.objects.member import Member
from moothall.objects.user import User
from moothall.objects.wire import Timestamp


class EventStatus(IntEnum):
    """The status of an event."""

    SCHEDULED = 1
    ACTIVE = 2
    COMPLETED = 3
    CANCELED = 4


LIVE: Final = (EventStatus.SCHEDULED, EventStatus.ACTIVE)
"""The statuses of events that have not ended."""
TRANSITIONS: Final = frozenset(
    {
        (EventStatus.SCHEDULED, EventStatus.ACTIVE),
        (EventStatus.ACTIVE, EventStatus.COMPLETED),
        (EventStatus.SCHEDULED, EventStatus.CANCELED),
    }
)


class EntityType(IntEnum):
    """The type of an event's location."""

    STAGE_INSTANCE = 1
    VOICE = 2
    EXTERNAL = 3


class EventPrivacyLevel(IntEnum):
    """The privacy level of an event."""

    GUILD_ONLY = 2


class Frequency(IntEnum):
    """The unit of a recurrence rule."""

    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3


class EventResponse(IntEnum):
    """Whether a user is interested in an event or an occurrence."""

    UNINTERESTED = 0
    INTERESTED = 1


class NWeekday(Struct, frozen=True, kw_only=True):
    """A weekday of the nth week of the month: `n` is 1 to 5, `day` 0 for Monday to 6 for Sunday."""

    n: int
    day: int


class RecurrenceRule(Struct, frozen=True, kw_only=True):
    """A recurrence rule. Weekdays are 0 for Monday to 6 for Sunday, months 1 to 12."""

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
    """An exception to the recurrence rule for one occurrence.

    A null start is that of the rule; with a null end the duration of the event applies.
    """

    event_id: ScheduledEventId
    event_exception_id: Snowflake
    """`occurrence_id` of the start time by the rule, so an occurrence has at most one exception."""
    scheduled_start_time: Timestamp | None
    scheduled_end_time: Timestamp | None
    is_canceled: bool


def occurrence_id(moment: Timestamp) -> Snowflake:
    """The id of the occurrence that the rule has at a moment."""
    return snowflake_at(moment)


class ScheduledEvent(Struct, frozen=True, kw_only=True):
    """A scheduled event. `creator` and `user_count` are in responses only, the count if requested."""

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
    entity_metadata: JsonObject | None
    """`location` for an external event, else null."""
    recurrence_rule: RecurrenceRule | None
    guild_scheduled_event_exceptions: list[EventException]
    creator: User | UnsetType = UNSET
    user_count: int | UnsetType = UNSET


class ScheduledEventUser(Struct, frozen=True, kw_only=True):
    """A user's response to an event or to one occurrence."""

    guild_scheduled_event_id: ScheduledEventId
    guild_scheduled_event_exception_id: Snowflake | UnsetType = UNSET
    user_id: UserId
    user: User | UnsetType = UNSET
    member: Member | UnsetType = UNSET
    response: int = EventResponse.INTERESTED


class ScheduledEventUserCount(Struct, frozen=True, kw_only=True):
    """The number of users interested in the event as a whole and in single occurrences."""

    guild_scheduled_event_count: int
    guild_scheduled_event_exception_counts: dict[str, int]
