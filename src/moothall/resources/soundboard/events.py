"""Gateway events of soundboards."""

from typing import ClassVar

from msgspec import Struct

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.bus import Audience
from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, GuildId, SoundId, UserId
from moothall.objects.intents import Intent
from moothall.objects.soundboard import SoundboardSound


class _SoundEvent(Event, frozen=True, kw_only=True):
    """An event whose payload is the sound."""

    intent: ClassVar[int] = Intent.GUILD_EXPRESSIONS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.SOUNDS,)
    guild_id: GuildId
    sound: SoundboardSound

    def payload(self) -> object:
        """The sound."""
        return self.sound


class GuildSoundboardSoundCreate(_SoundEvent, frozen=True, kw_only=True):
    """GUILD_SOUNDBOARD_SOUND_CREATE: a sound was created."""

    name: ClassVar[str] = "GUILD_SOUNDBOARD_SOUND_CREATE"


class GuildSoundboardSoundUpdate(_SoundEvent, frozen=True, kw_only=True):
    """GUILD_SOUNDBOARD_SOUND_UPDATE: a sound was modified."""

    name: ClassVar[str] = "GUILD_SOUNDBOARD_SOUND_UPDATE"


class GuildSoundboardSoundDelete(Event, frozen=True, kw_only=True):
    """GUILD_SOUNDBOARD_SOUND_DELETE: a sound was deleted."""

    name: ClassVar[str] = "GUILD_SOUNDBOARD_SOUND_DELETE"
    intent: ClassVar[int] = Intent.GUILD_EXPRESSIONS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.SOUNDS,)
    guild_id: GuildId
    sound_id: SoundId


class GuildSoundboardSoundsUpdate(Event, frozen=True, kw_only=True):
    """GUILD_SOUNDBOARD_SOUNDS_UPDATE: all sounds of a guild after several changed at once."""

    name: ClassVar[str] = "GUILD_SOUNDBOARD_SOUNDS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_EXPRESSIONS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.SOUNDS,)
    guild_id: GuildId
    soundboard_sounds: list[SoundboardSound]


class _Effect(Struct, frozen=True):
    channel_id: ChannelId
    guild_id: GuildId
    user_id: UserId
    emoji: PartialEmoji | None
    animation_type: int | None
    animation_id: int
    sound_id: SoundId
    sound_volume: float


class VoiceChannelEffectSend(Event, frozen=True, kw_only=True):
    """VOICE_CHANNEL_EFFECT_SEND: a user plays a sound. Sent to the users in the voice channel."""

    name: ClassVar[str] = "VOICE_CHANNEL_EFFECT_SEND"
    audience: ClassVar[Audience] = Audience.USERS
    intent: ClassVar[int] = Intent.GUILD_VOICE_STATES
    transient: ClassVar[bool] = True
    guild_id: GuildId
    channel_id: ChannelId
    user_id: UserId
    emoji: PartialEmoji | None
    sound_id: SoundId
    sound_volume: float
    user_ids: tuple[UserId, ...]

    def payload(self) -> object:
        """The effect: the user, the sound and its emoji."""
        return _Effect(
            channel_id=self.channel_id,
            guild_id=self.guild_id,
            user_id=self.user_id,
            emoji=self.emoji,
            animation_type=None if self.emoji is None else _BASIC_ANIMATION,
            animation_id=0,
            sound_id=self.sound_id,
            sound_volume=self.sound_volume,
        )


_BASIC_ANIMATION = 1
"""Animation type BASIC of a voice channel effect."""
