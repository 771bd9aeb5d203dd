"""The flags of the command line, made from the table of settings."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import click

from moothall.settings import TABLE, Setting, SettingsError, load

FLAGGED = tuple(name for name, setting in TABLE.items() if setting.flag)
"""The settings that have a flag."""

STORAGE = ("data", "database_url", "log_level")
"""The settings of a command that uses the database and runs no server."""


def takes_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with the flags of these settings and `--config`, and pass it the Settings as first argument.

    Invalid settings are printed to standard error, one a line, and end the program with exit code 2.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_settings(config: Path | None, **options: object) -> None:
            flags = {name: options.pop(name) or None if TABLE[name].repeated else options.pop(name) for name in names}
            try:
                settings = load(flags, config=config)
            except SettingsError as error:
                for problem in error.problems:
                    click.echo(f"moothall: {problem}", err=True)
                sys.exit(2)
            command(settings, **options)

        wrapped: Callable[..., None] = with_settings
        for name in reversed(names):
            wrapped = _option(TABLE[name])(wrapped)
        return click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="TOML file of settings.")(
            wrapped
        )

    return decorate


def _option(setting: Setting) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option of a setting. Values stay text, because `load` validates those of all sources together."""
    if setting.flag is None:
        raise ValueError(f"{setting.name} has no flag")
    help_text = f"{setting.description} [{setting.variable}{default_note(setting)}]"
    if setting.boolean:
        name = setting.flag.removeprefix("--")
        return click.option(f"--{name}/--no-{name}", setting.name, default=None, help=help_text)
    return click.option(setting.flag, setting.name, metavar=setting.metavar, multiple=setting.repeated, help=help_text)


def default_note(setting: Setting) -> str:
    """`; default 3333`; empty for a setting without a default."""
    if setting.default in (None, ()):
        return ""
    if setting.boolean:
        return f"; default {'on' if setting.default else 'off'}"
    if setting.repeated:
        return f"; default {','.join(setting.default)}"
    return f"; default {setting.default}"


def fail(message: str, code: int = 1) -> NoReturn:
    """End the program with an exit code and the reason on standard error."""
    click.echo(f"moothall: {message}", err=True)
    sys.exit(code)
