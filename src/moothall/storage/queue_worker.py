"""A background task that works off a queue of the database."""

import asyncio
import logging
from collections.abc import Coroutine

from moothall.objects.wire import Timestamp
from moothall.runtime.background import PeriodicTask
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.background")


class QueueWorker(PeriodicTask):
    """A task that works off a queue of the database, up to `maximum` entries at once.

    It starts what is due when woken, when an entry is done, and every `seconds` otherwise.
    """

    def __init__(self, what: str, *, maximum: int, seconds: float, woken: asyncio.Event | None = None) -> None:
        """`what` names the entries in the log, in the plural."""
        super().__init__(seconds=seconds, woken=woken)
        self._what = what
        self._maximum = maximum
        self._tasks: set[asyncio.Task[None]] = set()

    async def drain(self, now: Timestamp | None = None) -> None:
        """Work off every entry that is due, or would be at `now`, and wait until all are done."""
        while await self._start_due(Timestamp.now() if now is None else now) or self._tasks:
            await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Stop, and cancel what is under way: it is tried again later."""
        await self.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def _free(self) -> int:
        """How many more entries may be started."""
        return self._maximum - len(self._tasks)

    async def _start_due(self, now: Timestamp) -> bool:
        """Claim entries that are due and `_start` them; return whether there were any."""
        raise NotImplementedError

    def _start(self, work: Coroutine[object, None, None]) -> None:
        """Work off an entry beside the others. `work` raises nothing."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.wake()

    async def _round(self) -> bool:
        try:
            return await self._start_due(Timestamp.now())
        except StorageError as error:
            log.warning("%s wait for the database: %s", self._what, error)
            return False
