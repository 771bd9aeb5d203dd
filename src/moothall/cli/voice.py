"""`moothall voice`: the process that carries sound, which the server starts."""

import sys

import click

from moothall.cli.options import fail


@click.command(short_help="Carry sound (started by `moothall serve`).")
def voice() -> None:
    """Carry sound between the members of voice channels.

    `moothall serve` starts it with the first member who joins one, tells it on its standard input where and how to
    serve, and ends it. There is no need to run it by hand.
    """
    from moothall.voice.process import main

    if sys.stdin.isatty():
        fail("`moothall serve` starts this process by itself", code=2)
    sys.exit(main())
