"""Reads of the same rows at the same time, of which one is carried out for all.

A read must see what was committed before it was requested. So it cannot have the rows of a statement that is under way,
which may be older; but all who ask while it is under way can share the next one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from moothall.objects.turns import yield_turn

Run = Callable[[], Awaitable[Any]]


class SharedReads:
    """The statements under way, each with those who wait for the next one of the same text and parameters."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[asyncio.Future[Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, key: Hashable, run: Run) -> Any:
        """The result of a `run` that begins after this call; `key` says what is read. Raises what it raises."""
        waiting = self._waiting.get(key)
        if waiting is not None:
            future = asyncio.get_running_loop().create_future()
            waiting.append(future)
            result = await future
            # All who waited are woken in one turn.
            await yield_turn()
            return result
        self._waiting[key] = []
        try:
            return await run()
        finally:
            self._continue(key, run)

    def _continue(self, key: Hashable, run: Run) -> None:
        """After one statement, begin the next one if anyone waits for it."""
        waiting = self._waiting.pop(key)
        if any(not future.done() for future in waiting):
            self._waiting[key] = []
            # A task of its own: no caller who is cancelled takes the rows from the others.
            task = asyncio.create_task(self._read_for(waiting, key, run))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _read_for(self, waiting: list[asyncio.Future[Any]], key: Hashable, run: Run) -> None:
        try:
            result = await run()
        except Exception as error:  # noqa: BLE001 raised where the result is awaited
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
        else:
            for future in waiting:
                if not future.done():
                    future.set_result(result)
        finally:
            for future in waiting:
                future.cancel()
            self._continue(key, run)
