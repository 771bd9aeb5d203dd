"""Words of a text as the index knows them: without case and accents, the same in messages and in queries."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from moothall.objects.text import search_key

WORD_MAX: Final = 64
"""Characters of a word that are looked at."""
WORDS_MAX: Final = 4000
"""Words of a message that it is found by."""

# Scripts that are written without spaces: every character is a word, and neighbours are looked for as neighbours.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SYMBOLS: Final = "\u203c\u2049\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff"
_WORD: Final = re.compile(f"([{_UNSPACED}])|((?:(?![{_UNSPACED}])[^\\W_])+)|([{_SYMBOLS}])")


class Phrase(Struct, frozen=True):
    """Words that follow each other directly."""

    words: tuple[str, ...]


def _found(text: str) -> Iterator[tuple[str, int, int, bool]]:
    # Folding costs more than everything else here, and most texts need little of it.
    folded = text.lower() if text.isascii() else search_key(text)
    for match in _WORD.finditer(folded):
        yield match[0][:WORD_MAX], match.start(), match.end(), match[1] is not None


def words_of(text: str) -> list[str]:
    """The words of a text, in their order: runs of letters and digits, single ideographs, single symbols."""
    return [word for word, *_ in _found(text)]


def phrases_of(text: str) -> list[Phrase]:
    """What a query asks for: its words, those of one unspaced run together."""
    phrases: list[list[str]] = []
    joins = -1
    for word, start, end, unspaced in _found(text):
        if unspaced and start == joins:
            phrases[-1].append(word)
        else:
            phrases.append([word])
        joins = end if unspaced else -1
    return [Phrase(tuple(words)) for words in phrases]
