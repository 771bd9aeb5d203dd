"""`moothall migrate`: create the database's tables, or migrate them to this version."""

import asyncio
import os

import click

from moothall.cli.options import STORAGE, takes_settings
from moothall.logs import start_logging
from moothall.settings import Settings


@click.command(short_help="Create the database's tables, or migrate them to this version.")
@takes_settings(*STORAGE)
def migrate(settings: Settings) -> None:
    """Create the database's tables, or migrate them to this version.

    `serve` does the same when it starts; run it on its own before upgrading several servers of one database. A second
    run changes nothing. Data is kept.
    """
    from moothall.cli.database import exit_on_storage_error, open_database

    async def work() -> None:
        async with open_database(settings) as database:
            await database.migrate()

    start_logging(settings.log_level, settings.log_format)
    os.umask(0o077)  # the database contains private messages and email addresses
    with exit_on_storage_error():
        asyncio.run(work())
    click.echo("The database is up to date.")
