"""Gateway events of voice states and of voice channels' statuses."""

from typing import ClassVar, Final

from moothall.api.events import Event
from moothall.api.hooks import Fires
from moothall.bus import Audience
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent
from moothall.objects.voice import VoiceState
from moothall.objects.wire import Timestamp


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


class VoiceChannelStartTimeUpdate(Event, frozen=True, kw_only=True):
    """VOICE_CHANNEL_START_TIME_UPDATE: the first member entered a voice channel, or the last one left (None)."""

    name: ClassVar[str] = "VOICE_CHANNEL_START_TIME_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId
    channel_id: ChannelId
    started_at: Timestamp | None

    def payload(self) -> object:
        """Return the ids of the channel and its guild, and the start in seconds since the Unix epoch."""
        start = None if self.started_at is None else self.started_at // 1000
        return {"id": self.channel_id.wire(), "guild_id": self.guild_id.wire(), "voice_start_time": start}


VOICE_EVENTS: Final[Fires] = (VoiceStateUpdate, VoiceChannelStartTimeUpdate)
"""What rows declare that let members enter and leave voice channels."""


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
