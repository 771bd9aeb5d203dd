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

    It has every change that was answered before the command began. An existing FILE is replaced once the copy is
    complete. Only its owner may read it. It lacks uploaded files and the server key: copy the data folder's `files` and
    `server.key` too.
    """
    from moothall.cli.database import exit_on_storage_error
    from moothall.storage.sqlite import backup as storage

    database = _sqlite_path(settings, "pg_dump")
    if file.exists() and database.exists() and file.samefile(database):
        fail(f"{file} is the database itself")
    os.umask(0o077)  # it contains private messages and email addresses
    with exit_on_storage_error():
        storage.backup(database, file)
    click.echo(f"Copied {database} to {file}.")


@click.command(short_help="Replace the SQLite database by a copy; no server may be running.")
@takes_settings(*STORAGE)
@click.argument("file", type=_FILE)
def restore(settings: Settings, file: Path) -> None:
    """Replace the SQLite database by FILE, a copy made by `moothall backup`.

    No server may be running on it. The present database is lost; a damaged FILE changes nothing.
    """
    from moothall.cli.database import exit_on_storage_error
    from moothall.storage.sqlite import backup as storage

    database = _sqlite_path(settings, "pg_restore")
    os.umask(0o077)
    with exit_on_storage_error():
        database.parent.mkdir(parents=True, exist_ok=True)
        storage.restore(file, database)
    click.echo(f"Restored {database} from {file}.")


def _sqlite_path(settings: Settings, instead: str) -> Path:
    if settings.database_path is None:
        fail(f"this is for SQLite; with PostgreSQL, use {instead}")
    return settings.database_path
