"""Backups of a SQLite database: copying it while the server runs, restoring it while it does not.

Both functions block; PostgreSQL has pg_dump and pg_restore for this.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from moothall.storage.database import StorageError, StorageUnavailable
from moothall.storage.sqlite.files import storage_error


def backup(database: Path, copy: Path) -> None:
    """Write a consistent copy of a database that may be in use.

    The copy has everything committed before the call. It replaces an existing file once it is complete and on disk.
    Raises StorageError.
    """
    _require(database)
    with _replacing(copy) as unfinished:
        _copy(database, unfinished)


def restore(copy: Path, database: Path) -> None:
    """Replace a database, which no server may have open, by a copy.

    Raises StorageError for a damaged copy or another program's file, StorageUnavailable if the database is in use;
    the database is then unchanged.
    """
    _require(copy)
    _check(copy)
    with _replacing(database) as unfinished:
        _copy(copy, unfinished)
        _require_unused(database)
        for suffix in ("-wal", "-shm"):
            # Files of a crash: SQLite would apply them to the copy.
            Path(f"{database}{suffix}").unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    try:
        reading, writing = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE), apsw.Connection(str(target))
        reading.set_busy_timeout(5_000)
        try:
            # All pages in one step are one snapshot, whatever is written meanwhile.
            with writing.backup("main", reading, "main") as pages:
                pages.step()
        finally:
            writing.close()
            reading.close()
    except apsw.Error as error:
        raise storage_error(error) from error


def _check(copy: Path) -> None:
    try:
        connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            answer = connection.execute("PRAGMA integrity_check(1)").fetchall()
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE name = 'alembic_version'").fetchall()
        finally:
            connection.close()
    except apsw.Error as error:
        raise StorageError(f"{copy} is not a database that can be read: {error}") from error
    if answer != [("ok",)]:
        raise StorageError(f"{copy} is damaged: {answer[0][0]}")
    if not tables:
        raise StorageError(f"{copy} is not a database of Moothall")


def _require(path: Path) -> None:
    if not path.is_file():
        raise StorageError(f"there is no file {path}")


def _require_unused(database: Path) -> None:
    if not database.exists():
        return
    try:
        connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # Leaving WAL mode needs exclusive access, and writes the log into the file.
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            connection.close()
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StorageUnavailable(f"{database} is in use: stop the server first") from error
    except apsw.Error:
        # A database too damaged to be opened can be replaced.
        return


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield a file next to a path, which replaces the path's file if the body succeeds."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        _sync(unfinished)
        unfinished.replace(path)
        _sync(path.parent)
    finally:
        for leftover in (unfinished, *(Path(f"{unfinished}{suffix}") for suffix in ("-wal", "-shm", "-journal"))):
            leftover.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
