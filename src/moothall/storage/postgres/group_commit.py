"""Commits on PostgreSQL: transactions that end at the same time are carried out as one.

A transaction without a lock whose writes are all deferred has changed nothing before it ends. Its writes go to the
group commit, which carries out those of all who wait, a statement at a time for the rows of all, and commits them
together. If that fails, each is carried out alone: one that violates a constraint or waits for a row is no one else's
concern.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from moothall.objects.clock import stopwatch
from moothall.runtime.turns import yield_turn
from moothall.storage.database import CommitUnknown, StorageError, StorageUnavailable
from moothall.storage.postgres.connection import PostgresConnection
from moothall.storage.postgres.errors import DRIVER_ERRORS, postgres_error
from moothall.storage.postgres.outcomes import MARK, CommitMark, Outcomes, is_lost
from moothall.storage.statements.placeholders import renumbered

Callbacks = Sequence[Callable[[], None]]

_MAX_AT_ONCE: Final = 64
_PATIENCE: Final = 0.5
"""Seconds after which the next ones do not wait for those under way: their connection may be broken."""
_MARKS: Final = "commit_marks"
_BEGIN: Final = "BEGIN; SET LOCAL lock_timeout = '100ms'"
"""So that one row, or a deadlock, does not keep the others waiting."""


class DeferredWrite(NamedTuple):
    """A statement that is carried out at the end of its transaction."""

    table: str | None
    text: str
    arguments: tuple[object, ...]
    key: tuple[object, ...]
    """What names the row that it changes; empty for one that no other transaction changes."""

    def depends_on(self, earlier: "DeferredWrite") -> bool:
        """Whether it must not run before another of its transaction: both may change the same row."""
        if self.table != earlier.table:
            return False
        return self.text != earlier.text or (self.key == earlier.key and self.key != ())


class Connections(Protocol):
    """What the group commit needs of a database."""

    outcomes: Outcomes

    async def acquire(self) -> PostgresConnection:
        """Take a connection. Raises StorageUnavailable."""

    def release(self, connection: PostgresConnection) -> None:
        """Release it."""

    def drop(self, connection: PostgresConnection) -> None:
        """Close it."""

    def leave_after(self, connection: PostgresConnection, error: BaseException, *, always: bool = False) -> bool:
        """Release it after an error; whether another connection may do better."""

    async def confirm_commit(
        self, connection: PostgresConnection, mark: CommitMark | None, callbacks: Callbacks, error: BaseException
    ) -> None:
        """Return if what it was to commit is durable. Raises StorageError."""

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
        """The task that carries out those that wait; None if there are none."""
        self._started = 0.0
        """When it began with the last ones."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def commit(self, writes: Sequence[DeferredWrite], callbacks: Callbacks) -> None:
        """Carry out the writes of a transaction and call back once they are durable. Raises StorageError."""
        outcome = asyncio.get_running_loop().create_future()
        self._waiting.append(_Entry(writes, callbacks, outcome))
        if self._task is None or stopwatch() - self._started > _PATIENCE:
            # The connection of the one that is under way may be broken: it goes on beside this one.
            self._started = stopwatch()
            self._task = self._start(self._run())
        await outcome
        # All of a commit are woken in one turn.
        await yield_turn()

    def _start(self, work: Coroutine[object, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run(self) -> None:
        task = asyncio.current_task()
        try:
            while self._waiting and self._task is task:
                self._started = stopwatch()
                entries = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MAX_AT_ONCE))]
                await self._carry_out(entries)
        finally:
            if self._task is task:
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
        self._database.committed(_callbacks(entries), stopwatch() - started, len(entries))
        for entry in entries:
            if not entry.outcome.done():
                entry.outcome.set_result(None)

    async def _write(self, entries: Sequence[_Entry]) -> bool:
        """Write and commit; return whether each must be carried out alone instead. Raises StorageError.

        A connection of the pool may have been closed by the other end meanwhile: then another one is tried, if it is
        certain that nothing was committed.
        """
        try:
            return await self._write_once(entries)
        except _NotCommitted:
            pass
        try:
            return await self._write_once(entries)
        except _NotCommitted as error:
            raise error.reason from error

    async def _write_once(self, entries: Sequence[_Entry]) -> bool:
        connection = await self._database.acquire()
        mark = self._database.outcomes.mark(connection)
        statement = None
        if len(entries) == 1:
            statement = as_one_statement([DeferredWrite(_MARKS, MARK, mark[:2], ()), *entries[0].writes])
        # After a COMMIT that was not answered nothing may be repeated before it is known whether it was carried out.
        may_be_committed = statement is not None
        try:
            if statement is not None:
                await connection.execute(statement[0], *statement[1])
            else:
                await connection.execute(_BEGIN if len(entries) > 1 else "BEGIN")
                for text, rows in by_statement([entry.writes for entry in entries]):
                    await connection.executemany(text, rows)
                may_be_committed = True
                await connection.execute(mark.commit)
        except DRIVER_ERRORS as error:
            if is_lost(connection, error):
                await self._after_loss(connection, mark if may_be_committed else None, _callbacks(entries), error)
                return False
            await self._roll_back(connection)
            if len(entries) > 1:
                return True
            raise postgres_error(error) from error
        except BaseException:
            self._database.drop(connection)
            raise
        self._database.release(connection)
        return False

    async def _after_loss(
        self, connection: PostgresConnection, mark: CommitMark | None, callbacks: Callbacks, error: BaseException
    ) -> None:
        """Return if what was written is durable. Raises StorageError; _NotCommitted if it may be written again."""
        if mark is not None:
            try:
                await self._database.confirm_commit(connection, mark, callbacks, error)
            except CommitUnknown:
                raise
            except StorageUnavailable as unavailable:
                if isinstance(error, TimeoutError):
                    raise
                raise _NotCommitted(unavailable) from unavailable
            return
        may_repeat = self._database.leave_after(connection, error, always=True)
        if may_repeat:
            raise _NotCommitted(postgres_error(error)) from error
        raise postgres_error(error) from error

    async def _roll_back(self, connection: PostgresConnection) -> None:
        try:
            if connection.is_in_transaction():
                await connection.execute("ROLLBACK")
        except BaseException as error:
            self._database.drop(connection)
            if not isinstance(error, DRIVER_ERRORS):
                raise
        else:
            self._database.release(connection)


