"""The database connection of commands that run no server."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from moothall.cli.options import fail
from moothall.settings import Settings
from moothall.storage.database import Database, StorageError
from moothall.storage.engines import database_at


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the settings' database, and close it at the end. Raises StorageError, or OSError for the data folder."""
    if settings.database_path is not None:
        settings.database_path.parent.mkdir(parents=True, exist_ok=True)
    # One connection for the command, one for a query within another.
    database = database_at(settings.database, connections=2)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@contextmanager
def exit_on_storage_error() -> Iterator[None]:
    """End the program with the reason on a database or file error."""
    try:
        yield
    except (StorageError, OSError) as error:
        fail(str(error))
