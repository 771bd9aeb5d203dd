"""Making many rows without keeping the event loop from its turns."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from moothall.runtime.turns import in_pieces

_PIECE: Final = 50
"""Rows that are made at once: a fraction of a millisecond."""


async def make_in_pieces(make: Callable[[Sequence[Any]], Any], rows: Sequence[Sequence[Any]]) -> list[Any]:
    """Make a query's rows of the driver's; others run in between if the turn has had its time."""
    made: list[Any] = []
    async for piece in in_pieces(rows, _PIECE):
        made += map(make, piece)
    return made
