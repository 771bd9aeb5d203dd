"""Retrying transactions that conflict with one of another process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, ParamSpec, TypeVar

from moothall.storage.database import StorageConflict

P = ParamSpec("P")
T = TypeVar("T")

_MAX_ATTEMPTS: Final = 4
_PAUSE: Final = 0.002
"""Delay before the second attempt, in seconds; it grows by the same for each further one."""


async def retry_on_conflict(work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work`, a whole transaction, again after each conflict, and return its result.

    Raises StorageConflict after four conflicts, and anything else that `work` raises.
    """
    for attempt in range(1, _MAX_ATTEMPTS):
        try:
            return await work(*args, **kwargs)
        except StorageConflict:
            await asyncio.sleep(_PAUSE * attempt)
    return await work(*args, **kwargs)
