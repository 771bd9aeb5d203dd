"""The database of a process that only reads an SQLite file, which another process of the machine writes."""

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import apsw

from moothall.objects.ids import Snowflake
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.runtime.metered_slots import Meter
from moothall.storage.database import CommitObserver, StorageUnavailable, WritesElsewhere
from moothall.storage.sqlite.commit_counters import CommitCounters
from moothall.storage.sqlite.engine import LongReads, RowsCallback, SqliteReader, Watcher
from moothall.storage.sqlite.files import connect


class SqliteReplica:
    """Reads a file that exists. What is kept of a table is forgotten at the first `read` after it has changed."""

    dialect = "sqlite"

    def __init__(self, path: Path, counters: CommitCounters, meter: Meter | None = None) -> None:
        self.path = path
        self._meter = meter
        self.observe_commit: CommitObserver | None = None
        self.on_late_commit: list[Callable[[], None]] = []
        self._counters = counters
        self._total = -1
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._seen: dict[str, int] = {}
        self._cursor: apsw.Cursor | None = None
        self._long: LongReads | None = None
        self._connection: apsw.Connection | None = None

    async def open(self) -> None:
        """Open the file. Raises StorageError."""
        if self._connection is None:
            self._connection = connect(self.path, readonly=True)
            self._long = LongReads(self.path, self._meter)
            self._cursor = self._connection.cursor()

    async def close(self) -> None:
        """Wait for long reads and close the file."""
        connection, self._connection, self._cursor = self._connection, None, None
        if connection is None or self._long is None:
            return
        await in_lifecycle_thread(self._long.close)
        connection.close()

    async def migrate(self) -> None:
        """Do nothing: the process that writes has migrated the tables."""

    def stuck(self) -> str | None:
        """Return None: nothing is written here."""
        return None

    async def settled(self) -> None:
        """Do nothing: nothing is written here."""

    async def empty_log(self) -> bool:
        """Do nothing: the process that writes does."""
        return True

    def read(self, payer: Payer = SERVER) -> SqliteReader:
        """A reader. Each statement sees everything committed before it."""
        if self._cursor is None or self._long is None:
            raise StorageUnavailable("the database is not open")
        self.synchronize()
        return SqliteReader(self._cursor, self._long, payer)

    def transaction(self, lock: Snowflake | None = None, *, payer: Payer = SERVER) -> NoReturn:  # noqa: ARG002 as every database
        """Raise WritesElsewhere."""
        raise WritesElsewhere("this process only reads")

    def synchronize(self) -> None:
        """Call back for each watched table that a commit has changed since the last call."""
        total = self._counters.total
        if total == self._total:
            return
        # Read before the counts of tables: what changes meanwhile is seen again by the next call.
        self._total = total
        for table, watchers in self._watchers.items():
            count = self._counters.of(table)
            if count != self._seen[table]:
                self._seen[table] = count
                for changed in watchers:
                    changed()

    def watch(self, table: str, changed: Callable[[], None]) -> bool:
        """Call back in `synchronize` if commits have changed a table. Returns True."""
        self._seen[table] = -1
        self._watchers.setdefault(table, []).append(changed)
        return True

    def watch_values(self, table: str, changed: Watcher) -> bool:
        """The same as `watch`, without values."""
        return self.watch(table, lambda: changed({}))

    def watch_rows(self, table: str, changed: RowsCallback) -> bool:
        """The same as `watch`, with None for any rows."""
        return self.watch(table, lambda: changed(None))
