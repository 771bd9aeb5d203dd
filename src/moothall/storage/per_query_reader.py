"""A reader for endpoints that hash passwords or open transactions of their own, which take long."""

from typing import Any, TypeVar

from moothall.runtime.budgets import Payer
from moothall.storage.database import Database, Query

T = TypeVar("T")


class PerQueryReader:
    """A reader that takes a connection from the pool for each statement.

    An endpoint that keeps a connection while it waits for something else keeps others from the database; if it opens a
    second connection meanwhile, it may deadlock.
    """

    __slots__ = ("_database", "_payer")
    committed = True
    caches_rows = False

    def __init__(self, database: Database, payer: Payer) -> None:
        self._database = database
        self._payer = payer

    async def one(self, query: Query[T], /, **values: object) -> T | None:
        """Read the first row; None if there is none."""
        async with self._database.read() as reader:
            return await reader.one(query, **values)

    async def all(self, query: Query[T], /, **values: object) -> list[T]:
        """Read all rows."""
        async with self._database.read() as reader:
            return await reader.all(query, **values)

    async def all_many(self, query: Query[T], /, **values: object) -> list[T]:
        """Read all rows of many."""
        async with self._database.read() as reader:
            return await reader.all_many(query, **values)

    async def all_long(self, query: Query[T], /, **values: object) -> list[T]:
        """Read all rows of a query that takes long. Raises WorkRefused."""
        async with self._database.read(self._payer) as reader:
            return await reader.all_long(query, **values)

    async def all_up_to(self, maximum: int, query: Query[T], /, **values: object) -> list[T]:
        """Read all rows of a query that returns at most `maximum`. Raises WorkRefused."""
        async with self._database.read(self._payer) as reader:
            return await reader.all_up_to(maximum, query, **values)

    async def scalar(self, query: Query[Any], /, **values: object) -> Any:
        """Read the first column of the first row."""
        async with self._database.read() as reader:
            return await reader.scalar(query, **values)

    async def has_written(self) -> bool:
        """Return False: it only reads."""
        return False
