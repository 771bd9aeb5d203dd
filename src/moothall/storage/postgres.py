"""The engine for several processes: PostgreSQL through a pool of asyncpg connections.

A transaction names the aggregate that it changes as its lock, taken before anything is read: so
the transactions of one guild run one after another, on however many processes, and commit in the
order in which they run.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import asyncpg

from moothall.objects.clock import stopwatch
from moothall.objects.ids import Snowflake
from moothall.storage.database import CommitObserver, StorageUnavailable
from moothall.storage.postgres_errors import DRIVER_ERRORS, postgres_error
from moothall.storage.query import Query
from moothall.storage.queues import Queue, Queues
from moothall.storage.row_pieces import make_in_pieces

T = TypeVar("T")

_ACQUIRE_SECONDS = 10.0
"""How long a request waits for a connection of the pool."""

_SERVER_SETTINGS = {
    "application_name": "moothall",
    "jit": "off",  # compiling takes longer than any of the queries
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
}


def _drop(connection: Any) -> None:
    """Terminate a connection; the pool opens a new one when needed."""
    with suppress(asyncpg.InterfaceError):  # the pool has closed it already
        connection.terminate()


class _Connection(asyncpg.Connection):
    """A connection without session state, which need not be reset when it is released to the pool."""

    __slots__ = ()

    def get_reset_query(self) -> str:
        """Empty: a reset would take a round trip for each request."""
        return ""


class PostgresReader:
    """Reads over one connection of the pool."""

    committed = True
    keeps_rows = False
    __slots__ = ("_connection",)

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def one(self, query: Query[T], /, **values: Any) -> T | None:
        """The first row."""
        plan = query.postgresql or query.plan("postgresql")
        row = await self._run("fetchrow", plan.text, plan.bind(values))
        if row is None:
            return None
        return plan.make(row) if plan.make is not None else tuple(row)  # type: ignore[return-value]

    async def all(self, query: Query[T], /, **values: Any) -> list[T]:
        """Every row."""
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._run("fetch", plan.text, plan.bind(values))
        return list(map(plan.make or tuple, rows))

    async def all_in_pieces(self, query: Query[T], /, **values: Any) -> list[T]:
        """Every row; others run while they are made."""
        plan = query.postgresql or query.plan("postgresql")
        rows = await self._run("fetch", plan.text, plan.bind(values))
        return await make_in_pieces(plan.make or tuple, rows)

    async def all_long(self, query: Query[T], /, **values: Any) -> list[T]:
        """The same as `all`, which does not block the event loop."""
        return await self.all(query, **values)

    async def scalar(self, query: Query[Any], /, **values: Any) -> Any:
        """The first column of the first row, or None without one."""
        plan = query.postgresql or query.plan("postgresql")
        value = await self._run("fetchval", plan.text, plan.bind(values))
        return value if value is None or plan.read_first is None else plan.read_first(value)

    async def has_written(self) -> bool:
        """Return False: it only reads."""
        return False

    async def _run(self, method: str, text: str, arguments: Iterable[Any]) -> Any:
        try:
            return await getattr(self._connection, method)(text, *arguments)
        except DRIVER_ERRORS as error:
            raise postgres_error(error) from error


class PostgresTransaction(PostgresReader):
    """One transaction; an async context manager, used once."""

    committed = False
    __slots__ = ("_callbacks", "_database", "_failure", "_lock", "_over", "_queue", "_task")

    def __init__(self, database: "PostgresDatabase", lock: Snowflake | None) -> None:
        super().__init__(None)
        self._database = database
        self._lock = lock
        self._queue: Queue | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._failure: BaseException | None = None
        self._over = True
        self._task: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> Self:
        self._task = self._database.enter(asyncio.current_task())
        try:
            if self._lock is not None:
                # Transactions of this process queue here, so that waiting ones take no connection of the pool.
                self._queue = await self._database.queues.join(self._lock)
            self._connection = await self._database.acquire()
            # One round trip for both.
            lock = "" if self._lock is None else f"; SELECT pg_advisory_xact_lock({int(self._lock)})"
            self._over = False
            await self._run("execute", f"BEGIN{lock}", ())
        except BaseException:
            await self._leave("ROLLBACK")
            raise
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
        """Whether it has changed or locked a row."""
        return bool(await self._run("fetchval", "SELECT pg_current_xact_id_if_assigned() IS NOT NULL", ()))

    async def execute(self, query: Query[Any], /, **values: Any) -> int:
        """Run a statement; return how many rows it changed."""
        plan = query.postgresql or query.plan("postgresql")
        status: str = await self._run("execute", plan.text, plan.bind(values))
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def execute_many(self, query: Query[Any], rows: Iterable[Mapping[str, Any]], /) -> None:
        """Run a statement once for each set of values."""
        plan = query.postgresql or query.plan("postgresql")
        await self._run("executemany", plan.text, ([plan.bind(dict(values)) for values in rows],))

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call back once the writes are durable."""
        if self._over:
            raise RuntimeError("the transaction is over")
        self._callbacks.append(callback)

    async def _run(self, method: str, text: str, arguments: Iterable[Any]) -> Any:
        if self._over or self._failure is not None:
            raise RuntimeError("the transaction is over") from self._failure
        try:
            return await getattr(self._connection, method)(text, *arguments)
        except DRIVER_ERRORS as error:
            self._failure = postgres_error(error)
            raise self._failure from error
        except BaseException as error:
            self._failure = error
            raise

    async def _leave(self, verb: str) -> None:
        """End the transaction and release the connection, also if this task is cancelled."""
        self._over = True
        leaving = asyncio.ensure_future(self._end(verb))
        cancelled: asyncio.CancelledError | None = None
        while not leaving.done():
            try:
                await asyncio.wait((leaving,))
            except asyncio.CancelledError as error:
                cancelled = error
        if self._queue is not None:
            self._database.queues.leave(self._queue)
        self._database.leave(self._task)
        self._callbacks = []  # they hold what holds the transaction
        leaving.result()
        if cancelled is not None:
            raise cancelled

    async def _end(self, verb: str) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        started = stopwatch()
        try:
            await connection.execute(verb)
        except DRIVER_ERRORS as error:
            _drop(connection)
            if verb == "COMMIT":
                raise postgres_error(error) from error
        else:
            if verb == "COMMIT":
                self._database.committed(self._callbacks, stopwatch() - started)
        finally:
            await self._database.release(connection)


