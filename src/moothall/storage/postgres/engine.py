"""The engine for several processes: PostgreSQL through a pool of asyncpg connections.

A transaction names the aggregate that it changes as its lock, taken before anything is read: so
the transactions of one guild run one after another, on however many processes, and commit in the
order in which they run.

Each statement sees what was committed before it began (READ COMMITTED). So a read takes a connection for one statement
only, and a transaction without a lock begins with its first statement that writes or locks rows: those before it see
the same rows outside.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from moothall.objects.clock import stopwatch
from moothall.objects.ids import Snowflake
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.invariants import BrokenInvariant
from moothall.runtime.metered_slots import Meter, MeteredSlots
from moothall.runtime.turns import yield_turn
from moothall.storage.bulk import map_items
from moothall.storage.database import FEW_ROWS, CommitObserver, StorageUnavailable
from moothall.storage.postgres.batched_reads import BatchedReads
from moothall.storage.postgres.connection import NO_HURRY, Deadlines, PostgresConnection, connect
from moothall.storage.postgres.errors import DRIVER_ERRORS, postgres_error
from moothall.storage.postgres.group_commit import DeferredWrite, GroupCommit, as_one_statement, by_statement
from moothall.storage.postgres.outcomes import CommitMark, Outcomes, is_lost
from moothall.storage.postgres.pool import PostgresPool
from moothall.storage.postgres.queues import Queue, Queues
from moothall.storage.postgres.shared_transaction import SharedTransaction
from moothall.storage.query import Plan, Query
from moothall.storage.shared_reads import SharedReads

T = TypeVar("T")

_LONG_READS_SHARE = 8
"""Of so many connections one may be used by a long read: two of 16, as many as with SQLite."""


class PostgresReader:
    """Reads, each over a connection of the pool and shared with others who read the same at the same time."""

    committed = True
    caches_rows = False
    __slots__ = ("_database", "_payer")

    def __init__(self, database: "PostgresDatabase", payer: Payer) -> None:
        self._database = database
        self._payer = payer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def one(self, query: Query[T], /, **values: object) -> T | None:
        """The first row."""
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._fetch(plan, plan.bind(values))
        if not rows:
            return None
        return plan.make(rows[0]) if plan.make is not None else tuple(rows[0])  # type: ignore[return-value]

    async def all(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row."""
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._fetch(plan, plan.bind(values))
        return list(map(plan.make or tuple, rows))

    async def all_many(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row; others run while they are made and before they are used."""
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._fetch(plan, plan.bind(values))
        made = await map_items(self, plan.make or tuple, rows)
        await yield_turn(first=not self.committed)
        return made

    async def all_long(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row, while few others read at length: connections and processors are left to short reads.

        Raises WorkRefused.
        """
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._fetch(plan, plan.bind(values), long=True)
        return await map_items(self, plan.make or tuple, rows)

    async def all_up_to(self, maximum: int, query: Query[T], /, **values: object) -> list[T]:
        """Every row, as `all_long` if they may be many."""
        return await (self.all if maximum <= FEW_ROWS else self.all_long)(query, **values)

    async def scalar(self, query: Query[Any], /, **values: object) -> Any:
        """The first column of the first row, or None without one."""
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._fetch(plan, plan.bind(values))
        value = rows[0][0] if rows else None
        return value if value is None or plan.read_first is None else plan.read_first(value)

    async def has_written(self) -> bool:
        """Return False: it only reads."""
        return False

    async def _fetch(self, plan: Plan, arguments: tuple[Any, ...], *, long: bool = False) -> list[Any]:
        return await self._database.fetch(plan, arguments, payer=self._payer if long else None)


class PostgresTransaction(PostgresReader):
    """One transaction; an async context manager, used once."""

    committed = False
    __slots__ = ("_callbacks", "_changes", "_connection", "_deferred", "_failure", "_lock", "_over", "_shared", "_task")

    def __init__(self, database: "PostgresDatabase", lock: Snowflake | None, payer: Payer) -> None:
        super().__init__(database, payer)
        self._lock = lock
        self._shared: SharedTransaction | None = None
        """What it runs in if it has a lock."""
        self._connection: PostgresConnection | None = None
        """The connection on which it runs, from its BEGIN on."""
        self._deferred: list[DeferredWrite] = []
        self._changes = False
        """Whether it may have changed something on its connection, so that it matters whether it is committed."""
        self._callbacks: list[Callable[[], None]] = []
        self._failure: BaseException | None = None
        self._over = True
        self._task: asyncio.Task[object] | None = None

    async def __aenter__(self) -> Self:
        self._task = self._database.enter(asyncio.current_task())
        self._over = False
        if self._lock is not None:
            try:
                # Transactions of this process queue here, so that waiting ones take no connection of the pool.
                queue = await self._database.queues.join(self._lock)
                self._shared = await self._database.lock(queue)
            except BaseException:
                await self._leave("ROLLBACK")
                raise
            self._connection = self._shared.connection
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._over:
            raise RuntimeError("a transaction is left once")
        if kind is not None:
            await self._leave("ROLLBACK")
        elif self._failure is not None:
            await self._leave("ROLLBACK")
            raise self._failure
        else:
            await self._leave("COMMIT")

    async def has_written(self) -> bool:
        """Whether it has changed or locked a row, or is to change one."""
        if self._deferred or self._connection is None:
            return bool(self._deferred)
        return bool(await self._run("fetchval", "SELECT pg_current_xact_id_if_assigned() IS NOT NULL", ()))

    async def execute(self, query: Query[Any], /, **values: object) -> int:
        """Run a statement; return how many rows it changed."""
        plan = query.postgresql or query.plan("postgresql")
        text, arguments = plan.text, plan.bind(values)
        if self._deferred and plan.in_one_table:
            # It may be carried out with those of other tables: it neither sees nor changes their rows.
            writes = [DeferredWrite(plan.changes, text, arguments, ()), *self._deferred]
            if (joined := as_one_statement(writes)) is not None:
                self._deferred = []
                text, arguments = joined
        self._changes = True
        status: str = await self._run("execute", text, arguments)
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def write(self, query: Query[Any], /, **values: object) -> None:
        """Run a statement at the end, together with those of other transactions that end then."""
        await self._defer(query, [values])

    async def write_many(self, query: Query[Any], rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each set of values as `write` does."""
        await self._defer(query, list(map(dict, rows)))

    async def execute_many(self, query: Query[Any], rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each set of values."""
        plan = query.postgresql or query.plan("postgresql")
        self._changes = True
        await self._run("executemany", plan.text, ([plan.bind(dict(values)) for values in rows],))

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call back once the writes are durable."""
        if self._over:
            raise RuntimeError("the transaction is over")
        self._callbacks.append(callback)

    async def _fetch(self, plan: Plan, arguments: tuple[Any, ...], *, long: bool = False) -> list[Any]:
        if self._connection is not None or self._deferred or not plan.only_reads:
            self._changes = self._changes or not plan.only_reads
            if not long:
                return await self._run("fetch", plan.text, arguments)  # type: ignore[no-any-return]
            self._database.long_reads.check(self._payer)
            with self._database.long_reads.timing(self._payer):
                return await self._run("fetch", plan.text, arguments)  # type: ignore[no-any-return]
        fetch = partial(self._database.fetch, payer=self._payer if long else None)
        return await self._unless_over(fetch, plan, arguments)  # type: ignore[no-any-return]

    async def _run(self, method: str, text: str, arguments: Iterable[object]) -> Any:
        """Run a statement inside of it, and begin it if that is the first one."""
        await self._run_deferred()
        return await self._unless_over(self._call, method, text, arguments)

    async def _run_deferred(self) -> None:
        """Begin it unless it has begun, and run the statements that were left for later."""
        if self._connection is None:
            await self._unless_over(self._begin)
        if self._deferred:
            await self._unless_over(self._write_deferred)

    async def _defer(self, query: Query[Any], rows: Iterable[dict[str, Any]]) -> None:
        if self._over or self._failure is not None:
            raise RuntimeError("the transaction is over") from self._failure
        plan = query.postgresql or query.plan("postgresql")
        if not plan.in_one_table:
            await self.execute_many(query, rows)
            return
        for values in rows:
            arguments = plan.bind(values)
            write = DeferredWrite(plan.changes, plan.text, arguments, tuple([arguments[at] for at in plan.key]))
            if any(write.depends_on(earlier) for earlier in self._deferred):
                await self._run_deferred()
            self._deferred.append(write)

    async def _write_deferred(self) -> None:
        writes, self._deferred = self._deferred, []
        self._changes = True
        statement = as_one_statement(writes)
        if statement is not None:
            await self._call("execute", *statement)
        else:
            for text, rows in by_statement([writes]):
                await self._call("executemany", text, (rows,))

    async def _begin(self) -> None:
        self._connection = await self._database.begin("BEGIN")

    async def _call(self, method: str, text: str, arguments: Iterable[object]) -> Any:
        try:
            return await getattr(self._connection, method)(text, *arguments)
        except DRIVER_ERRORS as error:
            if isinstance(error, TimeoutError) and self._connection is not None:
                # Nothing else is waited for on it.
                self._connection.terminate()
            raise postgres_error(error) from error

    async def _unless_over(self, work: Callable[..., Awaitable[Any]], *arguments: object) -> Any:
        """Do what is part of it. A failure ends it."""
        if self._over or self._failure is not None:
            raise RuntimeError("the transaction is over") from self._failure
        try:
            return await work(*arguments)
        except BaseException as error:
            self._failure = error
            raise

    async def _leave(self, verb: str) -> None:
        """End the transaction and release the connection, also if this task is cancelled."""
        self._over = True
        if self._connection is None and not (self._deferred and verb == "COMMIT"):
            if verb == "COMMIT":
                self._database.committed(self._callbacks, 0.0)
            self._forget()
            return
        leaving = asyncio.ensure_future(self._end(verb))
        cancelled: asyncio.CancelledError | None = None
        while not leaving.done():
            try:
                await asyncio.wait((leaving,))
            except asyncio.CancelledError as error:
                cancelled = error
        self._forget()
        leaving.result()
        if cancelled is not None:
            raise cancelled

    def _forget(self) -> None:
        """Refer to nothing any more."""
        self._database.leave(self._task)
        self._deferred = []
        self._callbacks = []  # they hold what holds the transaction

    async def _end(self, verb: str) -> None:
        if self._connection is None:
            await self._database.group_commit.commit(self._deferred, self._callbacks)
            return
        if self._deferred and verb == "COMMIT":
            try:
                await self._write_deferred()
            except BaseException:
                await self._end("ROLLBACK")
                raise
        connection, self._connection = self._connection, None
        if self._shared is None:
            await self._end_alone(connection, verb)
        elif verb == "COMMIT":
            await self._shared.end(self._callbacks, changes=self._changes)
        else:
            await self._shared.roll_back()

    async def _end_alone(self, connection: PostgresConnection, verb: str) -> None:
        if verb == "COMMIT":
            await self._commit_alone(connection)
            return
        try:
            await connection.execute(verb)
        except DRIVER_ERRORS:
            self._database.drop(connection)
        except BaseException:
            self._database.drop(connection)
            raise
        else:
            self._database.release(connection)

    async def _commit_alone(self, connection: PostgresConnection) -> None:
        started = stopwatch()
        mark = self._database.outcomes.mark(connection) if self._changes else None
        try:
            await connection.execute("COMMIT" if mark is None else mark.commit)
        except DRIVER_ERRORS as error:
            await self._database.confirm_commit(connection, mark, self._callbacks, error)
        except BaseException:
            self._database.drop(connection)
            raise
        else:
            self._database.release(connection)
        self._database.committed(self._callbacks, stopwatch() - started)


class PostgresDatabase:
    """A PostgreSQL database, by URL. `connections` bounds the pool; `observe_commit` is called after each commit.

    The time of long reads is charged to `meter`.
    """

    dialect = "postgresql"

    def __init__(
        self,
        url: str,
        *,
        connections: int = 16,
        observe_commit: CommitObserver | None = None,
        deadlines: Deadlines | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._url = url
        self._connections = connections
        self._deadlines = Deadlines() if deadlines is None else deadlines
        self.on_late_commit: list[Callable[[], None]] = []
        self.observe_commit = observe_commit
        self.queues = Queues()
        self._pool = self._new_pool()
        self._open = False
        self._shared = SharedReads()
        self._batched = BatchedReads(self._fetch)
        self.long_reads = MeteredSlots(max(1, connections // _LONG_READS_SHARE), meter)
        self.outcomes = Outcomes(self._connect)
        self.group_commit = GroupCommit(self)
        self._tasks: set[asyncio.Task[object] | None] = set()
        self._settled: list[asyncio.Future[None]] = []

    async def open(self) -> None:
        """Connect. Raises StorageUnavailable."""
        if self._open:
            return
        pool = self._new_pool()
        try:
            pool.release(await pool.acquire())
        except DRIVER_ERRORS as error:
            raise StorageUnavailable(f"PostgreSQL cannot be reached: {error}") from error
        self._pool, self._open = pool, True

    def _new_pool(self) -> PostgresPool[PostgresConnection]:
        return PostgresPool(self._connect, maximum=self._connections, seconds=self._deadlines.acquire)

    async def _connect(self) -> PostgresConnection:
        return await connect(self._url, self._deadlines)

    async def close(self) -> None:
        """Wait for running queries and disconnect."""
        if self._open:
            await self.settled()
            await self.outcomes.close()
            await self._pool.close()
            self._open = False

    async def migrate(self) -> None:
        """Create the tables or migrate them to this version."""
        from moothall.storage.migrations import migrate_postgresql  # noqa: PLC0415 not needed once migrated

        try:
            # A migration takes as long as it takes, and rests while it makes rows.
            connection = await connect(self._url, NO_HURRY)
            try:
                await connection.execute("SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0")
                await migrate_postgresql(connection)
            finally:
                await connection.close(timeout=self._deadlines.connect)
        except DRIVER_ERRORS as error:
            raise postgres_error(error) from error
        await self.outcomes.delete_old()

    def stuck(self) -> str | None:
        """Return None: whatever is stuck is given up in time."""
        return None

    async def settled(self) -> None:
        """Wait until no transaction is running."""
        while self._tasks:
            future = asyncio.get_running_loop().create_future()
            self._settled.append(future)
            await future

    async def empty_log(self) -> bool:
        """Do nothing: the server recycles its log."""
        return True

    def read(self, payer: Payer = SERVER) -> PostgresReader:
        """A reader. Each statement sees everything committed before it."""
        return PostgresReader(self, payer)

    def watch(self, table: str, changed: Callable[[], None]) -> bool:  # noqa: ARG002 commits of other processes are not observed
        """Return False: other processes write to this database too, so rows must not be cached."""
        return False

    def watch_values(self, table: str, changed: Callable[[Mapping[str, object]], None]) -> bool:  # noqa: ARG002 as `watch`
        """Return False, as `watch` does."""
        return False

    def watch_rows(self, table: str, changed: Callable[[Collection[int] | None], None]) -> bool:  # noqa: ARG002 as above
        """Return False: other processes write to this database too, so rows must not be cached."""
        return False

    async def lock(self, queue: Queue) -> SharedTransaction:
        """The transaction in which the one that has the lock of a queue runs. If it fails, the queue is left."""
        if queue.transaction is not None:
            return queue.transaction  # type: ignore[no-any-return]
        try:
            # One round trip for both.
            connection = await self.begin(f"BEGIN; SELECT pg_advisory_xact_lock({int(queue.aggregate)})")
        except BaseException:
            self.queues.leave(queue)
            raise
        shared = queue.transaction = SharedTransaction(self, queue, self.queues.leave, connection)
        return shared

    async def begin(self, text: str) -> PostgresConnection:
        """Begin a transaction; returns its connection. Raises StorageError.

        A connection of the pool may have been closed by the other end meanwhile: then another one is tried.
        """
        is_second = False
        while True:
            connection = await self.acquire()
            try:
                await connection.execute(text)
            except DRIVER_ERRORS as error:
                lost = self.leave_after(connection, error, always=True)
                if lost and not is_second:
                    is_second = True
                    continue
                raise postgres_error(error) from error
            except BaseException:
                self.drop(connection)
                raise
            return connection

    def leave_after(self, connection: PostgresConnection, error: BaseException, *, always: bool = False) -> bool:
        """Release a connection after an error of a statement; returns whether another connection may do better.

        It is closed if the error, or `always` if it may still have a transaction. Where the other end has closed it,
        it has closed those that are idle too.
        """
        lost = is_lost(connection, error)
        if lost or always:
            self.drop(connection)
        else:
            self.release(connection)
        if not lost or isinstance(error, TimeoutError):
            return False
        self._pool.drop_idle()
        return True

    async def confirm_commit(
        self,
        connection: PostgresConnection,
        mark: CommitMark | None,
        callbacks: Sequence[Callable[[], None]],
        error: BaseException,
    ) -> None:
        """Return if the transaction of a COMMIT that raised is durable nevertheless. Raises StorageError.

        The callbacks are called later if it turns out later that it is, and after them those of `on_late_commit`.
        """
        lost = is_lost(connection, error)
        self.leave_after(connection, error, always=True)
        on_late_commit = partial(self._handle_late_commit, callbacks)
        if not lost or mark is None or not await self.outcomes.was_committed(mark, on_late_commit):
            raise postgres_error(error) from error

    def _handle_late_commit(self, callbacks: Sequence[Callable[[], None]]) -> None:
        self.committed([*callbacks, *self.on_late_commit], 0.0)

    def transaction(self, lock: Snowflake | None = None, *, payer: Payer = SERVER) -> PostgresTransaction:
        """A transaction that first waits for all others with the same lock."""
        return PostgresTransaction(self, lock, payer)

    async def acquire(self) -> PostgresConnection:
        """Take a connection of the pool. Raises StorageUnavailable."""
        if not self._open:
            raise StorageUnavailable("the database is not open")
        try:
            return await self._pool.acquire()
        except DRIVER_ERRORS as error:
            raise StorageUnavailable(f"no connection to PostgreSQL: {type(error).__name__}: {error}") from error

    def release(self, connection: PostgresConnection) -> None:
        """Release a connection to the pool, on which no transaction is open."""
        if connection.is_in_transaction():
            self._pool.drop(connection)
            raise BrokenInvariant("a connection is released in a transaction: the next user would be part of it")
        self._pool.release(connection)

    def drop(self, connection: PostgresConnection) -> None:
        """Close a connection whose state is not known; the pool makes a new one when needed."""
        self._pool.drop(connection)

    async def fetch(self, plan: Plan, arguments: tuple[Any, ...], *, payer: Payer | None = None) -> list[Any]:
        """The rows of a statement that only reads, outside of transactions. Raises StorageError.

        One with a `payer` is a long read, of which few run at the same time. Of those who share one the first pays;
        a payer over the budget joins none. Raises WorkRefused.
        """
        text = plan.text
        if plan.for_keys is not None:
            return await self._batched.read(text, plan.for_keys, arguments)
        key = (text, *(tuple(each) if type(each) is list else each for each in arguments))
        if payer is None:
            return await self._shared.read(key, partial(self._fetch, text, arguments))
        self.long_reads.check(payer)
        return await self._shared.read(key, partial(self._fetch_long, payer, text, arguments))

    async def _fetch_long(self, payer: Payer, text: str, arguments: tuple[Any, ...]) -> list[Any]:
        async with self.long_reads.slot(payer):
            return await self._fetch(text, arguments, payer=payer)

    async def _fetch(self, text: str, arguments: Sequence[Any], *, payer: Payer | None = None) -> list[Any]:
        """Fetch rows; with a `payer` as a long read."""
        is_second = False
        while True:
            connection = await self.acquire()
            try:
                if payer is None:
                    rows: list[Any] = await connection.fetch(text, *arguments)
                else:
                    with self.long_reads.timing(payer):
                        rows = await connection.fetch(text, *arguments, timeout=self._deadlines.long_read)
            except DRIVER_ERRORS as error:
                may_repeat = self.leave_after(connection, error)
                if may_repeat and not is_second:
                    is_second = True
                    continue
                raise postgres_error(error) from error
            except BaseException:
                self.drop(connection)
                raise
            self.release(connection)
            return rows

    def enter(self, task: asyncio.Task[object] | None) -> asyncio.Task[object] | None:
        """Record that a task has a transaction. Raises RuntimeError if it has one already."""
        if task in self._tasks:
            raise RuntimeError("a transaction inside another of the same task would wait for itself")
        self._tasks.add(task)
        return task

    def leave(self, task: asyncio.Task[object] | None) -> None:
        """Record that a task's transaction has ended."""
        self._tasks.discard(task)
        if not self._tasks:
            waiting, self._settled = self._settled, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    def committed(self, callbacks: Iterable[Callable[[], None]], seconds: float, count: int = 1) -> None:
        """Run the callbacks of a commit of `count` transactions and report it to the observer."""
        loop = asyncio.get_running_loop()
        for callback in callbacks:
            try:
                callback()
            except Exception as error:  # noqa: BLE001 the write is durable: the other callbacks must run
                loop.call_exception_handler({"message": "a callback of a commit raised", "exception": error})
        if self.observe_commit is not None:
            self.observe_commit(count, seconds)
