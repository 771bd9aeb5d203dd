"""`moothall settings`: list every setting with its value."""

import json

import click

from moothall.cli.options import FLAGGED, default_note, takes_settings
from moothall.settings import TABLE, Settings, masked


@click.command(short_help="List every setting with its value.")
@takes_settings(*FLAGGED)
def settings(settings: Settings) -> None:
    """List every setting in TOML, with its description, its variable and its present value.

    Secrets are shown as stars.
    """
    for name, setting in TABLE.items():
        value = masked(name, getattr(settings, name))
        click.echo(f"# {setting.description} [{setting.variable}{default_note(setting)}]")
        # JSON's numbers, booleans, text and arrays are TOML's too.
        click.echo(f"{name} = {json.dumps(value)}\n" if value is not None else f"# {name} =\n")
