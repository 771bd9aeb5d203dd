"""Soundboard sounds (resources: soundboard)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import EmojiId, GuildId, SoundId
from moothall.objects.user import User


class SoundboardSound(Struct, frozen=True, kw_only=True):
    """A sound that users in a voice channel can play. Default sounds have no `guild_id`."""

    name: str
    sound_id: SoundId
    volume: float
    """0 to 1."""
    emoji_id: EmojiId | None = None
    emoji_name: str | None = None
    guild_id: GuildId | UnsetType = UNSET
    available: bool = True
    user: User | UnsetType = UNSET
    """Its creator, present for callers who may create or manage expressions."""


class GuildSounds(Struct, frozen=True, kw_only=True):
    """Every sound of a guild."""

    items: list[SoundboardSound]
