"""Simultaneous requests of one value share one task that makes it."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

from moothall.objects.errors import Refusal
from moothall.runtime.budgets import WorkRefused
from moothall.runtime.turns import yield_turn

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Tasks in flight, by the key of what they make."""

    def __init__(self) -> None:
        self._tasks: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, make: Callable[[], Coroutine[object, None, V]]) -> V:
        """The value that the running task for a key makes, or a new one with `make`.

        A caller that is cancelled leaves the task to the others. Raises what the task raises; but a refusal is for
        the caller that started it: the others try again.
        """
        while (running := self._tasks.get(key)) is not None:
            with suppress(Refusal, WorkRefused):
                value = await asyncio.shield(running)
                # All who waited are woken in one turn.
                await yield_turn()
                return value
        task = self._tasks[key] = asyncio.create_task(make())
        task.add_done_callback(lambda done: self._end(key, done))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel the tasks and wait for their ends."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _end(self, key: K, task: asyncio.Task[V]) -> None:
        del self._tasks[key]
        if not task.cancelled():
            task.exception()  # mark it as retrieved: everybody who waited may have been cancelled
