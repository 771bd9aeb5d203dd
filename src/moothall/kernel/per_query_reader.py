"""Reading for those who take their time: rows that hash passwords or open transactions of their own."""

from typing import Any, TypeVar

from moothall.storage.database import Database, Query

T = TypeVar("T")


class PerQueryReader:
    """A reader that holds a connection for single statements only.

    A row that waits for something else while it holds one of a pool's few connections keeps others from
    the database; one that then asks for a second connection may wait for itself.
    """

    __slots__ = ("_database",)
    committed = True

    def __init__(self, database: Database) -> None:
        self._database = database

    async def one(self, query: Query[T], /, **values: Any) -> T | None:
        """The first row."""
        async with self._database.read() as reader:
            return await reader.one(query, **values)

    async def all(self, query: Query[T], /, **values: Any) -> list[T]:
        """Every row."""
        async with self._database.read() as reader:
            return await reader.all(query, **values)

    async def all_long(self, query: Query[T], /, **values: Any) -> list[T]:
        """Every row of a query that takes long."""
        async with self._database.read() as reader:
            return await reader.all_long(query, **values)

    async def scalar(self, query: Query[Any], /, **values: Any) -> Any:
        """The first column of the first row."""
        async with self._database.read() as reader:
            return await reader.scalar(query, **values)