class _NotCommitted(Exception):
    """A connection was lost, and nothing of its transaction took effect."""

    def __init__(self, reason: StorageError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _callbacks(entries: Iterable[_Entry]) -> list[Callable[[], None]]:
    return [callback for entry in entries for callback in entry.callbacks]


def by_statement(transactions: Sequence[Sequence[DeferredWrite]]) -> list[tuple[str, list[tuple[object, ...]]]]:
    """Each statement with its parameters for all rows.

    All processes go through tables and rows in one order, so that no two wait for each other: through the statements in
    that of the transaction with the most, and through rows by their keys.
    """
    rows: dict[str, list[DeferredWrite]] = {}
    for writes in sorted(transactions, key=len, reverse=True):
        for write in writes:
            rows.setdefault(write.text, [])
    for writes in transactions:
        for write in writes:
            rows[write.text].append(write)
    return [(text, [write.arguments for write in sorted(rows[text], key=_key)]) for text in rows]


def _key(write: DeferredWrite) -> tuple[object, ...]:
    return write.key


def as_one_statement(writes: Sequence[DeferredWrite]) -> tuple[str, tuple[object, ...]] | None:
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


@lru_cache(maxsize=1_000)
def _joined(statements: tuple[tuple[str, int], ...]) -> str:
    texts: list[str] = []
    before = 0
    for text, count in statements:
        texts.append(renumbered(text, after=before))
        before += count
    # PostgreSQL carries out the last one first, and then those of WITH from the last to the first.
    first, *others = texts
    named = ", ".join(f"write{number} AS ({text})" for number, text in enumerate(reversed(others)))
    return f"WITH {named} {first}"
