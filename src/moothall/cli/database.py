"""The database of a command that serves nothing."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from moothall.cli.options import fail
from moothall.settings import Settings
from moothall.storage.database import Database, StorageError
from moothall.storage.engines import database_at


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database that the settings name, closed at the end. Raises StorageError, or OSError for the data folder."""
    if settings.database_path is not None:
        settings.database_path.parent.mkdir(parents=True, exist_ok=True)
    # A command works alone: one connection for it, one to spare for a query within another.
    database = database_at(settings.database, connections=2)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@contextmanager
def storage_problems() -> Iterator[None]:
    """End the program with the reason if the database or a file refuses."""
    try:
        yield
    except (StorageError, OSError) as error:
        fail(str(error))
