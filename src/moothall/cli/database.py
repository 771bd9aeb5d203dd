"""The database connection of commands that run no server."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from moothall.cli.options import fail
from moothall.settings import Settings
from moothall.storage.database import Database, NewerDatabase, StorageError
from moothall.storage.engines import database_at
from moothall.storage.inspection import inspect_postgresql, inspect_sqlite
from moothall.storage.migrations import refuse_newer

_NEWER: Final = 3
"""The exit code for a database of a later version, with which `moothall serve` ends too."""


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the settings' database, and close it at the end.

    Raises NewerDatabase for one of a later version of Moothall, StorageError, or OSError for the data folder.
    """
    if settings.database_path is not None:
        settings.database_path.parent.mkdir(parents=True, exist_ok=True)
    # One connection for the command, one for a query within another.
    database = database_at(settings.database, connections=2)
    await database.open()
    try:
        path = settings.database_path
        state = await inspect_postgresql(settings.database) if path is None else inspect_sqlite(path)
        refuse_newer(state.revision)
        yield database
    finally:
        await database.close()


@contextmanager
def exit_on_storage_error() -> Iterator[None]:
    """End the program with the reason on a database or file error.

    The exit code is 3 for a database of a later version of Moothall, else 1.
    """
    try:
        yield
    except NewerDatabase as error:
        fail(str(error), _NEWER)
    except (StorageError, OSError) as error:
        fail(str(error))
