"""Commits on PostgreSQL: transactions that end at the same time are carried out as one.

A transaction without a lock whose writes are all deferred has changed nothing before it ends. Its writes go to the
group commit, which carries out those of all who wait, a statement at a time for the rows of all, and commits them
together. If that fails, each is carried out alone: one that violates a constraint or waits for a row is no one else's
concern.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from moothall.objects.clock import stopwatch
from moothall.objects.turns import yield_turn
from moothall.storage.postgres_errors import DRIVER_ERRORS, postgres_error

Callbacks = Sequence[Callable[[], None]]

_MAX_AT_ONCE: Final = 64
_BEGIN: Final = "BEGIN; SET LOCAL lock_timeout = '100ms'"
"""So that one row, or a deadlock, does not keep the others waiting."""


class DeferredWrite(NamedTuple):
    """A statement that is carried out at the end of its transaction."""

    table: str | None
    text: str
    arguments: tuple[Any, ...]
    row_id: int
    """The row that it changes; 0 for one that no other transaction changes."""


class Connections(Protocol):
    """What the group commit needs of a database."""

    async def acquire(self) -> Any:
        """Take a connection. Raises StorageUnavailable."""

    def release(self, connection: Any) -> None:
        """Release it."""

    def drop(self, connection: Any) -> None:
        """Close it."""

    def committed(self, callbacks: Iterable[Callable[[], None]], seconds: float, count: int = 1) -> None:
        """Run the callbacks of a commit of several transactions."""


class _Entry(NamedTuple):
    writes: Sequence[DeferredWrite]
    callbacks: Callbacks
    outcome: asyncio.Future[None]


class GroupCommit:
    """The transactions that wait to be carried out, and the task that does it."""

    def __init__(self, database: Connections) -> None:
        self._database = database
        self._waiting: deque[_Entry] = deque()
        self._task: asyncio.Task[None] | None = None

    async def commit(self, writes: Sequence[DeferredWrite], callbacks: Callbacks) -> None:
        """Carry out the writes of a transaction and call back once they are durable. Raises StorageError."""
        outcome = asyncio.get_running_loop().create_future()
        self._waiting.append(_Entry(writes, callbacks, outcome))
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        await outcome
        # All of a commit are woken in one turn.
        await yield_turn()

    async def _run(self) -> None:
        try:
            while self._waiting:
                entries = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MAX_AT_ONCE))]
                await self._carry_out(entries)
        finally:
            self._task = None

    async def _carry_out(self, entries: Sequence[_Entry]) -> None:
        started = stopwatch()
        try:
            each_alone = await self._write(entries)
        except asyncio.CancelledError:
            for entry in entries:
                entry.outcome.cancel()
            raise
        except Exception as error:  # noqa: BLE001 raised where the transaction ends
            for entry in entries:
                if not entry.outcome.done():
                    entry.outcome.set_exception(error)
            return
        if each_alone:
            for entry in entries:
                await self._carry_out([entry])
            return
        callbacks = [callback for entry in entries for callback in entry.callbacks]
        self._database.committed(callbacks, stopwatch() - started, len(entries))
        for entry in entries:
            if not entry.outcome.done():
                entry.outcome.set_result(None)

    async def _write(self, entries: Sequence[_Entry]) -> bool:
        """Write and commit; return whether each must be carried out alone instead. Raises StorageError."""
        connection = await self._database.acquire()
        try:
            if len(entries) == 1 and (statement := as_one_statement(entries[0].writes)) is not None:
                await connection.execute(statement[0], *statement[1])
            else:
                await connection.execute(_BEGIN if len(entries) > 1 else "BEGIN")
                for text, rows in by_statement([entry.writes for entry in entries]):
                    await connection.executemany(text, rows)
        except DRIVER_ERRORS as error:
            await self._roll_back(connection)
            if len(entries) > 1:
                return True
            raise postgres_error(error) from error
        except BaseException:
            self._database.drop(connection)
            raise
        try:
            if connection.is_in_transaction():
                await connection.execute("COMMIT")
        except BaseException as error:
            # It may be durable or not, so that nothing may be repeated.
            self._database.drop(connection)
            if isinstance(error, DRIVER_ERRORS):
                raise postgres_error(error) from error
            raise
        self._database.release(connection)
        return False

    async def _roll_back(self, connection: Any) -> None:
        try:
            if connection.is_in_transaction():
                await connection.execute("ROLLBACK")
        except BaseException as error:
            self._database.drop(connection)
            if not isinstance(error, DRIVER_ERRORS):
                raise
        else:
            self._database.release(connection)


def by_statement(transactions: Sequence[Sequence[DeferredWrite]]) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Each statement with its parameters for all rows.

    All processes go through tables and rows in one order, so that no two wait for each other: through the statements in
    that of the transaction with the most, and through rows by their ids.
    """
    rows: dict[str, list[DeferredWrite]] = {}
    for writes in sorted(transactions, key=len, reverse=True):
        for write in writes:
            rows.setdefault(write.text, [])
    for writes in transactions:
        for write in writes:
            rows[write.text].append(write)
    return [(text, [write.arguments for write in sorted(rows[text], key=_row_id)]) for text in rows]


def _row_id(write: DeferredWrite) -> int:
    return write.row_id


def as_one_statement(writes: Sequence[DeferredWrite]) -> tuple[str, tuple[Any, ...]] | None:
    """Several writes as one statement and its parameters; None if two are of the same table.

    A statement sees no row that it has written itself, and changes a row only once.
    """
    if len(writes) == 1:
        return writes[0].text, writes[0].arguments
    tables = {write.table for write in writes}
    if len(tables) < len(writes) or None in tables:
        return None
    text = _joined(tuple((write.text, len(write.arguments)) for write in writes))
    return text, tuple(argument for write in writes for argument in write.arguments)


_PARAMETER: Final = re.compile(r"\$(\d+)")


@lru_cache(maxsize=1_000)
def _joined(statements: tuple[tuple[str, int], ...]) -> str:
    texts: list[str] = []
    before = 0
    for text, count in statements:
        texts.append(_PARAMETER.sub(lambda number, before=before: f"${int(number[1]) + before}", text))  # type: ignore[misc]
        before += count
    # PostgreSQL carries out the last one first, and then those of WITH from the last to the first.
    first, *others = texts
    named = ", ".join(f"write{number} AS ({text})" for number, text in enumerate(reversed(others)))
    return f"WITH {named} {first}"
