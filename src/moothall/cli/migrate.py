"""`moothall migrate`: bring the database's tables to this version's form."""

import asyncio

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.logs import start_logging
from moothall.settings import Settings


@click.command(short_help="Make the database's tables, or bring them up to date.")
@takes_settings(*STORAGE)
def migrate(settings: Settings) -> None:
    """Make the database's tables, or bring them to this version's form.

    `serve` does the same at its start; on its own it is for upgrades that several servers share. Doing it again
    changes nothing. Data is kept.
    """
    from moothall.engine import choose_database
    from moothall.storage.database import StorageError

    start_logging(settings.log_level, settings.log_format)

    async def work() -> None:
        database = choose_database(settings)
        await database.open()
        try:
            await database.migrate()
        finally:
            await database.close()

    try:
        asyncio.run(work())
    except (StorageError, OSError) as error:
        fail(str(error))
    click.echo("The database is up to date.")
