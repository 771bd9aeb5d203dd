"""How many emojis, stickers and sounds a guild may use: those beyond what its boost tier allows stay, but unused."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import structs

from moothall.objects import limits
from moothall.objects.emoji import Emoji
from moothall.objects.features import Feature
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.sticker import Sticker


def _of_tier(tiers: Sequence[int], tier: int) -> int:
    return tiers[min(tier, len(tiers) - 1)]


def emoji_limit(tier: int) -> int:
    """How many static emojis a guild has room for, and how many animated ones."""
    return _of_tier(limits.EMOJIS_BY_TIER, tier)


def sticker_limit(tier: int, features: Collection[str]) -> int:
    """How many stickers a guild has room for."""
    by_tier = _of_tier(limits.STICKERS_BY_TIER, tier)
    return max(by_tier, limits.STICKERS_WITH_MORE) if Feature.MORE_STICKERS in features else by_tier


def sound_limit(tier: int, features: Collection[str]) -> int:
    """How many sounds a guild has room for."""
    by_tier = _of_tier(limits.SOUNDS_BY_TIER, tier)
    return max(by_tier, limits.SOUNDS_WITH_MORE) if Feature.MORE_SOUNDBOARD in features else by_tier


def rate_emojis(emojis: Iterable[Emoji], tier: int) -> list[Emoji]:
    """Emojis, oldest first, each available or not."""
    maximum, seen, rated = emoji_limit(tier), Counter[bool](), []
    for emoji in emojis:
        seen[emoji.animated] += 1
        available = emoji.managed or seen[emoji.animated] <= maximum
        rated.append(emoji if emoji.available == available else structs.replace(emoji, available=available))
    return rated


def rate_stickers(stickers: Iterable[Sticker], tier: int, features: Collection[str]) -> list[Sticker]:
    """Stickers, oldest first, each available or not."""
    maximum = sticker_limit(tier, features)
    return [
        sticker if sticker.available == (at < maximum) else structs.replace(sticker, available=at < maximum)
        for at, sticker in enumerate(stickers)
    ]


def rate_sounds(sounds: Iterable[SoundboardSound], tier: int, features: Collection[str]) -> list[SoundboardSound]:
    """Sounds, oldest first, each available or not."""
    maximum = sound_limit(tier, features)
    return [
        sound if sound.available == (at < maximum) else structs.replace(sound, available=at < maximum)
        for at, sound in enumerate(sounds)
    ]
