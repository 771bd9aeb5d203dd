"""The embedded engine: SQLite in WAL mode through apsw.

Short reads run on the event loop: a lookup takes microseconds, a thread hop several times that.
Writes go through the group commit (`group_commit`); long reads and backups get a thread and a
connection of their own.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import apsw

from moothall.objects.clock import stopwatch
from moothall.objects.ids import Snowflake
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.runtime.metered_slots import Meter
from moothall.runtime.turns import yield_turn
from moothall.runtime.work_pool import WorkPool
from moothall.storage.bulk import map_items
from moothall.storage.database import FEW_ROWS, CommitObserver, StorageError, StorageUnavailable
from moothall.storage.query import Plan, Query
from moothall.storage.sqlite.commit_counters import CommitCounters
from moothall.storage.sqlite.files import connect, storage_error, truncate_log
from moothall.storage.sqlite.group_commit import STUCK_SECONDS, Turn, Writer

T = TypeVar("T")

Watcher = Callable[[Mapping[str, object]], None]
"""Called for a statement that wrote a watched table, with its values by name."""

_PAUSE_AFTER = 0.0005
"""Seconds of a transaction after which what needs none runs before its next statement."""

_LONG_READS = 2
"""How many long reads run at once."""
_LONG_READS_KIB = 4_000
"""Pages that a connection for long reads keeps in memory: it reads most of them once."""
_LOWER = 5
"""By so much their threads are nicer than the event loop's (docs/decisions/0010)."""


