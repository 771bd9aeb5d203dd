"""Gateway events of voice states and of voice channels' statuses."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience
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


class VoiceChannelStatusUpdate(Event, frozen=True, kw_only=True):
    """VOICE_CHANNEL_STATUS_UPDATE: the status of a voice channel was set, or removed (None)."""

    name: ClassVar[str] = "VOICE_CHANNEL_STATUS_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId
    channel_id: ChannelId
    status: str | None

    def payload(self) -> object:
        """Return the ids of the channel and its guild, and the status."""
        return {"id": self.channel_id.wire(), "guild_id": self.guild_id.wire(), "status": self.status}
