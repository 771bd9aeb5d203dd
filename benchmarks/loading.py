"""Writing many rows into a new database, as fast as its engine can: without triggers, without waiting for the disk."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import apsw
import asyncpg
from sqlalchemy import Table, insert

from moothall.storage.engines import database_at
from moothall.storage.query import Query

Rows = Iterable[Mapping[str, Any]]
_CHUNK = 50_000


class Loader(Protocol):
    """Inserts rows into tables."""

    async def insert(self, table: Table, rows: Rows) -> None:
        """Insert rows; columns that have a default or may be NULL can be left out."""


@cache
def _insert(table: Table) -> Query[Any]:
    return Query(insert(table))


class _SqliteLoader:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def insert(self, table: Table, rows: Rows) -> None:
        plan = _insert(table).plan("sqlite")
        self._connection.executemany(plan.text, (plan.bind(dict(row)) for row in rows))


class _PostgresLoader:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def insert(self, table: Table, rows: Rows) -> None:
        plan = _insert(table).plan("postgresql")
        match = re.search(r"\(([^)]*)\)", plan.text)
        columns = [] if match is None else [name.strip(' "') for name in match[1].split(",")]
        for chunk in _chunks(rows):
            records = [plan.bind(dict(row)) for row in chunk]
            await self._connection.copy_records_to_table(table.name, records=records, columns=columns)


def _chunks(rows: Rows) -> Iterator[list[Mapping[str, Any]]]:
    chunk: list[Mapping[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


@asynccontextmanager
async def loading(url: str) -> AsyncIterator[Loader]:
    """Create the tables of a new database, and load it; indexes and triggers of messages are made at the end.

    A process that ends before leaves a database that cannot be used.
    """
    database = database_at(url)
    await database.open()
    await database.migrate()
    await database.close()
    if database.dialect == "sqlite":
        with _sqlite(Path(url.removeprefix("sqlite:///"))) as file:
            yield _SqliteLoader(file)
        return
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("ALTER TABLE messages DISABLE TRIGGER USER; SET synchronous_commit = off")
        yield _PostgresLoader(connection)
        await connection.execute("ALTER TABLE messages ENABLE TRIGGER USER; ANALYZE")
    finally:
        await connection.close()


@contextmanager
def _sqlite(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        connection.pragma("journal_mode", "off")
        connection.pragma("synchronous", 0)
        connection.pragma("locking_mode", "exclusive")
        connection.pragma("cache_size", -500_000)
        later = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = 'messages' AND type IN ('index', 'trigger')"
            " AND sql IS NOT NULL"
        ).fetchall()
        for kind, name, _ in later:
            connection.execute(f"DROP {kind} {name}")
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
        for _, _, statement in later:
            connection.execute(str(statement))
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()
