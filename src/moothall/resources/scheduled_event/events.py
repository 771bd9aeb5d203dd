"""Gateway events of scheduled events, sent to members who may view the channel, or to the guild without a channel."""

from typing import ClassVar, Self

from msgspec import UNSET, UnsetType

from moothall.api.events import Event
from moothall.bus import Audience, Envelope
from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.scheduled_event import EventException, ScheduledEvent
from moothall.resources.scheduled_event.queries import EventRow


class _ChannelOrGuildEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_SCHEDULED_EVENTS

    def envelope(self) -> Envelope:
        """The envelope, addressed to the guild for an event without a channel."""
        envelope = super().envelope()
        if not envelope.channel_id:
            envelope.audience = Audience.GUILD
        return envelope


class _WithScheduledEvent(_ChannelOrGuildEvent, frozen=True, kw_only=True):
    event: ScheduledEvent

    @property
    def guild_id(self) -> GuildId:
        """The event's guild."""
        return self.event.guild_id

    @property
    def channel_id(self) -> ChannelId | None:
        """The event's channel; None for an external event."""
        return self.event.channel_id

    def payload(self) -> object:
        """The scheduled event."""
        return self.event


class GuildScheduledEventCreate(_WithScheduledEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_CREATE."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_CREATE"


class GuildScheduledEventUpdate(_WithScheduledEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_UPDATE: a field or the status changed; lists omit events that have ended."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_UPDATE"


class GuildScheduledEventDelete(_WithScheduledEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_DELETE."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_DELETE"


class _WithException(_ChannelOrGuildEvent, frozen=True, kw_only=True):
    guild_id: GuildId
    channel_id: ChannelId | None
    exception: EventException

    @classmethod
    def of(cls, event: EventRow, exception: EventException) -> Self:
        """The gateway event for an exception of a scheduled event."""
        return cls(guild_id=event.guild_id, channel_id=event.channel_id, exception=exception)

    def payload(self) -> object:
        """The exception, which names no guild."""
        return self.exception


class GuildScheduledEventExceptionCreate(_WithException, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE: an occurrence got an exception, or its exception changed."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE"


class GuildScheduledEventExceptionDelete(_WithException, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE: the rule applies to an occurrence again."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE"


class GuildScheduledEventExceptionsDelete(_ChannelOrGuildEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE: an event lost all its exceptions, as its rule changed."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE"
    guild_id: GuildId
    channel_id: ChannelId | None
    event_id: ScheduledEventId

    def payload(self) -> object:
        """The ids of the guild and of the event."""
        return {"guild_id": self.guild_id, "event_id": self.event_id}


class _WithUser(_ChannelOrGuildEvent, frozen=True, kw_only=True):
    guild_id: GuildId
    guild_scheduled_event_id: ScheduledEventId
    guild_scheduled_event_exception_id: Snowflake | UnsetType = UNSET
    user_id: UserId
    channel_id: ChannelId | None

    def payload(self) -> object:
        """The ids of the user and of the event; of the occurrence too if the response is to one."""
        fields = {
            "guild_id": self.guild_id,
            "guild_scheduled_event_id": self.guild_scheduled_event_id,
            "user_id": self.user_id,
        }
        if self.guild_scheduled_event_exception_id is not UNSET:
            fields["guild_scheduled_event_exception_id"] = self.guild_scheduled_event_exception_id
        return fields


class GuildScheduledEventUserAdd(_WithUser, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_USER_ADD: a user became interested in an event or an occurrence."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_USER_ADD"


class GuildScheduledEventUserRemove(_WithUser, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_USER_REMOVE: a user is no longer interested in an event or an occurrence."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_USER_REMOVE"
