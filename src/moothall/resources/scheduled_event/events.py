"""What scheduled events announce: to those who may view the channel, an external one to the whole guild."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.bus import Audience, Envelope
from moothall.kernel.events import Event
from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.scheduled_event import ScheduledEvent


class _InPlace(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_SCHEDULED_EVENTS

    def envelope(self) -> Envelope:
        """The event with its routing."""
        envelope = super().envelope()
        if not envelope.channel_id:
            envelope.audience = Audience.GUILD
        return envelope


class _AboutEvent(_InPlace, frozen=True, kw_only=True):
    event: ScheduledEvent

    @property
    def guild_id(self) -> GuildId:
        """The event's guild."""
        return self.event.guild_id

    @property
    def channel_id(self) -> ChannelId | None:
        """The event's channel; None for an external one."""
        return self.event.channel_id

    def payload(self) -> object:
        """The event."""
        return self.event


class GuildScheduledEventCreate(_AboutEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_CREATE."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_CREATE"


class GuildScheduledEventUpdate(_AboutEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_UPDATE: it has changed, begun or ended; one that is over is listed no more."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_UPDATE"


class GuildScheduledEventDelete(_AboutEvent, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_DELETE."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_DELETE"


class _AboutUser(_InPlace, frozen=True, kw_only=True):
    guild_id: GuildId
    guild_scheduled_event_id: ScheduledEventId
    guild_scheduled_event_exception_id: Snowflake | UnsetType = UNSET
    user_id: UserId
    channel_id: ChannelId | None

    def payload(self) -> object:
        """Who it is and what they answered to."""
        found = {
            "guild_id": self.guild_id,
            "guild_scheduled_event_id": self.guild_scheduled_event_id,
            "user_id": self.user_id,
        }
        if self.guild_scheduled_event_exception_id is not UNSET:
            found["guild_scheduled_event_exception_id"] = self.guild_scheduled_event_exception_id
        return found


class GuildScheduledEventUserAdd(_AboutUser, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_USER_ADD: somebody wants to come."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_USER_ADD"


class GuildScheduledEventUserRemove(_AboutUser, frozen=True, kw_only=True):
    """GUILD_SCHEDULED_EVENT_USER_REMOVE: somebody does not want to come any more."""

    name: ClassVar[str] = "GUILD_SCHEDULED_EVENT_USER_REMOVE"
