"""Reads the state of a database without changing it, also of one that is missing tables or of another version."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
from msgspec import Struct

from moothall.storage.database import StorageError
from moothall.storage.migrations import HEAD, postgresql_revision, sqlite_revision
from moothall.storage.sqlite.files import connect, storage_error

if TYPE_CHECKING:
    import asyncpg

_QUERIES = "SELECT max(last_message_id) FROM channel_activity", "SELECT count(*) FROM jobs WHERE failed_at IS NOT NULL"


class DatabaseState(Struct, frozen=True):
    """What a database tells of itself."""

    version: tuple[int, ...]
    """Of SQLite or the PostgreSQL server: `(3, 54, 0)`, `(15, 4)`."""
    revision: str | None
    """None for a database without tables."""
    newest_message_id: int | None = None
    """None without messages, and unless the revision is this version's."""
    failed_jobs: int = 0
    now_ms: int | None = None
    """The database server's time; None for a file."""
    max_connections: int | None = None
    """How many connections the server takes from users who are not its administrators; None for a file."""

    @property
    def is_older(self) -> bool:
        """Whether it has tables of an earlier version of Moothall."""
        return self.revision is not None and self.revision.isdigit() and int(self.revision) < int(HEAD)

    @property
    def is_current(self) -> bool:
        """Whether its tables are those of this version of Moothall."""
        return self.revision == HEAD


def sqlite_version() -> str:
    """The version of SQLite that the driver carries."""
    return apsw.sqlite_lib_version()


def inspect_sqlite(path: Path) -> DatabaseState:
    """The state of an existing file. Raises StorageError."""
    connection = connect(path, readonly=True)
    try:
        version = tuple(map(int, sqlite_version().split(".")))
        state = DatabaseState(version, sqlite_revision(connection))
        if not state.is_current:
            return state
        newest, failed = (connection.execute(text).get for text in _QUERIES)
        return DatabaseState(version, state.revision, newest_message_id=newest, failed_jobs=failed)
    except apsw.Error as error:
        raise storage_error(error) from error
    finally:
        connection.close()


async def inspect_postgresql(url: str, *, timeout: float = 5.0) -> DatabaseState:
    """The state of a database on a server. Raises StorageError."""
    import asyncpg  # noqa: PLC0415 a driver is imported for its own databases only

    from moothall.storage.postgres.errors import DRIVER_ERRORS, postgres_error  # noqa: PLC0415

    try:
        async with asyncio.timeout(timeout):
            connection = await asyncpg.connect(url)
            try:
                return await _postgresql_state(connection)
            finally:
                connection.terminate()
    except DRIVER_ERRORS as error:
        raise postgres_error(error) from error
    except ValueError as error:  # of the URL
        raise StorageError(str(error)) from error


async def _postgresql_state(connection: "asyncpg.Connection") -> DatabaseState:
    number = connection.get_server_version()
    now_ms = int(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp()) * 1000"))
    limits: Sequence[str] = [
        await connection.fetchval(f"SHOW {name}") for name in ("max_connections", "superuser_reserved_connections")
    ]
    state = DatabaseState(
        (number.major, number.minor),
        await postgresql_revision(connection),
        now_ms=now_ms,
        max_connections=int(limits[0]) - int(limits[1]),
    )
    if not state.is_current:
        return state
    newest, failed = [await connection.fetchval(text) for text in _QUERIES]
    return DatabaseState(
        state.version,
        state.revision,
        newest_message_id=newest,
        failed_jobs=failed,
        now_ms=state.now_ms,
        max_connections=state.max_connections,
    )