class _Rows:
    """Base of reader and transaction: converts the driver's rows to the query's."""

    __slots__ = ()

    def _run(self, text: str, bindings: tuple[Any, ...]) -> list[Any]:
        raise NotImplementedError

    def _fetch(self, plan: Plan, bindings: tuple[Any, ...]) -> list[Any]:
        rows = self._run(plan.text, bindings)
        return rows if plan.make is None else list(map(plan.make, rows))

    async def one(self, query: Query[T], /, **values: object) -> T | None:
        """The first row."""
        plan = query.sqlite or query.plan("sqlite")
        rows = self._fetch(plan, plan.bind(values))
        return rows[0] if rows else None

    async def all(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row."""
        plan = query.sqlite or query.plan("sqlite")
        return self._fetch(plan, plan.bind(values))

    async def scalar(self, query: Query[Any], /, **values: object) -> Any:
        """The first column of the first row, or None without one."""
        plan = query.sqlite or query.plan("sqlite")
        rows = self._run(plan.text, plan.bind(values))
        if not rows:
            return None
        value = rows[0][0]
        return value if value is None or plan.read_first is None else plan.read_first(value)


class SqliteReader(_Rows):
    """Reads over one connection. Calls return without suspending, unless they say so."""

    committed = True
    caches_rows = False
    __slots__ = ("_cursor", "_long", "_payer")

    def __init__(self, cursor: apsw.Cursor, long: "LongReads", payer: Payer) -> None:
        self._cursor = cursor
        self._long = long
        self._payer = payer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def _run(self, text: str, bindings: tuple[Any, ...]) -> list[Any]:
        try:
            # Fetch every row: an unfinished statement would keep its snapshot of the data.
            return self._cursor.execute(text, bindings).fetchall()
        except (apsw.Error, OverflowError) as error:
            raise storage_error(error) from error

    async def has_written(self) -> bool:
        """Return False: it only reads."""
        return False

    async def all_many(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row; others run while they are made and before they are used."""
        plan = query.sqlite or query.plan("sqlite")
        rows = self._run(plan.text, plan.bind(values))
        made = rows if plan.make is None else await map_items(self, plan.make, rows)
        await yield_turn()
        return made

    async def all_long(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row, read on a thread. Raises WorkRefused."""
        return await self._long.all(self._payer, query, values)

    async def all_up_to(self, maximum: int, query: Query[T], /, **values: object) -> list[T]:
        """Every row, on a thread if they may be many."""
        return await (self.all if maximum <= FEW_ROWS else self.all_long)(query, **values)


class LongReads:
    """A few threads, each with a connection of its own, which take turns between payers."""

    def __init__(self, path: Path, meter: Meter | None = None) -> None:
        self._path = path
        self._idle: list[apsw.Connection] = []
        self._pool = WorkPool("moothall-read", meter, threads=_LONG_READS, initializer=_give_way)

    async def all(self, payer: Payer, query: Query[T], values: dict[str, Any]) -> list[T]:
        """Every row of a query. Raises WorkRefused."""
        return await self._pool.run(payer, partial(self._all, query, values))

    def charging(self, payer: Payer) -> AbstractContextManager[None]:
        """Charge a long read that the block runs on this thread. Raises OverBudget."""
        return self._pool.charging(payer)

    def close(self) -> None:
        """Wait for the reads that are running and disconnect."""
        self._pool.close(wait=True)
        while self._idle:
            self._idle.pop().close()

    def _all(self, query: Query[T], values: dict[str, Any]) -> list[T]:
        plan = query.plan("sqlite")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = connect(self._path, readonly=True, cache_kib=_LONG_READS_KIB)
        try:
            rows: list[Any] = connection.execute(plan.text, plan.bind(values)).fetchall()
        except (apsw.Error, OverflowError) as error:
            raise storage_error(error) from error
        finally:
            self._idle.append(connection)
        return rows if plan.make is None else list(map(plan.make, rows))


def _give_way() -> None:
    """Let the event loop go before this thread where both need a processor and threads have priorities (Linux)."""
    if sys.platform == "linux":
        priority = os.getpriority(os.PRIO_PROCESS, 0)  # of the thread that calls
        os.setpriority(os.PRIO_PROCESS, 0, min(priority + _LOWER, 19))


RowsCallback = Callable[[Collection[int] | None], None]
"""Called with the ids of changed rows; None if any may have changed."""


class RowWatch:
    """Collects the ids of the rows that the turn under way has changed, for those who watch their tables."""

    def __init__(self) -> None:
        self._callbacks: dict[str, list[RowsCallback]] = {}
        self._ids: dict[str, set[int]] = {}
        self.tables: set[str] = set()
        """The tables that were written since the last commit."""

    def add(self, table: str, changed: RowsCallback) -> None:
        """Watch a table."""
        self._callbacks.setdefault(table, []).append(changed)

    def note(self, _kind: int, _database: str, table: str, row_id: int) -> None:
        """Record a changed row; the driver calls this for every row of every table."""
        self.tables.add(table)
        if table in self._callbacks:
            self._ids.setdefault(table, set()).add(row_id)

    def take(self) -> list[Callable[[], None]]:
        """Return what is to be called once the turn is durable, and begin anew."""
        if not self._ids:
            return []
        ids, self._ids = self._ids, {}
        return [partial(changed, ids[table]) for table in ids for changed in self._callbacks[table]]


class SqliteTransaction(_Rows):
    """One transaction on the writer's connection; an async context manager, used once."""

    committed = False
    caches_rows = True
    __slots__ = (
        "_changes_before",
        "_connection",
        "_cursor",
        "_failure",
        "_long",
        "_payer",
        "_resumed",
        "_rows",
        "_turn",
        "_watchers",
        "_writer",
    )

    def __init__(
        self,
        writer: Writer,
        watchers: Mapping[str | None, Sequence[Watcher]],
        rows: RowWatch,
        long: LongReads,
        payer: Payer,
    ) -> None:
        self._writer = writer
        self._long = long
        self._payer = payer
        self._rows = rows
        self._watchers = watchers
        self._turn: Turn | None = None
        self._failure: BaseException | None = None

    async def __aenter__(self) -> Self:
        self._turn = await self._writer.begin()
        self._connection = self._writer.connection
        self._cursor = self._writer.cursor
        self._changes_before = self._connection.total_changes()
        self._resumed = stopwatch()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            raise RuntimeError("a transaction is left once")
        failure = self._failure
        changed = self._rows.take()
        if kind is not None or failure is not None:
            self._writer.roll_back(turn, failure if isinstance(failure, StorageError) else None)
            if kind is None and failure is not None:
                raise failure
        else:
            turn.callbacks += changed
            await self._writer.commit(turn)

    async def has_written(self) -> bool:
        """Whether it has changed a row."""
        return self._connection.total_changes() != self._changes_before

    async def all(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row."""
        await self._pause_if_long()
        return await super().all(query, **values)

    async def all_many(self, query: Query[T], /, **values: object) -> list[T]:
        """The same as `all`: others would wait for this transaction."""
        return await self.all(query, **values)

    async def all_long(self, query: Query[T], /, **values: object) -> list[T]:
        """As `all`, but charged: a thread would not see this transaction's writes. Raises OverBudget."""
        with self._long.charging(self._payer):
            return await self.all(query, **values)

    async def all_up_to(self, maximum: int, query: Query[T], /, **values: object) -> list[T]:
        """The same as `all` or `all_long`."""
        return await (self.all if maximum <= FEW_ROWS else self.all_long)(query, **values)

    async def execute(self, query: Query[Any], /, **values: object) -> int:
        """Run a statement; return how many rows it changed."""
        await self._pause_if_long()
        plan = query.sqlite or query.plan("sqlite")
        self._run(plan.text, plan.bind(values))
        self._writer.kept.note_write(plan)
        table = plan.changes
        if table is not None:
            # The driver reports no rows of virtual tables.
            self._rows.tables.add(table)
            for changed in self._watchers.get(table, ()):
                self.on_commit(partial(changed, values))
        return self._connection.changes()

    async def write(self, query: Query[Any], /, **values: object) -> None:
        """Run a statement: nothing is spared by running it later."""
        await self.execute(query, **values)

    async def execute_many(self, query: Query[Any], rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each set of values; what needs no transaction runs in between."""
        plan = query.sqlite or query.plan("sqlite")
        watchers = self._watchers.get(plan.changes, ())
        self._writer.kept.note_write(plan)
        if plan.changes is not None:
            self._rows.tables.add(plan.changes)
        for values in rows:
            await self._pause_if_long()
            self._run(plan.text, plan.bind(dict(values)))
            for changed in watchers:
                self.on_commit(partial(changed, values))

    async def write_many(self, query: Query[Any], rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each set of values: nothing is spared by running it later."""
        await self.execute_many(query, rows)

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call back once the writes are durable."""
        if self._turn is None:
            raise RuntimeError("the transaction is over")
        self._turn.callbacks.append(callback)

    async def one(self, query: Query[T], /, **values: object) -> T | None:
        """The first row."""
        plan = query.sqlite or query.plan("sqlite")
        rows = self._read(plan, plan.bind(values))
        return rows[0] if rows else None

    async def _pause_if_long(self) -> None:
        """Let what needs no transaction run if this one has had its time."""
        if stopwatch() - self._resumed > _PAUSE_AFTER:
            await yield_turn(first=True)
            self._resumed = stopwatch()

    def _fetch(self, plan: Plan, bindings: tuple[Any, ...]) -> list[Any]:
        # A copy of kept rows, as they are those of other transactions too.
        return super()._fetch(plan, bindings) if plan.reads is None else list(self._read(plan, bindings))

    def _read(self, plan: Plan, bindings: tuple[Any, ...]) -> Sequence[Any]:
        """The rows of a query, perhaps kept ones."""
        if plan.reads is None:
            return super()._fetch(plan, bindings)
        if self._turn is None or self._failure is not None:
            raise RuntimeError("the transaction is over") from self._failure
        rows = self._writer.kept.find(plan.reads, bindings)
        if rows is None:
            rows = super()._fetch(plan, bindings)
            self._writer.kept.keep(plan.reads, bindings, rows)
        return rows

    def _run(self, text: str, bindings: tuple[Any, ...]) -> list[Any]:
        if self._turn is None or self._failure is not None:
            raise RuntimeError("the transaction is over") from self._failure
        try:
            return self._cursor.execute(text, bindings).fetchall()
        except (apsw.Error, OverflowError) as error:
            self._failure = storage_error(error)
            raise self._failure from error
        except BaseException as error:
            self._failure = error
            raise


class SqliteDatabase:
    """A database in one file. `observe_commit` is called after each commit.

    `counters` tell the processes that only read the file which tables have changed. The CPU time of long reads is
    charged to `meter`.
    """

    dialect = "sqlite"

    def __init__(
        self,
        path: Path | str,
        *,
        observe_commit: CommitObserver | None = None,
        counters: CommitCounters | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.path = Path(path)
        self._meter = meter
        self._counters = counters
        self.observe_commit = observe_commit
        self.on_late_commit: list[Callable[[], None]] = []
        self._watchers: dict[str | None, list[Watcher]] = {}
        self._rows = RowWatch()
        self._writer: Writer | None = None
        self._cursor: apsw.Cursor | None = None
        self._long: LongReads | None = None
        self._connection: apsw.Connection | None = None

    async def open(self) -> None:
        """Open the file, creating it if need be. Raises StorageUnavailable."""
        if self._writer is not None:
            return
        writing = connect(self.path)
        try:
            self._connection = connect(self.path, readonly=True)
        except StorageError:
            writing.close()
            raise
        self._writer = Writer(self.path, writing, self._observe, self._rows.note, self._count)
        self.count_all()
        self._long = LongReads(self.path, self._meter)
        self._cursor = self._connection.cursor()

    async def close(self) -> None:
        """Wait for running commits and close the file."""
        writer, self._writer, self._cursor = self._writer, None, None
        if writer is None or self._long is None or self._connection is None:
            return
        await in_lifecycle_thread(self._long.close)
        self._connection.close()
        # The last connection to close moves the log into the file, which a read-only connection cannot do.
        await writer.close()

    async def migrate(self) -> None:
        """Create the tables or migrate them to this version."""
        from moothall.storage.migrations import migrate_sqlite  # noqa: PLC0415 not needed once migrated

        await self._open_writer().exclusively(migrate_sqlite)

    def stuck(self) -> str | None:
        """A commit that the disk does not carry out; None if there is none."""
        seconds = 0.0 if self._writer is None else self._writer.committing_seconds
        return f"the disk has not carried out a commit for {seconds:.0f} s" if seconds > STUCK_SECONDS else None

    async def settled(self) -> None:
        """Wait until no transaction and no commit is running."""
        if self._writer is not None:
            await self._writer.settled()

    async def empty_log(self) -> bool:
        """Move the write-ahead log into the file, and empty it; False if something reads or writes meanwhile."""
        return await in_lifecycle_thread(partial(truncate_log, self.path))

    def read(self, payer: Payer = SERVER) -> SqliteReader:
        """A reader. Each statement sees everything committed before it."""
        if self._cursor is None or self._long is None:
            raise StorageUnavailable("the database is not open")
        return SqliteReader(self._cursor, self._long, payer)

    def transaction(self, lock: Snowflake | None = None, *, payer: Payer = SERVER) -> SqliteTransaction:  # noqa: ARG002 all wait for each other
        """A transaction."""
        writer = self._open_writer()
        if self._long is None:
            raise StorageUnavailable("the database is not open")
        return SqliteTransaction(writer, self._watchers, self._rows, self._long, payer)

    def watch(self, table: str, changed: Callable[[], None]) -> bool:
        """Call back after each commit that wrote a table. Returns True: no other process serves from the file."""
        return self.watch_values(table, lambda _values: changed())

    def watch_values(self, table: str, changed: Watcher) -> bool:
        """Call back for each statement that wrote a table once it is durable, with its values. Returns True."""
        self._watchers.setdefault(table, []).append(changed)
        return True

    def watch_rows(self, table: str, changed: RowsCallback) -> bool:
        """Call back with the ids of a table's rows after each commit that changed any. Returns True, as `watch`."""
        self._rows.add(table, changed)
        return True

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise StorageUnavailable("the database is not open")
        return self._writer

    def count_all(self) -> None:
        """Let the processes that only read forget what they keep: another process may have changed any table."""
        if self._counters is not None:
            self._counters.add_all()

    def _count(self) -> None:
        tables, self._rows.tables = self._rows.tables, set()
        if self._counters is not None:
            self._counters.add(tables)

    def _observe(self, size: int, seconds: float) -> None:
        if self.observe_commit is not None:
            self.observe_commit(size, seconds)
