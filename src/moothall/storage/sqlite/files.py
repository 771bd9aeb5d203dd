"""Opens SQLite files, and maps their errors to StorageErrors."""

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from moothall.storage.database import ConstraintFailed, StorageError, StorageFull, StorageUnavailable

_STATEMENT_CACHE = 500
_READER_PATIENCE_MS = 1_000


def connect(path: Path, *, readonly: bool = False, cache_kib: int = 32_000) -> apsw.Connection:
    """Open a database in WAL mode; without `readonly` it is created if need be. Raises StorageError.

    At most `cache_kib` of pages stay in memory; the system caches the file besides.

    A connection for writing never waits for another process's lock: the group commit tries again
    itself, without blocking the event loop.
    """
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    try:
        connection = apsw.Connection(str(path), flags=flags, statementcachesize=_STATEMENT_CACHE)
        # Otherwise SQLite plans a join again for every set of values: 14 us, not 1.6.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.set_busy_timeout(_READER_PATIENCE_MS)
        connection.execute(f"PRAGMA cache_size = -{cache_kib}").fetchall()
        connection.execute("PRAGMA temp_store = MEMORY").fetchall()
        if not readonly:
            # FULL: in WAL mode anything less may forget acknowledged commits when the power fails.
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = FULL").fetchall()
            # What is deleted is overwritten with zeros.
            connection.execute("PRAGMA secure_delete = ON").fetchall()
            connection.execute("PRAGMA journal_size_limit = 67108864").fetchall()
            connection.set_busy_timeout(0)
    except apsw.Error as error:
        raise storage_error(error) from error
    return connection


def truncate_log(path: Path) -> bool:
    """Move the write-ahead log into the file, and cut it to nothing; False if something reads or writes meanwhile.

    Raises StorageError.
    """
    connection = connect(path)
    try:
        connection.set_busy_timeout(_READER_PATIENCE_MS)
        (busy, *_), *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except apsw.Error as error:
        raise storage_error(error) from error
    finally:
        connection.close()
    return not busy


@contextmanager
def serving_alone(path: Path) -> Iterator[None]:
    """Lock a file for one serving process; commands may still use it. Raises OSError if another process serves.

    A server remembers what only it changes, and only its own sessions hear of that. The lock ends with the
    process, however that ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"another server serves from {path}") from None
        yield


def storage_error(error: apsw.Error | OverflowError) -> StorageError:
    """The StorageError for an error of SQLite."""
    if isinstance(error, apsw.FullError) or _out_of_space(error):
        return StorageFull("the database's disk is full")
    if isinstance(error, apsw.ConstraintError):
        return ConstraintFailed(str(error))
    if isinstance(error, apsw.SQLError | apsw.TooBigError | OverflowError):
        return StorageError(str(error))
    if isinstance(error, apsw.NotADBError):
        # SQLite itself says "not an error" where it copies such a file.
        return StorageUnavailable("the file is no SQLite database, or its beginning is damaged")
    return StorageUnavailable(f"{type(error).__name__}: {error}")


def _out_of_space(error: Exception) -> bool:
    # Growing the shared-memory file fails as an I/O error; the operating system knows why.
    return isinstance(error, apsw.IOError) and getattr(error, "os_errno", 0) in (errno.ENOSPC, errno.EDQUOT)
