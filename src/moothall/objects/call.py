"""Calls in direct messages and groups."""

from msgspec import Struct

from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.objects.voice import VoiceState
from moothall.objects.wire import Timestamp


class Call(Struct, frozen=True, kw_only=True):
    """A call that someone is in."""

    channel_id: ChannelId
    message_id: MessageId
    """The message of type CALL that the call began with."""
    region: str
    ringing: list[UserId]
    """The users who are being rung."""
    voice_states: list[VoiceState]
    """Who is in the call."""


class MessageCall(Struct, frozen=True, kw_only=True):
    """The `call` of a message of type CALL."""

    participants: list[UserId]
    """Who has been in the call, in the order in which they joined."""
    ended_timestamp: Timestamp | None
    """When the last one left; null while the call goes on."""


class CallEligibility(Struct, frozen=True, kw_only=True):
    """Whether the caller may ring in a direct message or group."""

    ringable: bool
    """Whether there is anyone whom the caller may ring."""
