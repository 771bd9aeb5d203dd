"""Batched writes: keys are collected in memory and written to the database together, every few seconds.

Recording a key costs a request one dictionary lookup. A crash loses the keys of the last few seconds.
"""

import asyncio
import logging
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from moothall.objects.wire import Timestamp
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.batched_writes")

K = TypeVar("K", bound=Hashable)

_MAX_RECORDED: Final = 200_000
"""Keys whose last recording is remembered; with more, all of them are forgotten and may be written again."""


class WriteBatcher(Generic[K]):
    """Records each key at most once in `quiet_ms` milliseconds, and writes the pending keys every `seconds`.

    A subclass implements `_write`. Belongs to one event loop.
    """

    def __init__(self, *, quiet_ms: int, seconds: float) -> None:
        self._quiet_ms = quiet_ms
        self._seconds = seconds
        self._recorded_at: dict[K, int] = {}
        self._pending: set[K] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def _write(self, keys: set[K], now: Timestamp) -> None:
        """Write keys that were recorded. Raises StorageError."""
        raise NotImplementedError

    def is_recorded(self, key: K, now: Timestamp) -> bool:
        """Whether a key was recorded less than `quiet_ms` ago."""
        return now - self._recorded_at.get(key, 0) < self._quiet_ms

    def record(self, key: K) -> None:
        """Record a key, unless it was recorded less than `quiet_ms` ago."""
        now = Timestamp.now()
        if self.is_recorded(key, now):
            return
        if len(self._recorded_at) >= _MAX_RECORDED:
            self._recorded_at.clear()
        self._recorded_at[key] = now
        self._pending.add(key)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    async def flush(self) -> None:
        """Write the pending keys. After a StorageError they stay pending."""
        pending, self._pending = self._pending, set()
        if not pending:
            return
        try:
            await self._write(pending, Timestamp.now())
        except StorageError as problem:
            log.warning("recorded keys could not be written, and are retried with the next: %s", problem)
            self._pending |= pending

    async def close(self) -> None:
        """Cancel the timer and write the pending keys."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is not None:
            await self._task
        await self.flush()

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self.flush())
