"""The protocols that both engines implement, and the building blocks of queries.

A read sees committed data. A transaction sees its own writes and is isolated from others: on SQLite all transactions
of the process run one after another, on PostgreSQL those with the same `lock`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, TypeVar

from moothall.objects.ids import Snowflake
from moothall.runtime.budgets import SERVER, Payer
from moothall.storage.query import Query, update_columns
from moothall.storage.sql import has_prefix, in_list, insert_ignore, upsert

__all__ = [
    "CommitObserver",
    "CommitUnknown",
    "ConstraintFailed",
    "Database",
    "Query",
    "Reader",
    "StorageConflict",
    "StorageError",
    "StorageFull",
    "StorageUnavailable",
    "Transaction",
    "WritesElsewhere",
    "has_prefix",
    "in_list",
    "insert_ignore",
    "update_columns",
    "upsert",
]

T = TypeVar("T")

FEW_ROWS: Final = 100
"""So many rows of an index are read and made in a fraction of a millisecond."""

CommitObserver = Callable[[int, float], None]
"""Called after every commit with its number of transactions and its duration in seconds."""


class StorageError(Exception):
    """A database error. The transaction is rolled back."""


class StorageFull(StorageError):
    """The disk is full."""


class StorageUnavailable(StorageError):
    """The database cannot be reached, or its disk fails."""


class CommitUnknown(StorageUnavailable):
    """Whether the transaction was committed is not known yet: it must be neither repeated nor undone."""


class NewerDatabase(StorageError):
    """The tables are of a later version of Moothall, which this one must not change."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"the database is of a later version of Moothall (its revision is {revision}): install that version, "
            "or restore the backup that was made before the upgrade"
        )


class StorageConflict(StorageError):
    """A conflict with another transaction; repeating the whole transaction may succeed."""


class WritesElsewhere(Exception):
    """A transaction was requested in a process that only reads: another one must do what needs it."""


class ConstraintFailed(StorageError):
    """A violated constraint: a duplicate unique key, or NULL in a column that must have a value."""


class Reader(Protocol):
    """Runs queries. Values are passed by parameter name; TypeError if one is missing or unknown."""

    committed: bool
    """Whether it sees committed data only: False inside a transaction."""
    caches_rows: bool
    """Whether the rows of queries with a key are cached, so that such a query for what seldom changes and another one
    for the rest cost less than one for both."""

    async def one(self, query: Query[T], /, **values: object) -> T | None:
        """The first row. A query for one row says LIMIT 1 unless it names a whole key."""

    async def all(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row."""

    async def all_many(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row of many: outside of transactions, others run while the rows are made and before they are used."""

    async def all_long(self, query: Query[T], /, **values: object) -> list[T]:
        """Every row of a long-running query, without blocking other requests.

        Its payer is charged the CPU time in which SQLite runs it, or the time that PostgreSQL takes. Raises OverBudget
        for one whose budget is used up, and Overloaded if too many long reads wait.
        """

    async def all_up_to(self, maximum: int, query: Query[T], /, **values: object) -> list[T]:
        """Every row of an indexed query that returns at most `maximum`: as `all` for few, else as `all_long`."""

    async def scalar(self, query: Query[Any], /, **values: object) -> Any:
        """The first column of the first row, or None without one."""

    async def has_written(self) -> bool:
        """Whether it is a transaction that may have changed a row, and hence may see what no other reader will."""


class Transaction(Reader, Protocol):
    """Runs queries that write.

    A statement that raises ends the transaction: nothing else may run in it, and leaving it raises a swallowed error
    again. Requests that need no transaction run between the statements of one that takes long.
    """

    async def execute(self, query: Query[Any], /, **values: object) -> int:
        """Run a statement; return how many rows it changed."""

    async def write(self, query: Query[Any], /, **values: object) -> None:
        """Run a statement of which it does not matter how many rows it changes.

        The engine may run it together with later ones, or with the commit, as long as no statement can tell; what it
        raises is raised then. Of a row that other transactions change too the query has the `key`, so that no two
        transactions wait for each other.
        """

    async def execute_many(self, query: Query[Any], rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each set of values."""

    async def write_many(self, query: Query[Any], rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each set of values, as `write` does."""

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call back once the writes are durable, before the request is answered.

        Callbacks run in the order of the commits, also if the request is cancelled during its commit; they must not
        raise.
        """


class Database(Protocol):
    """A database: opened once, used by every request of the process."""

    dialect: str
    """"sqlite" or "postgresql"."""
    observe_commit: CommitObserver | None
    on_late_commit: list[Callable[[], None]]
    """Called after a commit of which this process learned too late: others may have been announced before it."""

    def stuck(self) -> str | None:
        """What has been under way for seconds and may never end; None for nothing."""

    async def open(self) -> None:
        """Connect. Raises StorageUnavailable."""

    async def close(self) -> None:
        """Wait for running commits and disconnect."""

    async def migrate(self) -> None:
        """Create the tables or migrate them to this version. Idempotent."""

    async def settled(self) -> None:
        """Wait until no transaction and no commit is running."""

    async def empty_log(self) -> bool:
        """Move the write-ahead log into the file, and cut it to nothing, so that no page of before is left in it.

        False if something reads or writes meanwhile. Elsewhere than on SQLite it does nothing.
        """

    def read(self, payer: Payer = SERVER) -> AbstractAsyncContextManager[Reader]:
        """A reader. Each statement sees everything committed before it. Long reads are charged to `payer`."""

    def transaction(
        self, lock: Snowflake | None = None, *, payer: Payer = SERVER
    ) -> AbstractAsyncContextManager[Transaction]:
        """A transaction: rolled back if its body raises, durable once it is left.

        `lock` is the aggregate that it changes. A transaction inside another of the same task raises RuntimeError.
        Long reads are charged to `payer`.
        """

    def watch(self, table: str, changed: Callable[[], None]) -> bool:
        """Call back after each commit of this process that wrote a table, before the request is answered.

        Returns False if other processes may write the table too; then rows of it must not be cached.
        """

    def watch_values(self, table: str, changed: Callable[[Mapping[str, object]], None]) -> bool:
        """The same as `watch`, but call back for each statement that wrote the table, with its values by name."""

    def watch_rows(self, table: str, changed: Callable[[Collection[int] | None], None]) -> bool:
        """Call back after each commit of this process with the ids of the rows of a table that it wrote or deleted.

        The table has a single id as its key; None stands for any rows. Returns False if other processes may write the
        table too, as `watch`.
        """
