"""What voice announces."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent
from moothall.objects.voice import VoiceState


class VoiceStateUpdate(Event, frozen=True, kw_only=True):
    """VOICE_STATE_UPDATE, to those who may view the channel that someone came to, acts in, or left."""

    name: ClassVar[str] = "VOICE_STATE_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_VOICE_STATES
    guild_id: GuildId
    channel_id: ChannelId
    state: VoiceState

    def payload(self) -> object:
        """The voice state, with its guild and member."""
        return self.state
