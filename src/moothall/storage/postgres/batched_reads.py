"""Reads by key on PostgreSQL, of which those that meet are one statement for all their keys.

Requests of different callers ask for different rows by the same statements: the token, the caller's member, a channel.
Each takes a round trip, which costs many times what PostgreSQL does for it. So one such statement at a time is under
way: a read that comes alone is carried out at once, and all that come meanwhile by the next one.

A read sees what was committed before it was requested, as those of `shared_reads` do, and by the same rule.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple

from moothall.objects.clock import stopwatch
from moothall.runtime.turns import yield_turn
from moothall.storage.database import StorageError, StorageUnavailable

Arguments = tuple[object, ...]
Result = list[Any] | Exception
Fetch = Callable[[str, Sequence[object]], Awaitable[list[Any]]]

_MAX_AT_ONCE: Final = 100
_PATIENCE: Final = 0.1
"""Seconds after which the next statement does not wait for the one under way: its connection may be broken."""


class _Waiting(NamedTuple):
    """A read that waits for the next statement."""

    arguments: Arguments
    rows: asyncio.Future[list[Any]]


class _Statement:
    """A statement under way, and the reads that wait for the next one."""

    __slots__ = ("started", "waiting")

    def __init__(self, waiting: list[_Waiting]) -> None:
        self.started = stopwatch()
        self.waiting = waiting


class BatchedReads:
    """The statements by key that are under way, each with the reads that wait for the next one."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._running: dict[str, _Statement] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, text: str, text_for_keys: str, arguments: Arguments) -> list[Any]:
        """The rows of a statement that begins after this call; `for_keys` has made the second one of it.

        Raises StorageError.
        """
        running = self._running.get(text)
        if running is not None:
            one = _Waiting(arguments, asyncio.get_running_loop().create_future())
            running.waiting.append(one)
            if stopwatch() - running.started > _PATIENCE:
                self._continue(text, text_for_keys, running)
            rows = await one.rows
            # All of a batch are woken in one turn.
            await yield_turn()
            return rows
        running = self._running[text] = _Statement([])
        try:
            return await self._fetch(text, arguments)
        finally:
            self._continue(text, text_for_keys, running)

    def _continue(self, text: str, text_for_keys: str, last: _Statement) -> None:
        """After the last statement, begin the next one if any reads wait for it."""
        if self._running.get(text) is not last:
            return
        waiting = [one for one in last.waiting if not one.rows.done()]
        if not waiting:
            del self._running[text]
            return
        running = self._running[text] = _Statement(waiting[_MAX_AT_ONCE:])
        # A task of its own: no caller who is cancelled takes the rows from the others.
        task = asyncio.create_task(self._read_for(text, text_for_keys, waiting[:_MAX_AT_ONCE], running))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read_for(self, text: str, text_for_keys: str, waiting: list[_Waiting], running: _Statement) -> None:
        try:
            rows = await self._read_all(text, text_for_keys, list(dict.fromkeys(one.arguments for one in waiting)))
        except Exception as error:  # noqa: BLE001 raised where the rows are awaited
            rows = dict.fromkeys((one.arguments for one in waiting), error)
        except BaseException:
            for one in waiting:
                one.rows.cancel()
            raise
        finally:
            self._continue(text, text_for_keys, running)
        for one in waiting:
            result = rows[one.arguments]
            if one.rows.done():
                continue
            if isinstance(result, Exception):
                one.rows.set_exception(result)
            else:
                one.rows.set_result(result)

    async def _read_all(self, text: str, text_for_keys: str, keys: list[Arguments]) -> dict[Arguments, Result]:
        """The rows of each key, or what its statement raises."""
        if len(keys) > 1:
            try:
                return await self._read_keys(text_for_keys, keys)
            except StorageUnavailable:
                raise
            except StorageError:
                pass  # One of the keys, such as a number that is too large, is no one else's concern.
        rows: dict[Arguments, Result] = {}
        for key in keys:
            try:
                rows[key] = await self._fetch(text, key)
            except StorageError as error:
                rows[key] = error
        return rows

    async def _read_keys(self, text: str, keys: list[Arguments]) -> dict[Arguments, Result]:
        rows: dict[Arguments, list[Any]] = {key: [] for key in keys}
        for row in await self._fetch(text, [list(column) for column in zip(*keys, strict=True)]):
            *values, number = row
            rows[keys[number - 1]].append(values)
        return {**rows}
