"""The default sounds, which every guild has. Their files are in `moothall/cdn/sounds`, named by id."""

from typing import Final

from moothall.objects.ids import Snowflake, SoundId
from moothall.objects.soundboard import SoundboardSound


def _sound(number: int, name: str, emoji: str) -> SoundboardSound:
    return SoundboardSound(name=name, sound_id=SoundId(Snowflake(number)), volume=1.0, emoji_name=emoji)


DEFAULT_SOUNDS: Final = (
    _sound(1, "gong", "🔔"),
    _sound(2, "knock", "🚪"),
    _sound(3, "fanfare", "🎺"),
    _sound(4, "sad trombone", "😢"),
    _sound(5, "crickets", "🦗"),
    _sound(6, "drum roll", "🥁"),
)
"""Synthesized for this platform from sine waves and noise."""
