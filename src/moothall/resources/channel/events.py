"""Gateway events of channels (events: gateway events, channels)."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.bus import Audience, Envelope
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.wire import Timestamp


class _GuildChannelEvent(Event, frozen=True, kw_only=True):
    """An event with the channel object, sent to members who may view the channel."""

    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.CHANNEL,)
    changes_view: ClassVar[bool] = True
    channel: Channel
    """A guild channel that is not a thread."""

    @property
    def guild_id(self) -> GuildId:
        """Id of the channel's guild. Raises TypeError for a direct message."""
        if self.channel.guild_id is UNSET:
            raise TypeError(f"{type(self).__name__} is only for guild channels")
        return self.channel.guild_id

    def changed_row(self) -> ChannelId:
        """The channel."""
        return self.channel.id

    @property
    def channel_id(self) -> ChannelId:
        """Id of the channel whose viewers receive the event."""
        return self.channel.id

    def payload(self) -> object:
        """Return the channel object."""
        return self.channel


class ChannelCreate(_GuildChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_CREATE: a guild channel was created."""

    name: ClassVar[str] = "CHANNEL_CREATE"


class ChannelUpdate(_GuildChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_UPDATE: a guild channel was modified.

    The gateway sends CHANNEL_DELETE or CHANNEL_CREATE to members whom the update hides the channel from or reveals it
    to.
    """

    name: ClassVar[str] = "CHANNEL_UPDATE"


class ChannelDelete(_GuildChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_DELETE: a guild channel was deleted with its threads."""

    name: ClassVar[str] = "CHANNEL_DELETE"


class _DirectChannelEvent(Event, frozen=True, kw_only=True):
    """An event with a direct message channel as one user sees it, sent to that user."""

    audience: ClassVar[Audience] = Audience.USERS
    channel: Channel
    user_ids: tuple[UserId, ...]

    def payload(self) -> object:
        """Return the channel object."""
        return self.channel


class DirectChannelCreate(_DirectChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_CREATE: a direct message was added to a user's list. Not sent to bots."""

    name: ClassVar[str] = "CHANNEL_CREATE"


class DirectChannelUpdate(_DirectChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_UPDATE: a group direct message was modified. Not sent to bots."""

    name: ClassVar[str] = "CHANNEL_UPDATE"


class DirectChannelDelete(_DirectChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_DELETE: a user closed a direct message. Not sent to bots."""

    name: ClassVar[str] = "CHANNEL_DELETE"


class ChannelPinsUpdate(Event, frozen=True, kw_only=True):
    """CHANNEL_PINS_UPDATE: a message was pinned or unpinned. Sent to the channel's viewers or recipients."""

    name: ClassVar[str] = "CHANNEL_PINS_UPDATE"
    guild_id: GuildId | UnsetType = UNSET
    channel_id: ChannelId
    """The channel or thread of the pin."""
    last_pin_timestamp: Timestamp | None
    audience_channel_id: ChannelId
    """Id of the channel whose viewers receive the event: the parent of a thread, else the channel."""
    recipients: tuple[UserId, ...] = ()
    """Users in a direct message or private thread: `ChannelAccess.event_user_ids`."""

    def payload(self) -> object:
        """Return the channel and the time of its newest pin."""
        return _without_absent(
            guild_id=self.guild_id, channel_id=self.channel_id, last_pin_timestamp=self.last_pin_timestamp
        )

    def envelope(self) -> Envelope:
        """Return the envelope with the intent GUILDS or DIRECT_MESSAGES."""
        return _channel_envelope(self, guild_intent=Intent.GUILDS, direct_intent=Intent.DIRECT_MESSAGES)


class TypingStart(Event, frozen=True, kw_only=True):
    """TYPING_START: a user is typing. Sent to the channel's viewers or recipients."""

    name: ClassVar[str] = "TYPING_START"
    transient: ClassVar[bool] = True
    guild_id: GuildId | UnsetType = UNSET
    channel_id: ChannelId
    """The channel or thread that the user types in."""
    user_id: UserId
    timestamp: int
    """Seconds since the Unix epoch."""
    member: Member | UnsetType = UNSET
    """The typing member, in a guild."""
    audience_channel_id: ChannelId
    """Id of the channel whose viewers receive the event: the parent of a thread, else the channel."""
    recipients: tuple[UserId, ...] = ()
    """Users in a direct message or private thread: `ChannelAccess.event_user_ids`."""

    def payload(self) -> object:
        """Return the channel, the user and the time."""
        return _without_absent(
            guild_id=self.guild_id,
            channel_id=self.channel_id,
            user_id=self.user_id,
            timestamp=self.timestamp,
            member=self.member,
        )

    def envelope(self) -> Envelope:
        """Return the envelope with the intent GUILD_MESSAGE_TYPING or DIRECT_MESSAGE_TYPING."""
        return _channel_envelope(
            self, guild_intent=Intent.GUILD_MESSAGE_TYPING, direct_intent=Intent.DIRECT_MESSAGE_TYPING
        )


def _without_absent(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not UNSET}


def _channel_envelope(event: ChannelPinsUpdate | TypingStart, *, guild_intent: int, direct_intent: int) -> Envelope:
    envelope = Event.envelope(event)
    envelope.channel_id = event.audience_channel_id
    if event.audience_channel_id != event.channel_id:
        envelope.thread_id = event.channel_id
    if event.guild_id is UNSET:
        envelope.audience, envelope.intent, envelope.guild_id = Audience.USERS, direct_intent, None
        envelope.user_ids = list(event.recipients)
    else:
        envelope.audience, envelope.intent = Audience.CHANNEL, guild_intent
        envelope.user_ids = list(event.recipients)
    return envelope
