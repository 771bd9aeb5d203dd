"""Gateway event of voice states."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent
from moothall.objects.voice import VoiceState


class VoiceStateUpdate(Event, frozen=True, kw_only=True):
    """VOICE_STATE_UPDATE: a member joined, left or changed. Sent to viewers of the voice channel."""

    name: ClassVar[str] = "VOICE_STATE_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_VOICE_STATES
    guild_id: GuildId
    channel_id: ChannelId
    state: VoiceState

    def payload(self) -> object:
        """Return the voice state with its guild and member."""
        return self.state
