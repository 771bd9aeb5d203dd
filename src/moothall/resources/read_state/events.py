"""Gateway events of read states, each sent to the user's own sessions."""

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType

from moothall.api.events import UserEvent
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.read_state import ReadStateType
from moothall.objects.wire import Timestamp


class ChannelAck(Struct, frozen=True, kw_only=True):
    """The `d` of MESSAGE_ACK."""

    channel_id: ChannelId
    message_id: Snowflake
    mention_count: int
    flags: int
    last_viewed: int | None
    version: int
    manual: bool | UnsetType = UNSET
    ack_type: ReadStateType = ReadStateType.CHANNEL


class PinsAck(Struct, frozen=True, kw_only=True):
    """The `d` of CHANNEL_PINS_ACK."""

    channel_id: ChannelId
    timestamp: Timestamp
    version: int


class FeatureAck(Struct, frozen=True, kw_only=True):
    """The `d` of GUILD_FEATURE_ACK and USER_NON_CHANNEL_ACK."""

    ack_type: ReadStateType
    resource_id: Snowflake
    entity_id: Snowflake
    version: int


class MessageAck(UserEvent, frozen=True, kw_only=True):
    """MESSAGE_ACK: the user has read a channel up to a message."""

    name: ClassVar[str] = "MESSAGE_ACK"
    ack: ChannelAck

    def payload(self) -> object:
        """Return the read state of the channel."""
        return self.ack


class ChannelPinsAck(UserEvent, frozen=True, kw_only=True):
    """CHANNEL_PINS_ACK: the user has seen the pins of a channel."""

    name: ClassVar[str] = "CHANNEL_PINS_ACK"
    ack: PinsAck

    def payload(self) -> object:
        """Return the channel and the time of its newest pin."""
        return self.ack


class GuildFeatureAck(UserEvent, frozen=True, kw_only=True):
    """GUILD_FEATURE_ACK: the user has seen the scheduled events, home or onboarding of a guild."""

    name: ClassVar[str] = "GUILD_FEATURE_ACK"
    ack: FeatureAck

    def payload(self) -> object:
        """Return the guild and the newest entity that the user has seen."""
        return self.ack


class UserNonChannelAck(UserEvent, frozen=True, kw_only=True):
    """USER_NON_CHANNEL_ACK: the user has seen their notifications or message requests."""

    name: ClassVar[str] = "USER_NON_CHANNEL_ACK"
    ack: FeatureAck

    def payload(self) -> object:
        """Return the user and the newest entity that they have seen."""
        return self.ack
