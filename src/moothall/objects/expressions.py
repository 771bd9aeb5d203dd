"""Limits of emojis, stickers and sounds by boost tier; expressions beyond the limit stay, but are unavailable."""

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
    """The maximum number of static emojis of a guild, and of animated emojis."""
    return _of_tier(limits.EMOJIS_BY_TIER, tier)


def sticker_limit(tier: int, features: Collection[str]) -> int:
    """The maximum number of stickers of a guild."""
    by_tier = _of_tier(limits.STICKERS_BY_TIER, tier)
    return max(by_tier, limits.STICKERS_WITH_MORE) if Feature.MORE_STICKERS in features else by_tier


def sound_limit(tier: int, features: Collection[str]) -> int:
    """The maximum number of sounds of a guild."""
    by_tier = _of_tier(limits.SOUNDS_BY_TIER, tier)
    return max(by_tier, limits.SOUNDS_WITH_MORE) if Feature.MORE_SOUNDBOARD in features else by_tier


def emojis_with_availability(emojis: Iterable[Emoji], tier: int) -> list[Emoji]:
    """Set `available` of emojis, which are sorted by ascending id."""
    maximum, seen, rated = emoji_limit(tier), Counter[bool](), []
    for emoji in emojis:
        seen[emoji.animated] += 1
        available = emoji.managed or seen[emoji.animated] <= maximum
        rated.append(emoji if emoji.available == available else structs.replace(emoji, available=available))
    return rated


def stickers_with_availability(stickers: Iterable[Sticker], tier: int, features: Collection[str]) -> list[Sticker]:
    """Set `available` of stickers, which are sorted by ascending id."""
    maximum = sticker_limit(tier, features)
    return [
        sticker if sticker.available == (at < maximum) else structs.replace(sticker, available=at < maximum)
        for at, sticker in enumerate(stickers)
    ]


def sounds_with_availability(
    sounds: Iterable[SoundboardSound], tier: int, features: Collection[str]
) -> list[SoundboardSound]:
    """Set `available` of sounds, which are sorted by ascending id."""
    maximum = sound_limit(tier, features)
    return [
        sound if sound.available == (at < maximum) else structs.replace(sound, available=at < maximum)
        for at, sound in enumerate(sounds)
    ]
