"""Which database engine the settings ask for."""

from moothall.settings import Settings
from moothall.storage.database import Database


def choose_database(settings: Settings) -> Database:
    """The database that the settings name, not yet open: PostgreSQL at `database_url`, else SQLite in `data`.

    Makes the data folder. Raises OSError if that cannot be done.
    """
    if settings.database_url is not None:
        from moothall.storage.postgres import PostgresDatabase  # noqa: PLC0415  # each driver only where it is used

        return PostgresDatabase(settings.database_url)
    from moothall.storage.sqlite import SqliteDatabase  # noqa: PLC0415

    settings.data.mkdir(parents=True, exist_ok=True)
    return SqliteDatabase(settings.database_path)
