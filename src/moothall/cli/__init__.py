"""The command line: `moothall COMMAND`. Each command is a module of this package, imported when it runs."""

import importlib

import click

from moothall import __version__

COMMANDS = {
    "serve": "moothall.cli.serve:serve",
    "voice": "moothall.cli.voice:voice",
    "migrate": "moothall.cli.migrate:migrate",
    "reindex": "moothall.cli.reindex:reindex",
    "backup": "moothall.cli.backup:backup",
    "restore": "moothall.cli.backup:restore",
    "doctor": "moothall.cli.doctor:doctor",
    "demo": "moothall.cli.demo:demo",
    "user": "moothall.cli.user:user",
    "operator": "moothall.cli.operator:operator",
    "token": "moothall.cli.operator:token",
    "audit": "moothall.cli.audit:audit",
    "report": "moothall.cli.report:report",
    "guild": "moothall.cli.guild:guild",
    "application": "moothall.cli.application:application",
    "announcement": "moothall.cli.announcement:announcement",
    "figures": "moothall.cli.figures:figures",
    "storage": "moothall.cli.figures:storage",
    "retention": "moothall.cli.retention:retention",
    "hold": "moothall.cli.retention:hold",
    "member": "moothall.cli.member:member",
    "invitation": "moothall.cli.invitation:invitation",
    "provider": "moothall.cli.provider:provider",
    "mail": "moothall.cli.mail:mail",
    "push-key": "moothall.cli.push_key:push_key",
    "key": "moothall.cli.key:key",
    "jobs": "moothall.cli.jobs:jobs",
    "settings": "moothall.cli.settings:settings",
    "test-server": "moothall.cli.test_server:test_server",
    "proxy": "moothall.cli.proxy:proxy",
    "completion": "moothall.cli.manual:completion",
    "man": "moothall.cli.manual:man",
}
"""The module and attribute of every command."""


class _Commands(click.Group):
    """A group that imports a command only to run it or to show its help."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{COMMANDS[name]} is not a command")
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Moothall: a community platform of your own, that bots and webhooks already speak to.

    Settings come from a TOML file (--config or MOOTHALL_CONFIG), then from MOOTHALL_* variables, then from flags: the
    later wins. `moothall settings` lists them all.
    """


def main() -> None:
    """Run the command line and exit with 0 for success, 1 for failure, 2 for a usage error."""
    cli(prog_name="moothall")
