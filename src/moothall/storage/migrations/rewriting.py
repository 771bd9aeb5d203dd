"""What a revision does to rows in Python, where SQL that both engines know cannot.

A revision that has one calls it `REWRITE`. It runs once the revision's own statements have, in the same
transaction, and before those of the next revision.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

Change: TypeAlias = tuple[str, Sequence[Sequence[Any]]]
"""A statement, with the values that it is run with one after another."""


class Rewrite(NamedTuple):
    """Rows that are read, and the changes that follow from them. Parameters are written `$1`, `$2` in that order."""

    select: str
    changes: Callable[[Sequence[Sequence[Any]]], Iterable[Change]]
