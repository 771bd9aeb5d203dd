"""The words of messages and queries in the index: without case and accents."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from moothall.objects.text import search_key

WORD_MAX: Final = 64
"""Characters of a word that are indexed."""
WORDS_MAX: Final = 4000
"""Words of a message that are indexed."""

# Scripts without spaces: every character is a word, and adjacent characters of a query are a phrase.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
"""A word of a text in ASCII that is in lower case: those texts have no ideographs and no symbols."""
_SYMBOLS: Final = "\u203c\u2049\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff"


class Phrase(Struct, frozen=True):
    """Words in direct succession."""

    words: tuple[str, ...]


def _tokens(text: str) -> Iterator[tuple[str, int, int, bool]]:
    # `search_key` is slow, and most texts are ASCII.
    folded = text.lower() if text.isascii() else search_key(text)
    for match in _word_pattern().finditer(folded):
        yield match[0][:WORD_MAX], match.start(), match.end(), match[1] is not None


def prepare() -> None:
    """Do what the first text would wait for: it takes some ten milliseconds."""
    _word_pattern()


def words_of(text: str) -> list[str]:
    """The words of a text, in their order: runs of letters and digits, single ideographs, single symbols."""
    if not text.isascii():
        return [word for word, *_ in _tokens(text)]
    words = _ASCII_WORD.findall(text.lower())
    return [word[:WORD_MAX] for word in words] if len(text) > WORD_MAX else words


def phrases_of(text: str) -> list[Phrase]:
    """The phrases of a query: its words, and the runs of characters without spaces."""
    phrases: list[list[str]] = []
    joins = -1
    for word, start, end, unspaced in _tokens(text):
        if unspaced and start == joins:
            phrases[-1].append(word)
        else:
            phrases.append([word])
        joins = end if unspaced else -1
    return [Phrase(tuple(words)) for words in phrases]


@cache
def _word_pattern() -> re.Pattern[str]:
    """A word; its first group is a character of a script without spaces. Compiled with the first text."""
    return re.compile(f"([{_UNSPACED}])|((?:(?![{_UNSPACED}])[^\\W_])+)|([{_SYMBOLS}])")
