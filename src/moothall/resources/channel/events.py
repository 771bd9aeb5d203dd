"""What channels announce (events: gateway events, channels)."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.bus import Audience, Envelope
from moothall.kernel.events import Event
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.wire import Timestamp


class _GuildChannelEvent(Event, frozen=True, kw_only=True):
    """The whole channel, to those who may view it."""

    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    stales_guild: ClassVar[bool] = True
    channel: Channel
    """A channel of a guild that is no thread."""

    @property
    def guild_id(self) -> GuildId:
        """The guild whose state changed."""
        if self.channel.guild_id is UNSET:
            raise TypeError(f"{type(self).__name__} is about channels of guilds")
        return self.channel.guild_id

    @property
    def channel_id(self) -> ChannelId:
        """The channel that decides who hears."""
        return self.channel.id

    def payload(self) -> object:
        """The channel itself."""
        return self.channel


class ChannelCreate(_GuildChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_CREATE: a channel of a guild is there."""

    name: ClassVar[str] = "CHANNEL_CREATE"


class ChannelUpdate(_GuildChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_UPDATE: a channel of a guild has changed.

    Whom the change hides it from, or reveals it to, the gateway tells CHANNEL_DELETE or CHANNEL_CREATE.
    """

    name: ClassVar[str] = "CHANNEL_UPDATE"


class ChannelDelete(_GuildChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_DELETE: a channel of a guild is gone, and every thread of it."""

    name: ClassVar[str] = "CHANNEL_DELETE"


class _DirectChannelEvent(Event, frozen=True, kw_only=True):
    """A direct message channel as one person sees it, to that person."""

    audience: ClassVar[Audience] = Audience.USERS
    channel: Channel
    user_ids: tuple[UserId, ...]

    def payload(self) -> object:
        """The channel itself."""
        return self.channel


class DirectChannelCreate(_DirectChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_CREATE for a direct message that stands in a person's list now. Bots are never told."""

    name: ClassVar[str] = "CHANNEL_CREATE"


class DirectChannelUpdate(_DirectChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_UPDATE for a group direct message. Bots are never told."""

    name: ClassVar[str] = "CHANNEL_UPDATE"


class DirectChannelDelete(_DirectChannelEvent, frozen=True, kw_only=True):
    """CHANNEL_DELETE for a direct message that a person has closed. Bots are never told."""

    name: ClassVar[str] = "CHANNEL_DELETE"


class ChannelPinsUpdate(Event, frozen=True, kw_only=True):
    """CHANNEL_PINS_UPDATE, to those who may view the channel; in a direct message to its recipients."""

    name: ClassVar[str] = "CHANNEL_PINS_UPDATE"
    guild_id: GuildId | UnsetType = UNSET
    channel_id: ChannelId
    """The channel or thread of the pin."""
    last_pin_timestamp: Timestamp | None
    audience_channel_id: ChannelId
    """The channel whose overwrites decide: a thread's parent, else the channel itself."""
    recipients: tuple[UserId, ...] = ()
    """Who is in a direct message or a private thread: `ChannelAccess.hearers`."""

    def payload(self) -> object:
        """Where, and when the newest pin was set."""
        return _without_absent(
            guild_id=self.guild_id, channel_id=self.channel_id, last_pin_timestamp=self.last_pin_timestamp
        )

    def envelope(self) -> Envelope:
        """With the intent of guilds, or that of direct messages."""
        return _access(self, guild_intent=Intent.GUILDS, direct_intent=Intent.DIRECT_MESSAGES)


class TypingStart(Event, frozen=True, kw_only=True):
    """TYPING_START, to those who may view the channel; in a direct message to its recipients."""

    name: ClassVar[str] = "TYPING_START"
    fleeting: ClassVar[bool] = True
    guild_id: GuildId | UnsetType = UNSET
    channel_id: ChannelId
    """The channel or thread that they write in."""
    user_id: UserId
    timestamp: int
    """Seconds since the Unix epoch."""
    member: Member | UnsetType = UNSET
    """Who writes, in a guild."""
    audience_channel_id: ChannelId
    """The channel whose overwrites decide: a thread's parent, else the channel itself."""
    recipients: tuple[UserId, ...] = ()
    """Who is in a direct message or a private thread: `ChannelAccess.hearers`."""

    def payload(self) -> object:
        """Who writes where, since when."""
        return _without_absent(
            guild_id=self.guild_id,
            channel_id=self.channel_id,
            user_id=self.user_id,
            timestamp=self.timestamp,
            member=self.member,
        )

    def envelope(self) -> Envelope:
        """With the typing intent of guilds, or that of direct messages."""
        return _access(self, guild_intent=Intent.GUILD_MESSAGE_TYPING, direct_intent=Intent.DIRECT_MESSAGE_TYPING)


def _without_absent(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not UNSET}


def _access(event: ChannelPinsUpdate | TypingStart, *, guild_intent: int, direct_intent: int) -> Envelope:
    plain = Event.envelope(event)
    plain.channel_id = event.audience_channel_id
    if event.audience_channel_id != event.channel_id:
        plain.thread_id = event.channel_id
    if event.guild_id is UNSET:
        plain.audience, plain.intent, plain.guild_id = Audience.USERS, direct_intent, 0
        plain.user_ids = list(event.recipients)
    else:
        plain.audience, plain.intent = Audience.CHANNEL, guild_intent
        plain.user_ids = list(event.recipients)
    return plain
