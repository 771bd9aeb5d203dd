"""SQLite for tests over connections that outlive them.

A file of its own costs a test more than its requests: a copy of every table, two connections that each read the whole
schema, and every statement prepared again. So one file stays open for a process of the suite, and its rows are deleted
after each test. After a test that leaves the file or its connections otherwise than it found them, a new one is made.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import apsw

from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.storage.database import StorageError
from moothall.storage.schema import metadata
from moothall.storage.sqlite.engine import LongReads, SqliteDatabase
from moothall.storage.sqlite.files import connect
from moothall.storage.sqlite.group_commit import Writer

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 a folder of its own is made in it
"""Where SQLite waits for no disk. Nothing tests that rows of `database` survive the end of the machine."""
# Deleted messages leave their changes to the index of messages.
_EMPTYING: Final = tuple(f'DELETE FROM "{table}"' for table in (*metadata.tables, "message_changes"))  # noqa: S608
_EMPTYING_INDEX: Final = "INSERT INTO message_index (message_index) VALUES ('delete-all')"


def memory_folder() -> TemporaryDirectory[str]:
    """A folder where writing waits for no disk, if the machine has one."""
    return TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None)


class SharedFile:
    """One database file with every table, and the connections to it while no test uses them."""

    def __init__(self, template: Path) -> None:
        self._template = template
        self._folder: TemporaryDirectory[str] | None = None
        self._idle: tuple[apsw.Connection, apsw.Connection] | None = None
        self._schema_version: object = None

    @property
    def path(self) -> Path:
        """The file, which is empty when a test begins."""
        if self._folder is None:
            self._folder = memory_folder()
            shutil.copy(self._template, Path(self._folder.name, "moothall.db"))
        return Path(self._folder.name, "moothall.db")

    def take(self) -> tuple[apsw.Connection, apsw.Connection]:
        """A connection that writes, and one that only reads."""
        if self._idle is None:
            self._idle = connect(self.path), connect(self.path, readonly=True)
        (writing, reading), self._idle = self._idle, None
        if self._schema_version is None:
            self._schema_version = writing.execute("PRAGMA schema_version").get
        return writing, reading

    def put(self, writing: apsw.Connection, reading: apsw.Connection) -> None:
        """Keep two connections for the next test, or close them if there are such."""
        writing.set_update_hook(None)
        if self._idle is None:
            self._idle = writing, reading
        else:
            writing.close()
            reading.close()

    def empty(self) -> None:
        """Delete every row, or the file if that cannot be done or its tables have changed."""
        if self._folder is None:
            return
        try:
            writing, reading = self.take()
            self._idle = writing, reading
            writing.execute("BEGIN IMMEDIATE")
            for statement in _EMPTYING:
                writing.execute(statement)
            if writing.execute("SELECT 1 FROM message_index_docsize LIMIT 1").get is not None:
                writing.execute(_EMPTYING_INDEX)
            writing.execute("COMMIT")
            emptied = writing.execute("PRAGMA schema_version").get == self._schema_version
        except (apsw.Error, StorageError):
            emptied = False
        if not emptied:
            self.close()

    def close(self) -> None:
        """Close the connections and delete the file."""
        for connection in self._idle or ():
            connection.close(True)
        self._idle = self._schema_version = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


class SharedSqlite(SqliteDatabase):
    """The database of one test, in the shared file."""

    def __init__(self, shared: SharedFile) -> None:
        super().__init__(shared.path)
        self._shared = shared

    async def open(self) -> None:
        """Begin with the connections that the last test has left."""
        if self._writer is None:
            writing, self._connection = self._shared.take()
            self._writer = Writer(self.path, writing, self._observe, self._rows.note, self._count)
            self._long = LongReads(self.path, self._meter)
            self._cursor = self._connection.cursor()

    async def close(self) -> None:
        """Wait for running commits and leave the connections to the next test."""
        writer, self._writer, self._cursor = self._writer, None, None
        if writer is None or self._long is None or self._connection is None:
            return
        await in_lifecycle_thread(self._long.close)
        await writer.stop()
        self._shared.put(writer.connection, self._connection)
