"""Bringing a database to this version's form.

A new database is created from the schema at once; one of an earlier version goes through the
Alembic revisions in `versions`, rendered to SQL and run by our own driver in one transaction. That
both ways end in the same tables is a test. Alembic is imported only when there is something to do.
"""

from collections.abc import Sequence
from typing import Any

import apsw
from sqlalchemy.schema import CreateIndex, CreateTable

from moothall.storage.database import StorageError
from moothall.storage.query import ddl_dialect
from moothall.storage.schema import metadata
from moothall.storage.schema.search import BESIDE

HEAD = "0015"
"""The revision that this version of Moothall works with."""

_LOCK = 0x6D6F6F74
"""The advisory lock of migrations: no snowflake is this small."""
_CREATE_VERSION = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
_SELECT_VERSION = "SELECT version_num FROM alembic_version"
_STAMP = f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')"  # noqa: S608 a constant


def migrate_sqlite(connection: apsw.Connection) -> None:
    """Create the tables or bring them to `HEAD`, in one transaction. Does nothing if they are there.

    Raises StorageError for a database that a later version of Moothall wrote.
    """
    if _sqlite_revision(connection) == HEAD:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements_to_head("sqlite", _sqlite_revision(connection)):
            connection.execute(statement).fetchall()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


async def migrate_postgresql(connection: Any) -> None:
    """The same over an asyncpg connection; processes that start together do it one after another."""
    if await _postgresql_revision(connection) == HEAD:
        return
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        for statement in statements_to_head("postgresql", await _postgresql_revision(connection)):
            await connection.execute(statement)


def statements_to_head(dialect: str, revision: str | None) -> list[str]:
    """The statements that make `HEAD` of a database at a revision; None is an empty database."""
    if revision == HEAD:
        return []
    if revision is None:
        return [*create_statements(dialect), _CREATE_VERSION, _STAMP]
    from moothall.storage.migrations.render import render_upgrade  # noqa: PLC0415 Alembic takes long to import

    return [render_upgrade(dialect, revision, HEAD)]


def create_statements(dialect: str) -> list[str]:
    """The statements that create every table and index, and what stands beside them."""
    compiler = ddl_dialect(dialect)
    statements = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=compiler)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=compiler)) for index in indexes]
    return [*statements, *BESIDE[dialect]]


def _sqlite_revision(connection: apsw.Connection) -> str | None:
    known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'alembic_version'").fetchall()
    return _only(connection.execute(_SELECT_VERSION).fetchall()) if known else None


async def _postgresql_revision(connection: Any) -> str | None:
    known = await connection.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL")
    return _only(await connection.fetch(_SELECT_VERSION)) if known else None


def _only(rows: Sequence[Any]) -> str:
    if len(rows) != 1:
        raise StorageError("the database's migration state cannot be read: alembic_version must have one row")
    return str(rows[0][0])
