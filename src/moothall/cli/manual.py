"""`moothall completion` and `moothall man`: from the same definitions as the commands and their help."""

import re
from collections.abc import Iterator

import click
from click.shell_completion import get_completion_class

from moothall import __version__

_SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print what completes commands in a shell.")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes the commands and flags of moothall in SHELL.

    For bash, `moothall completion bash > /etc/bash_completion.d/moothall`; zsh and fish have such folders too.
    """
    from moothall.cli import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"{shell} has no completion")
    click.echo(kind(cli, {}, "moothall", "_MOOTHALL_COMPLETE").source())


@click.command(short_help="Print the manual page.")
def man() -> None:
    """Print the manual page of moothall with all commands, for `man -l -` or a folder of manual pages."""
    from moothall.cli import cli

    with click.Context(cli, info_name="moothall") as context:
        click.echo("\n".join(_page(context)))


def _page(context: click.Context) -> Iterator[str]:
    yield f'.TH MOOTHALL 1 "" "moothall {__version__}"'
    yield ".SH NAME"
    yield r"moothall \- a community platform of your own, that bots and webhooks already speak to"
    yield ".SH SYNOPSIS"
    yield ".B moothall"
    yield ".I COMMAND"
    yield "[OPTION]..."
    yield ".SH DESCRIPTION"
    yield from _paragraphs(context.command.help or "")
    yield ".SH COMMANDS"
    for command_context in _commands(context):
        yield from _section(command_context)
    yield ".SH EXIT STATUS"
    yield "0 for success, 1 for a failure, 2 for wrong usage, 3 for a database of a later version."


def _commands(context: click.Context) -> Iterator[click.Context]:
    """The contexts of all commands below one, groups included, in the order of the help."""
    command = context.command
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        if child is not None:
            with click.Context(child, info_name=name, parent=context) as child_context:
                yield child_context
                yield from _commands(child_context)


def _section(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f".SS {_escape(context.command_path)}"
    arguments = [each.make_metavar(context) for each in command.params if isinstance(each, click.Argument)]
    if arguments:
        yield f".B {_escape(context.command_path)}"
        yield f".I {_escape(' '.join(arguments))}"
        yield ".PP"
    yield from _paragraphs(command.help or "")
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            yield ".TP"
            yield f".B {_escape(record[0])}"
            yield _escape(record[1]) or r"\&"


def _paragraphs(text: str) -> Iterator[str]:
    """Text as roff: a paragraph for each of those between empty lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        yield ".PP"
        yield _escape(" ".join(paragraph.replace("\b", "").split()))


def _escape(text: str) -> str:
    """Text in which roff reads no command."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
