"""Matching texts against keywords with wildcards, in one pass however many there are.

Both texts and keywords are folded to lower case and get a mark at their boundaries: the ends, where letters or digits
meet whitespace, and around each other character. A keyword then matches wherever its marked form occurs: `cat` is
`|cat|`, `cat*` is `|cat`, `*cat` is `cat|` and `*cat*` is `cat`, where `|` stands for the mark.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

_MARK: Final = "\0"
"""The mark of a boundary. No stored text has this character."""
_RUNS: Final = re.compile(r"\w+|\s+|.")
_HOLE: Final = "\ufffc"
"""What stands for an allowed part of a text: U+FFFC, the object replacement character, which is in no word."""


class Match(NamedTuple):
    """The keyword or pattern that a text matches, and the part of the text that does."""

    keyword: str
    content: str


class MarkedText:
    """A text, folded and marked once for all rules."""

    __slots__ = ("marked", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.marked = _mark(fold(text))

    def original(self, start: int, end: int) -> str:
        """The part of the text that a range of the marked form stands for."""
        return self.text[self._position(start) : self._position(end)]

    def without(self, ranges: Iterable[tuple[int, int]]) -> "MarkedText":
        """The text with a hole in place of each of some disjoint ascending ranges of the marked form."""
        pieces, last = list[str](), 0
        for start, end in ranges:
            pieces += (self.text[last : self._position(start)], _HOLE)
            last = self._position(end)
        return MarkedText("".join((*pieces, self.text[last:])))

    def _position(self, marked_position: int) -> int:
        return marked_position - self.marked.count(_MARK, 0, marked_position)


class KeywordSet:
    """Keywords, compiled."""

    __slots__ = ("_keywords", "_search")

    def __init__(self, keywords: Iterable[str]) -> None:
        by_form = {form: keyword for keyword in keywords if (form := marked_form(keyword)) is not None}
        self._keywords = list(by_form.values())
        self._search = AhoCorasick(by_form, matchkind=MatchKind.LeftmostLongest) if by_form else None

    def first_match(self, text: MarkedText) -> Match | None:
        """The first keyword in a text; of several that begin there the longest."""
        if self._search is None:
            return None
        matches = self._search.find_matches_as_indexes(text.marked)
        if not matches:
            return None
        index, start, end = matches[0]
        return Match(self._keywords[index], text.original(start, end))

    def remove_from(self, text: MarkedText) -> MarkedText:
        """A text with a hole in place of each match; the text itself if there is none.

        A match of a keyword with a wildcard extends to the end of the word on that side.
        """
        if self._search is None:
            return text
        ranges: list[tuple[int, int]] = []
        for index, first, last in self._search.find_matches_as_indexes(text.marked):
            keyword, start, end = self._keywords[index].strip(), first, last
            if keyword.startswith("*"):
                start = text.marked.rfind(_MARK, 0, start) + 1
            if keyword.endswith("*"):
                end = text.marked.find(_MARK, end)
            if ranges and start < ranges[-1][1]:
                start = ranges.pop()[0]
            ranges.append((start, end))
        return text.without(ranges) if ranges else text


def marked_form(keyword: str) -> str | None:
    """What a keyword is searched by; None if nothing is left of it without its wildcards."""
    bare = keyword.strip().removeprefix("*").removesuffix("*").strip()
    if not bare:
        return None
    marked = _mark(fold(bare))
    if keyword.strip().startswith("*"):
        marked = marked.removeprefix(_MARK)
    return marked.removesuffix(_MARK) if keyword.strip().endswith("*") else marked


def fold(text: str) -> str:
    """A text in lower case, of the same length."""
    folded = text.lower()
    return folded if len(folded) == len(text) else "".join(_folded_characters(text))


def _folded_characters(text: str) -> Iterator[str]:
    # Few capital letters have a small form of several characters.
    for character in text:
        lower = character.lower()
        yield lower if len(lower) == 1 else character


def _mark(folded: str) -> str:
    return f"{_MARK}{_MARK.join(_RUNS.findall(folded))}{_MARK}"
