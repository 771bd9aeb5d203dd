"""Changes of rows in Python, for revisions that cannot express them in the SQL of both engines.

A revision defines it as `REWRITE`. It runs after the revision's own statements and before those of the next revision,
in the same transaction.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

Change: TypeAlias = tuple[str, Sequence[Sequence[Any]]]
"""A statement and the sets of values that it runs with."""


class Rewrite(NamedTuple):
    """A query, and the changes computed from its rows. Parameters are written `$1`, `$2` in order."""

    select: str
    changes: Callable[[Sequence[Sequence[Any]]], Iterable[Change]]
