"""Matching texts against regular expressions of users, in time linear in the text (RE2).

Patterns ignore case. A pattern whose automaton is too large is refused, as a text is matched against it in the event
loop or, where that could take longer than about a millisecond, in a pool of threads (`Pools.patterns`).
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

import re2

from moothall.resources.auto_moderation.keywords import Match
from moothall.runtime.work_pool import PayerPool

_MAX_MEMORY: Final = 1 << 20
"""Bytes for the automaton of a pattern, and for the states that matching caches."""
_MAX_PROGRAM: Final = 4_000
"""Instructions of a pattern's automaton."""
_INLINE_STEPS: Final = 200_000
"""Instructions times bytes of text that are matched in the event loop; at worst a step takes some nanoseconds."""


class InvalidPattern(ValueError):
    """A pattern that is no regular expression, or whose automaton is too large."""


class PatternSet:
    """Regular expressions, compiled. Raises InvalidPattern."""

    __slots__ = ("_patterns", "_size")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [(pattern, compile_pattern(pattern)) for pattern in patterns]
        self._size = sum(compiled.programsize for _, compiled in self._patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    async def first_match(self, text: str, pool: PayerPool) -> Match | None:
        """The first pattern that matches a text, and its first match that is not empty, if there is one.

        Raises WorkRefused for a payer who is over the budget, or if too much waits.
        """
        if self._size * len(text.encode()) <= _INLINE_STEPS:
            return self._first_match(text)
        return await pool.run(partial(self._first_match, text))

    def _first_match(self, text: str) -> Match | None:
        for pattern, compiled in self._patterns:
            match = compiled.search(text)
            if match is not None:
                return Match(pattern, match.group())
        return None


def compile_pattern(pattern: str) -> Any:
    """The compiled form of a pattern. Raises InvalidPattern."""
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, _MAX_MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise InvalidPattern(_text_of(error)) from None
    if compiled.programsize > _MAX_PROGRAM:
        raise InvalidPattern("the regular expression is too large")
    return compiled


async def invalid_patterns(patterns: Sequence[str], pool: PayerPool) -> dict[int, str]:
    """What is wrong with each pattern that does not compile, by index. Raises WorkRefused as `first_match`."""
    return await pool.run(partial(_invalid_patterns, patterns)) if patterns else {}


def _invalid_patterns(patterns: Sequence[str]) -> dict[int, str]:
    problems = {}
    for index, pattern in enumerate(patterns):
        try:
            compile_pattern(pattern)
        except InvalidPattern as error:
            problems[index] = str(error)
    return problems


def _text_of(error: Exception) -> str:
    """The message of RE2, which comes as bytes."""
    detail = error.args[0] if error.args else ""
    return detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
