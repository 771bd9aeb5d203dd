"""The protocol that both engines answer, and what a query is written with.

A read sees committed data. A transaction sees its own writes and keeps everyone else's out of its
way: on SQLite all transactions of the process run one after another, on PostgreSQL those that
name the same `lock` do.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from moothall.objects.ids import Snowflake
from moothall.storage.columns import has_prefix, in_list
from moothall.storage.query import Query, insert_ignore, update_columns, upsert

__all__ = [
    "CommitObserver",
    "ConstraintFailed",
    "Database",
    "Query",
    "Reader",
    "StorageConflict",
    "StorageError",
    "StorageFull",
    "StorageUnavailable",
    "Transaction",
    "has_prefix",
    "in_list",
    "insert_ignore",
    "update_columns",
    "upsert",
]

T = TypeVar("T")

CommitObserver = Callable[[int, float], None]
"""Told of every commit: how many transactions it held, and the seconds that it took."""


class StorageError(Exception):
    """The database could not do what it was asked. Nothing of the transaction remains."""


class StorageFull(StorageError):
    """There is no room for the write."""


class StorageUnavailable(StorageError):
    """The database cannot be reached, or its disk fails."""


class StorageConflict(StorageError):
    """Another transaction was in the way; the same request may succeed when repeated whole."""


class ConstraintFailed(StorageError):
    """A unique key is taken already, or a column that must have a value got none."""


class Reader(Protocol):
    """Runs queries. Parameters are named as the query names them; TypeError if they do not fit."""

    committed: bool
    """Whether it sees committed data only: False inside a transaction."""

    async def one(self, query: Query[T], /, **values: Any) -> T | None:
        """The first row. A query for one row says LIMIT 1 unless it names a whole key."""

    async def all(self, query: Query[T], /, **values: Any) -> list[T]:
        """Every row."""

    async def all_long(self, query: Query[T], /, **values: Any) -> list[T]:
        """Every row of a query that takes long, without holding up other requests meanwhile."""

    async def scalar(self, query: Query[Any], /, **values: Any) -> Any:
        """The first column of the first row, or None without one."""


class Transaction(Reader, Protocol):
    """Runs queries that write.

    A statement that raises ends the transaction: nothing else may be run in it, and leaving it
    raises that error again if it was swallowed.
    """

    async def execute(self, query: Query[Any], /, **values: Any) -> int:
        """Run a statement; how many rows it changed."""

    async def execute_many(self, query: Query[Any], rows: Iterable[Mapping[str, Any]], /) -> None:
        """Run a statement once for each set of values."""

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call back once the writes are durable, before anyone is answered.

        Callbacks run in the order of the commits, and also when the request is cancelled while its
        commit is under way; they must not raise.
        """


class Database(Protocol):
    """A database: opened once, used by every request of the process."""

    dialect: str
    """"sqlite" or "postgresql"."""
    observe_commit: CommitObserver | None

    async def open(self) -> None:
        """Connect. Raises StorageUnavailable."""

    async def close(self) -> None:
        """Finish what is being committed and disconnect."""

    async def migrate(self) -> None:
        """Create the tables or bring them to this version's form. Does nothing the second time."""

    async def settled(self) -> None:
        """Wait until no transaction is running and no commit under way."""

    def read(self) -> AbstractAsyncContextManager[Reader]:
        """A reader. Each statement sees everything committed before it."""

    def transaction(self, lock: Snowflake | None = None) -> AbstractAsyncContextManager[Transaction]:
        """A transaction: rolled back if its body raises, durable once it is left.

        `lock` is the aggregate that it changes. A transaction inside another of the same task is an
        error (RuntimeError), as it would wait for itself.
        """

    def watch(self, table: str, changed: Callable[[], None]) -> bool:
        """Call back after each commit of this process that wrote a table, before anyone is answered.

        False where other serving processes may write it as well: then nothing read from it may be
        remembered.
        """
