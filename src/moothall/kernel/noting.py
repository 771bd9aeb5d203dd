"""Noting what requests touch, in memory, and writing it down together every few seconds.

A request costs a look into a dictionary. A crash loses a few seconds of notes.
"""

import asyncio
import logging
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from moothall.objects.wire import Timestamp
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.noting")

K = TypeVar("K", bound=Hashable)

_MAX_REMEMBERED: Final = 200_000


class NoteBook(Generic[K]):
    """Notes keys, each at most once in `quiet_ms`, and writes those that wait every `seconds`.

    A subclass says in `_write` how. Belongs to one event loop.
    """

    def __init__(self, *, quiet_ms: int, seconds: float) -> None:
        self._quiet_ms = quiet_ms
        self._seconds = seconds
        self._last: dict[K, int] = {}
        """When each key was noted."""
        self._waiting: set[K] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def _write(self, keys: set[K], now: Timestamp) -> None:
        """Write keys that were noted."""
        raise NotImplementedError

    def note(self, key: K) -> None:
        """Note a key, unless it was noted just before."""
        now = Timestamp.now()
        if now - self._last.get(key, 0) < self._quiet_ms:
            return
        if len(self._last) >= _MAX_REMEMBERED:
            self._last.clear()
        self._last[key] = now
        self._waiting.add(key)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    async def flush(self) -> None:
        """Write what was noted; what cannot be written now is tried again with the next."""
        waiting, self._waiting = self._waiting, set()
        if not waiting:
            return
        try:
            await self._write(waiting, Timestamp.now())
        except StorageError as problem:
            log.warning("what requests touched could not be written: %s", problem)
            self._waiting |= waiting

    async def close(self) -> None:
        """Write the rest and stop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is not None:
            await self._task
        await self.flush()

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self.flush())
