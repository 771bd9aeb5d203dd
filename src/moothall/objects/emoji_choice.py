"""Emojis chosen in requests, for example of welcome screens and onboarding: a guild's by id, or a standard emoji.

A stored choice is passed through `current_emoji` on every read, as a guild's emoji may have been renamed or deleted.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from moothall.objects.emoji import Emoji, PartialEmoji
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import EmojiId
from moothall.objects.text import is_standard_emoji

NO_EMOJI: Final = PartialEmoji(id=None, name=None, animated=False)
"""Represents the absence of an emoji."""


def current_emoji(known: Mapping[EmojiId, Emoji], chosen: PartialEmoji) -> PartialEmoji:
    """The current form of a stored emoji; NO_EMOJI for a guild's emoji that is no longer in `known`."""
    if chosen.id is None:
        return chosen
    emoji = known.get(chosen.id)
    return NO_EMOJI if emoji is None else PartialEmoji(id=emoji.id, name=emoji.name, animated=emoji.animated)


def choose_emoji(known: Iterable[Emoji], emoji_id: EmojiId | None, name: str | None, at: FormErrors) -> PartialEmoji:
    """The requested emoji; a guild's emoji has its actual name, regardless of `name`.

    For an emoji that is neither in `known` nor a standard emoji an error is added to `at`, and NO_EMOJI returned.
    """
    if emoji_id is not None:
        for emoji in known:
            if emoji.id == emoji_id:
                return PartialEmoji(id=emoji.id, name=emoji.name, animated=emoji.animated)
        at.add("emoji_id", FormCode.EMOJI_INVALID, "The guild has no such emoji.")
    elif name:
        if is_standard_emoji(name):
            return PartialEmoji(id=None, name=name, animated=False)
        at.add("emoji_name", FormCode.EMOJI_INVALID, "Not a standard emoji.")
    return NO_EMOJI
