"""Runs commands in the test's process."""

import os

from click.testing import CliRunner, Result

from moothall.cli import cli


def run(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    """Run `moothall` with these arguments; `env` are the only settings in the environment."""
    cleared: dict[str, str | None] = {name: None for name in os.environ if name.startswith("MOOTHALL_")}
    return CliRunner().invoke(cli, list(arguments), env={**cleared, **(env or {})}, terminal_width=400)


def failed(result: Result) -> str:
    """The error line of a command that failed with exit code 1."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    (line,) = result.stderr.splitlines()
    return line
