"""Reads of the same rows at the same time, of which one is carried out for all.

A read must see what was committed before it was requested. So it cannot have the rows of a statement that is under way,
which may be older; but all who ask while it is under way can share the next one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, NamedTuple, TypeVar, cast

from moothall.runtime.budgets import WorkRefused
from moothall.runtime.turns import yield_turn

T = TypeVar("T")


class _Waiting(NamedTuple):
    """One who waits for the next time that something is read."""

    result: asyncio.Future[Any]
    run: Callable[[], Awaitable[Any]]


class SharedReads:
    """What is being read, by its key, each with those who wait for the next time that it is read."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[_Waiting]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, key: Hashable, run: Callable[[], Awaitable[T]]) -> T:
        """The result of a `run` for the key that begins after this call. Raises what it raises.

        WorkRefused is raised by the `run` of that caller only.
        """
        waiting = self._waiting.get(key)
        if waiting is not None:
            one = _Waiting(asyncio.get_running_loop().create_future(), run)
            waiting.append(one)
            result = await one.result
            # All who waited are woken in one turn.
            await yield_turn()
            return cast("T", result)
        self._waiting[key] = []
        try:
            return await run()
        finally:
            self._continue(key)

    def _continue(self, key: Hashable) -> None:
        """After it was read once, read it again if anyone waits for it."""
        waiting = [one for one in self._waiting.pop(key) if not one.result.done()]
        if waiting:
            self._waiting[key] = []
            # A task of its own: no caller who is cancelled takes the rows from the others.
            task = asyncio.create_task(self._read_for(waiting, key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _read_for(self, waiting: list[_Waiting], key: Hashable) -> None:
        try:
            result = await waiting[0].run()
        except WorkRefused as refusal:
            # It is for the first one: the others read again, charged to the next of them.
            others = waiting[1:]
            del waiting[1:]
            self._waiting[key][:0] = others
            if not waiting[0].result.done():
                waiting[0].result.set_exception(refusal)
        except Exception as error:  # noqa: BLE001 raised where the result is awaited
            for one in waiting:
                if not one.result.done():
                    one.result.set_exception(error)
        else:
            for one in waiting:
                if not one.result.done():
                    one.result.set_result(result)
        finally:
            for one in waiting:
                one.result.cancel()
            self._continue(key)
