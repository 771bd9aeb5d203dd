"""Background tasks: those that run until the server stops, and those that do rounds of work."""

import asyncio
import logging
from contextlib import suppress
from typing import Final

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
