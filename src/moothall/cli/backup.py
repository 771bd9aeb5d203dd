"""`moothall backup` and `moothall restore`: copies of the SQLite database."""

import os
from pathlib import Path

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.settings import Settings

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(short_help="Write a consistent copy of the SQLite database, also while the server runs.")
@takes_settings(*STORAGE)
@click.argument("file", type=_FILE)
def backup(settings: Settings, file: Path) -> None:
    """Write a consistent copy of the SQLite database to FILE, also while the server runs.

    It holds everything answered before the command began. A FILE that exists is replaced once the new copy is whole.
    Only its owner may read it. UploadedFiles files and the server key are not in it: copy the data folder's `files` and
    `server.key` too.
    """
    from moothall.cli.database import storage_problems
    from moothall.storage import backup as storage

    database = _sqlite(settings, "pg_dump")
    if file.exists() and database.exists() and file.samefile(database):
        fail(f"{file} is the database itself")
    os.umask(0o077)  # it holds people's messages and addresses
    with storage_problems():
        storage.backup(database, file)
    click.echo(f"Copied {database} to {file}.")


@click.command(short_help="Put a copy in the place of the SQLite database; no server may be running.")
@takes_settings(*STORAGE)
@click.argument("file", type=_FILE)
def restore(settings: Settings, file: Path) -> None:
    """Put the copy in FILE, made by `moothall backup`, in the place of the SQLite database.

    No server may be running on it. What the database held is gone afterwards; a damaged FILE changes nothing.
    """
    from moothall.cli.database import storage_problems
    from moothall.storage import backup as storage

    database = _sqlite(settings, "pg_restore")
    os.umask(0o077)
    with storage_problems():
        database.parent.mkdir(parents=True, exist_ok=True)
        storage.restore(file, database)
    click.echo(f"Restored {database} from {file}.")


def _sqlite(settings: Settings, instead: str) -> Path:
    if settings.database_path is None:
        fail(f"this is for SQLite; with PostgreSQL, use {instead}")
    return settings.database_path
