"""`moothall serve`: the server."""

import gc
import os

import click

from moothall.cli.options import FLAGGED, fail, takes_settings
from moothall.logs import start_logging
from moothall.settings import Settings


@click.command(short_help="Serve the API, the gateway and files.")
@takes_settings(*FLAGGED)
def serve(settings: Settings) -> None:
    """Serve the API, the gateway and files until stopped by SIGINT or SIGTERM.

    The data folder and the database's tables are created or migrated first. Settings without a flag are listed
    by `moothall settings`.
    """
    # Imports create no garbage, and collecting it takes a fifth of the start. `App.start` enables it again.
    gc.disable()
    from moothall.app import server, workers
    from moothall.runtime.collector import limit_free_memory
    from moothall.runtime.secrets import ServerKeyError

    limit_free_memory()
    start_logging(settings.log_level, settings.log_format)
    os.umask(0o077)  # the data folder contains private messages and email addresses
    try:
        if settings.workers > 1:
            workers.serve(settings)
        else:
            server.serve(settings)
    except (ServerKeyError, OSError) as error:
        fail(str(error))
