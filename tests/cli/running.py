"""Runs a command of the command line inside the test."""

import os

from click.testing import CliRunner, Result

from moothall.cli import cli


def run(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    """Run `moothall` with these arguments and, of all settings in the environment, only those given here."""
    cleared: dict[str, str | None] = {name: None for name in os.environ if name.startswith("MOOTHALL_")}
    return CliRunner().invoke(cli, list(arguments), env={**cleared, **(env or {})}, terminal_width=400)


def failed(result: Result) -> str:
    """The one line that a command says when it cannot do what it was asked."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    (line,) = result.stderr.splitlines()
    return line
