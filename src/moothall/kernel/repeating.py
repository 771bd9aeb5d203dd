"""Work beside the requests, and looking for it again and again: at once when woken, else every so often."""

import asyncio
import logging
from contextlib import suppress
from typing import Final

log = logging.getLogger("moothall.repeating")

_AFTER_FAILURE: Final = 1.0
"""Seconds until a round follows one that failed for a reason that nobody thought of, or as many as usual."""


class Background:
    """A task beside the requests. A subclass says in `_run` what it does until `_stopping`."""

    def __init__(self) -> None:
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    async def _run(self) -> None:
        """Work until told to stop."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin."""
        self._stopping = False
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop, and give up what the round under way waits for. What is left is done after the next start."""
        if self._task is not None:
            # Python 3.11 may lose a cancellation to a result that comes at the same moment.
            self._stopping = True
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


class Repeater(Background):
    """A task that does a round of work whenever it is woken, and every `seconds` otherwise."""

    def __init__(self, *, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._woken = asyncio.Event()

    async def _round(self) -> bool:
        """Do a little; whether the next round is to follow at once. What it raises ends only itself."""
        raise NotImplementedError

    def wake(self) -> None:
        """Do a round now, or one more after that under way: it may have looked too early."""
        self._woken.set()

    async def _run(self) -> None:
        while not self._stopping:
            self._woken.clear()
            try:
                more = await self._round()
            except Exception:
                log.exception("work beside the requests failed")
                await asyncio.sleep(max(self._seconds, _AFTER_FAILURE))
                continue
            if not more and not self._stopping:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._seconds):
                        await self._woken.wait()
