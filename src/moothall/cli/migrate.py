"""`moothall migrate`: bring the database's tables to this version's form."""

import asyncio
import os

import click

from moothall.cli.options import STORAGE, takes_settings
from moothall.logs import start_logging
from moothall.settings import Settings


@click.command(short_help="Make the database's tables, or bring them up to date.")
@takes_settings(*STORAGE)
def migrate(settings: Settings) -> None:
    """Make the database's tables, or bring them to this version's form.

    `serve` does the same at its start; on its own it is for upgrades that several servers share. Doing it again
    changes nothing. Data is kept.
    """
    from moothall.cli.database import open_database, storage_problems

    async def work() -> None:
        async with open_database(settings) as database:
            await database.migrate()

    start_logging(settings.log_level, settings.log_format)
    os.umask(0o077)  # the database holds people's messages and addresses
    with storage_problems():
        asyncio.run(work())
    click.echo("The database is up to date.")
