"""Gateway events of calls, sent to the recipients of the channel who are people."""

from typing import ClassVar, Final

from moothall.api.events import Event
from moothall.api.hooks import Fires
from moothall.bus import Audience
from moothall.objects.call import Call
from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.objects.intents import Intent
from moothall.objects.voice import VoiceState
from moothall.resources.channel.events import DirectChannelCreate, DirectChannelUpdate
from moothall.resources.message.events import MessageCreate, MessageUpdate


class _CallEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.USERS
    intent: ClassVar[int] = Intent.DIRECT_MESSAGES
    channel_id: ChannelId
    user_ids: tuple[UserId, ...]


class CallCreate(_CallEvent, frozen=True, kw_only=True):
    """CALL_CREATE: the first user joined."""

    name: ClassVar[str] = "CALL_CREATE"
    call: Call

    def payload(self) -> object:
        """Return the call."""
        return self.call


class CallUpdate(_CallEvent, frozen=True, kw_only=True):
    """CALL_UPDATE: who is rung has changed, or the region."""

    name: ClassVar[str] = "CALL_UPDATE"
    message_id: MessageId
    region: str
    ringing: list[UserId]

    def payload(self) -> object:
        """Return the call without who is in it."""
        return {
            "channel_id": self.channel_id,
            "message_id": self.message_id,
            "region": self.region,
            "ringing": self.ringing,
        }


class CallDelete(_CallEvent, frozen=True, kw_only=True):
    """CALL_DELETE: the last user left."""

    name: ClassVar[str] = "CALL_DELETE"

    def payload(self) -> object:
        """Return the channel."""
        return {"channel_id": self.channel_id}


class CallVoiceStateUpdate(_CallEvent, frozen=True, kw_only=True):
    """VOICE_STATE_UPDATE: a user joined a call, left it or changed."""

    name: ClassVar[str] = "VOICE_STATE_UPDATE"
    state: VoiceState

    def payload(self) -> object:
        """Return the voice state, which has neither guild nor member."""
        return self.state


LEAVE_CALL_EVENTS: Final[Fires] = (CallVoiceStateUpdate, CallDelete, MessageUpdate)
"""What rows declare that let users leave calls."""
JOIN_CALL_EVENTS: Final[Fires] = (
    CallCreate, CallUpdate, MessageCreate, DirectChannelCreate, DirectChannelUpdate, *LEAVE_CALL_EVENTS,
)  # fmt: skip
"""What rows declare that let users join calls."""
