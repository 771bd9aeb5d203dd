"""Texts of users: cleaning, names, search keys and emoji (api.md, Webhooks; resources: user, usernames)."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from moothall.objects import limits
from moothall.objects.emoji import PartialEmoji
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import EmojiId, Snowflake

# Lone surrogates cannot be stored or sent; of the control characters tabs and line breaks stay.
_INVALID: Final = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Characters that reverse lines or disguise texts: directional overrides and isolates, the byte order mark.
_DECEPTIVE: Final = re.compile("[\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES: Final = re.compile(r"\s+")
_BLANKS: Final = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060\u3164\uffa0"
"""Invisible characters that whitespace tests do not match."""

_USERNAME: Final = re.compile(r"[a-z0-9_.]+")
_FORBIDDEN_USERNAMES: Final = frozenset({"everyone", "here"})

_CUSTOM_EMOJI: Final = re.compile(r"(?:(a):)?([A-Za-z0-9_]{1,32}):([0-9]{1,20})")
_PICTURE: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa"
    "\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
    "\u3297\u3299\U0001f004\U0001f0cf\U0001f170-\U0001f19a\U0001f201-\U0001f265\U0001f300-\U0001faff]"
)
"""A pictographic character. Ranges instead of a list, so that emojis of future Unicode versions match too."""
_ELEMENT: Final = f"{_PICTURE}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?\ufe0f?"
_STANDARD_EMOJI: Final = re.compile(
    "[#*0-9]\ufe0f?\u20e3"
    "|[\U0001f1e6-\U0001f1ff]{2}"
    f"|{_ELEMENT}[\U000e0020-\U000e007f]{{0,8}}(?:\u200d{_ELEMENT}){{0,8}}"
)


def clean(text: str) -> str:
    """Remove lone surrogates and control characters, which cannot be stored, sent or displayed."""
    return text if text.isprintable() else _INVALID.sub("", text)


def clean_name(text: str) -> str:
    """A name cleaned for one line: no deceptive characters, runs of whitespace made one space, trimmed.

    A name of nothing but blank characters becomes empty.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    name = _SPACES.sub(" ", _DECEPTIVE.sub("", clean(text))).strip()
    return name if name.strip(_BLANKS + " ") else ""


def search_key(text: str) -> str:
    """The key that a text is searched by, without case and accents."""
    # Casefolding can yield characters that decompose further, so it runs before and after the decomposition.
    folded = unicodedata.normalize("NFKD", text.casefold()).casefold()
    return "".join(char for char in folded if not unicodedata.combining(char))


def username_error(name: str, *, reserved: Iterable[str] = ()) -> FieldError | None:
    """The error of an invalid username; None for a valid one.

    A username has 2-32 characters of `a-z 0-9 _ .` without two dots in a row, is not "everyone" or "here", and
    contains no `reserved` word.
    """
    if not limits.USERNAME_MIN <= len(name) <= limits.USERNAME_MAX:
        return FieldError.length(limits.USERNAME_MIN, limits.USERNAME_MAX)
    if not _USERNAME.fullmatch(name) or ".." in name:
        return FieldError(
            FormCode.USERNAME_INVALID_CHARACTERS,
            "Please only use numbers, letters, underscores _ , or periods.",
        )
    if name in _FORBIDDEN_USERNAMES:
        return FieldError(FormCode.USERNAME_INVALID_CONTAINS, f'Username cannot be "{name}"')
    return reserved_word_error(name, reserved)


def reserved_word_error(name: str, reserved: Iterable[str]) -> FieldError | None:
    """The error of a name that contains a reserved word in any case; None for one without."""
    folded = name.casefold()
    for word in reserved:
        if word.casefold() in folded:
            return FieldError(FormCode.USERNAME_INVALID_CONTAINS, f'Username cannot contain "{word}"')
    return None


def channel_name(name: str, *, text_like: bool) -> str:
    """The stored form of a channel's name; it may be empty, and the caller checks its length.

    Names of `text_like` channels are lower case, with dashes instead of spaces and without other punctuation. Names of
    voice channels, categories and threads are only trimmed.
    """
    name = clean_name(name)
    if not text_like:
        return name
    characters = "".join(char for char in name.lower().replace(" ", "-") if _is_allowed_in_channel_name(char))
    # Without its punctuation a name can be blank.
    return clean_name(re.sub(r"-{2,}", "-", characters))


def _is_allowed_in_channel_name(char: str) -> bool:
    return char in "-_" or not (char.isascii() and not char.isalnum())


def parse_emoji(text: str) -> PartialEmoji | None:
    """Read an emoji of a path or body, which may be percent-encoded: `name:id`, `a:name:id`, or a standard emoji.

    None for any other text. The caller checks whether a custom emoji exists.
    """
    text = unquote(text)
    if match := _CUSTOM_EMOJI.fullmatch(text.strip("<>").removeprefix(":")):
        animated, name, emoji_id = match.groups()
        try:
            return PartialEmoji(id=EmojiId(Snowflake.from_wire(emoji_id)), name=name, animated=bool(animated))
        except ValueError:
            return None
    return PartialEmoji(id=None, name=text) if is_standard_emoji(text) else None


def is_standard_emoji(text: str) -> bool:
    """Whether a text is exactly one standard emoji: a symbol, with or without skin tone, a keycap, flag or sequence."""
    return _STANDARD_EMOJI.fullmatch(text) is not None
