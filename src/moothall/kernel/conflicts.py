"""What happens when another process wins: the same work is done again, on what it left."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from moothall.storage.database import StorageConflict

T = TypeVar("T")

_TRIES: Final = 4
_PAUSE: Final = 0.002
"""Seconds before the second try; each further one waits that much longer."""


async def until_it_wins(work: Callable[[], Awaitable[T]]) -> T:
    """Do a whole transaction, again after each conflict; what it returned.

    Raises what the work raises, and StorageConflict once it has lost four times.
    """
    for attempt in range(1, _TRIES):
        try:
            return await work()
        except StorageConflict:
            await asyncio.sleep(_PAUSE * attempt)
    return await work()
