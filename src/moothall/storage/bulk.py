"""Loops over many items, in which others run: what a loop over hundreds uses instead of `for`.

They return what a plain loop would, which `tests/storage/test_bulk.py` compares. Inside of a transaction, for which
other transactions wait, only what needs none runs in between.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Protocol, TypeVar

from moothall.objects.clock import stopwatch
from moothall.runtime.turns import yield_turn

T = TypeVar("T")
S = TypeVar("S")

_SLICE: Final = 0.0005
"""Seconds of a loop after which others run."""


class Reads(Protocol):
    """A reader or a transaction."""

    committed: bool


async def map_items(reader: Reads, make: Callable[[T], S], items: Iterable[T]) -> list[S]:
    """What `make` returns for each item, in order. Each call takes a fraction of a millisecond."""
    made: list[S] = []
    resumed = stopwatch()
    for item in items:
        if stopwatch() - resumed > _SLICE:
            await yield_turn(first=not reader.committed)
            resumed = stopwatch()
        made.append(make(item))
    return made


async def map_batches(
    reader: Reads, make: Callable[[Sequence[T]], Awaitable[Iterable[S]]], items: Sequence[T], size: int
) -> list[S]:
    """What `make` returns for batches of at most `size` items, joined. It reads what belongs to all of a batch."""
    made: list[S] = []
    for start in range(0, len(items), size):
        await yield_turn(first=not reader.committed)
        made += await make(items[start : start + size])
    return made
