"""Migrations: create the tables of a new database, or upgrade those of an earlier version.

A new database is created by the statements in `tables_sqlite.sql` or `tables_postgresql.sql`, which `make tables`
writes from the schema. A database of an earlier version runs the Alembic revisions in `versions`, rendered to SQL, in
one transaction of the engine's driver, with the rows that a revision changes in Python (`rewrites`). A test checks that
both ways result in the same tables. Alembic is imported only for an upgrade.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from moothall.storage.database import NewerDatabase, StorageError
from moothall.storage.migrations.rewrites import Rewrite

if TYPE_CHECKING:
    import asyncpg

HEAD = "0073"
"""The revision that this version of Moothall works with."""

_LOCK = 0x6D6F6F74
"""The advisory lock of migrations: no snowflake is this small."""
_CREATE_VERSION = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
_SELECT_VERSION = "SELECT version_num FROM alembic_version"
_STAMP = f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')"  # noqa: S608 a constant


def migrate_sqlite(connection: apsw.Connection) -> None:
    """Create the tables or upgrade them to `HEAD`, in one transaction. Idempotent.

    Raises NewerDatabase for one that a later version of Moothall wrote, and StorageError.
    """
    if sqlite_revision(connection) == HEAD:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in steps_to_head("sqlite", sqlite_revision(connection)):
            if isinstance(step, str):
                connection.execute(step).fetchall()
                continue
            for statement, values in step.changes(connection.execute(step.select).fetchall()):
                connection.executemany(statement, values)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


async def migrate_postgresql(connection: "asyncpg.Connection") -> None:
    """As `migrate_sqlite`, over an asyncpg connection. A lock makes concurrent processes migrate one after another."""
    if await postgresql_revision(connection) == HEAD:
        return
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        for step in steps_to_head("postgresql", await postgresql_revision(connection)):
            if isinstance(step, str):
                await connection.execute(step)
                continue
            for statement, values in step.changes(list(map(tuple, await connection.fetch(step.select)))):
                await connection.executemany(statement, values)


def statements_to_head(dialect: str, revision: str | None) -> list[str]:
    """The statements of `steps_to_head`, without rewrites of rows in Python."""
    return [step for step in steps_to_head(dialect, revision) if isinstance(step, str)]


def steps_to_head(dialect: str, revision: str | None) -> list[str | Rewrite]:
    """The statements and rewrites that upgrade a database from a revision to `HEAD`; None is an empty database.

    Raises NewerDatabase.
    """
    refuse_newer(revision)
    if revision == HEAD:
        return []
    if revision is None:
        return [create_script(dialect), _CREATE_VERSION, _STAMP]
    from moothall.storage.migrations.render import steps_between  # noqa: PLC0415 Alembic takes long to import

    return steps_between(dialect, revision, HEAD)


def is_newer(revision: str | None) -> bool:
    """Whether a revision is one of a later version of Moothall."""
    return revision is not None and revision.isdigit() and int(revision) > int(HEAD)


def refuse_newer(revision: str | None) -> None:
    """Raise NewerDatabase for a revision of a later version of Moothall."""
    if revision is not None and is_newer(revision):
        raise NewerDatabase(revision)


def create_script(dialect: str) -> str:
    """The statements that create every table and index, and those of message search."""
    return script_path(dialect).read_text(encoding="utf-8")


def script_path(dialect: str) -> Path:
    """The file of `create_script`."""
    return Path(__file__).with_name(f"tables_{dialect}.sql")


def sqlite_revision(connection: apsw.Connection) -> str | None:
    """The revision of a database; None for one without tables."""
    known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'alembic_version'").fetchall()
    return _only(connection.execute(_SELECT_VERSION).fetchall()) if known else None


async def postgresql_revision(connection: "asyncpg.Connection") -> str | None:
    """As `sqlite_revision`, over an asyncpg connection."""
    known = await connection.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL")
    return _only(await connection.fetch(_SELECT_VERSION)) if known else None


def _only(rows: Sequence[Any]) -> str:
    if len(rows) != 1:
        raise StorageError("the database's migration state cannot be read: alembic_version must have one row")
    return str(rows[0][0])
