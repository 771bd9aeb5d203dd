"""Background tasks: those that run until the server stops, that do rounds of work, and that work off a queue."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

from moothall.objects.wire import Timestamp
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.background")

_AFTER_FAILURE: Final = 1.0
"""Least delay before the round after an unexpected exception, in seconds."""


class BackgroundTask:
    """A task beside the requests. A subclass implements `_run`, which returns once `_stopping` is set."""

    def __init__(self) -> None:
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    async def _run(self) -> None:
        """Work until `_stopping`."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the task."""
        self._stopping = False
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Cancel the task and wait for its end. Does nothing the second time."""
        if self._task is not None:
            # Python 3.11 may lose a cancellation to a result that comes at the same moment.
            self._stopping = True
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


class PeriodicTask(BackgroundTask):
    """A task that does a round of work whenever it is woken, and every `seconds` otherwise.

    Setting `woken` wakes it like `wake`, for callers that do not know the task.
    """

    def __init__(self, *, seconds: float, woken: asyncio.Event | None = None) -> None:
        super().__init__()
        self._seconds = seconds
        self._woken = asyncio.Event() if woken is None else woken

    async def _round(self) -> bool:
        """Do a round of work; return whether the next one follows at once. An exception ends this round only."""
        raise NotImplementedError

    def wake(self) -> None:
        """Do a round now; if one is under way, another one after it."""
        self._woken.set()

    async def _run(self) -> None:
        while not self._stopping:
            self._woken.clear()
            try:
                more = await self._round()
            except Exception:
                log.exception("a background task failed")
                await asyncio.sleep(max(self._seconds, _AFTER_FAILURE))
                continue
            if not more and not self._stopping:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._seconds):
                        await self._woken.wait()


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

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
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
