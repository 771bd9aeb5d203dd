"""Commands of the command line, parsed."""

import click

from moothall.cli import cli


def parse_command(words: list[str]) -> None:
    """Parse a command of the command line. Raises UsageError for a flag that it does not have."""
    command: click.Command | None = cli
    context = click.Context(cli, info_name="moothall")
    while isinstance(command, click.Group):
        command, words = command.get_command(context, words[0]), words[1:]
    assert command is not None
    command.make_context("moothall", words)
