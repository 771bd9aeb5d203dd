"""An emoji in a request, as welcome screens and onboarding take it: a guild's by `emoji_id`, or a character.

What they have stored goes through `current_emoji` whenever it is read: it may have another name since, or be gone.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from moothall.objects.emoji import Emoji, PartialEmoji
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import EmojiId
from moothall.objects.text import is_standard_emoji

NO_EMOJI: Final = PartialEmoji(id=None, name=None, animated=False)
"""What stands for none."""


def current_emoji(known: Mapping[EmojiId, Emoji], chosen: PartialEmoji) -> PartialEmoji:
    """An emoji that was chosen once, as it is now; NO_EMOJI for a guild's own that is not `known` any more."""
    if chosen.id is None:
        return chosen
    emoji = known.get(chosen.id)
    return NO_EMOJI if emoji is None else PartialEmoji(id=emoji.id, name=emoji.name, animated=emoji.animated)


def choose_emoji(known: Iterable[Emoji], emoji_id: EmojiId | None, name: str | None, at: FormErrors) -> PartialEmoji:
    """The emoji that is meant; a guild's own has its real name, whatever `name` says.

    What is neither one of `known` nor a standard emoji is reported to `at`, by the field.
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