class _Reading:
    """The context manager of `read()`: a connection of the pool."""

    __slots__ = ("_connection", "_database")

    def __init__(self, database: "PostgresDatabase") -> None:
        self._database = database
        self._connection: Any = None

    async def __aenter__(self) -> PostgresReader:
        self._connection = await self._database.acquire()
        return PostgresReader(self._connection)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection, self._connection = self._connection, None
        await self._database.release(connection)


class PostgresDatabase:
    """A PostgreSQL database, by URL. `connections` bounds the pool; `observe_commit` is called after each commit."""

    dialect = "postgresql"

    def __init__(self, url: str, *, connections: int = 16, observe_commit: CommitObserver | None = None) -> None:
        self._url = url
        self._connections = connections
        self.observe_commit = observe_commit
        self.queues = Queues()
        self._pool: Any = None
        self._tasks: set[asyncio.Task[Any] | None] = set()
        self._settled: list[asyncio.Future[None]] = []

    async def open(self) -> None:
        """Connect. Raises StorageUnavailable."""
        if self._pool is not None:
            return
        try:
            self._pool = await asyncpg.create_pool(
                self._url,
                min_size=1,
                max_size=self._connections,
                connection_class=_Connection,
                statement_cache_size=1_000,
                max_cached_statement_lifetime=0,
                server_settings=_SERVER_SETTINGS,
                timeout=_ACQUIRE_SECONDS,
            )
        except DRIVER_ERRORS as error:
            raise StorageUnavailable(f"PostgreSQL cannot be reached: {error}") from error

    async def close(self) -> None:
        """Wait for running queries and disconnect."""
        if self._pool is not None:
            await self.settled()
            # Kept until closed, because running reads still release their connections.
            await self._pool.close()
            self._pool = None

    async def migrate(self) -> None:
        """Create the tables or migrate them to this version."""
        from moothall.storage.migrations import migrate_postgresql  # noqa: PLC0415 not needed once migrated

        connection = await self.acquire()
        try:
            await migrate_postgresql(connection)
        except DRIVER_ERRORS as error:
            raise postgres_error(error) from error
        finally:
            await self.release(connection)

    async def settled(self) -> None:
        """Wait until no transaction is running."""
        while self._tasks:
            future = asyncio.get_running_loop().create_future()
            self._settled.append(future)
            await future

    def read(self) -> _Reading:
        """A reader. Each statement sees everything committed before it."""
        return _Reading(self)

    def watch(self, table: str, changed: Callable[[], None]) -> bool:  # noqa: ARG002 commits of other processes are not observed
        """Return False: other processes write to this database too, so rows must not be cached."""
        return False

    def watch_values(self, table: str, changed: Callable[[Mapping[str, Any]], None]) -> bool:  # noqa: ARG002 as `watch`
        """Return False, as `watch` does."""
        return False

    def watch_rows(self, table: str, changed: Callable[[Collection[int] | None], None]) -> bool:  # noqa: ARG002 as above
        """Return False: other processes write to this database too, so rows must not be cached."""
        return False

    def transaction(self, lock: Snowflake | None = None) -> PostgresTransaction:
        """A transaction that first waits for all others with the same lock."""
        return PostgresTransaction(self, lock)

    async def acquire(self) -> Any:
        """Take a connection of the pool. Raises StorageUnavailable."""
        if self._pool is None:
            raise StorageUnavailable("the database is not open")
        try:
            return await self._pool.acquire(timeout=_ACQUIRE_SECONDS)
        except DRIVER_ERRORS as error:
            raise StorageUnavailable(f"no connection to PostgreSQL: {type(error).__name__}: {error}") from error

    async def release(self, connection: Any) -> None:
        """Release a connection to the pool."""
        try:
            await self._pool.release(connection)
        except DRIVER_ERRORS:
            _drop(connection)

    def enter(self, task: asyncio.Task[Any] | None) -> asyncio.Task[Any] | None:
        """Record that a task has a transaction. Raises RuntimeError if it has one already."""
        if task in self._tasks:
            raise RuntimeError("a transaction inside another of the same task would wait for itself")
        self._tasks.add(task)
        return task

    def leave(self, task: asyncio.Task[Any] | None) -> None:
        """Record that a task's transaction has ended."""
        self._tasks.discard(task)
        if not self._tasks:
            waiting, self._settled = self._settled, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    def committed(self, callbacks: Iterable[Callable[[], None]], seconds: float) -> None:
        """Run the callbacks of a commit and report it to the observer."""
        loop = asyncio.get_running_loop()
        for callback in callbacks:
            try:
                callback()
            except Exception as error:  # noqa: BLE001 the write is durable: the other callbacks must run
                loop.call_exception_handler({"message": "a callback of a commit raised", "exception": error})
        if self.observe_commit is not None:
            self.observe_commit(1, seconds)
