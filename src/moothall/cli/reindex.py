"""`moothall reindex`: build the index of message searches anew."""

import asyncio
from contextlib import nullcontext

import click

from moothall.cli.options import STORAGE, takes_settings
from moothall.logs import start_logging
from moothall.settings import Settings


@click.command(short_help="Build the index of message searches anew.")
@takes_settings(*STORAGE)
def reindex(settings: Settings) -> None:
    """Build the index of message searches anew, in place of the one that is there. Stop all servers first.

    The server keeps the index up to date by itself; this is for a database whose messages were written by another
    program, or whose searches are wrong or slow. A million messages take about a minute. If the command is interrupted,
    the next server completes the index while it runs.
    """
    from moothall.cli.database import exit_on_storage_error, open_database
    from moothall.resources.message.search.rebuild import rebuild_index
    from moothall.storage.sqlite.files import serving_alone

    async def work() -> int:
        async with open_database(settings) as database:
            await database.migrate()
            return await rebuild_index(database, lambda done: click.echo(f"{done:,} messages", err=True))

    start_logging(settings.log_level, settings.log_format)
    with (
        exit_on_storage_error(),
        nullcontext() if settings.database_path is None else serving_alone(settings.database_path),
    ):
        count = asyncio.run(work())
    click.echo(f"messages indexed: {count:,}")
