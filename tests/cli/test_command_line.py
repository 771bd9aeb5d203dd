"""What every command has in common: help made from the table, settings read once, clear errors."""

import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import moothall
from moothall.cli import COMMANDS, cli
from moothall.cli.options import FLAGGED
from moothall.settings import TABLE, Settings
from tests.cli.running import run


def test_the_program_prints_its_version() -> None:
    assert run("--version").output.split()[-1] == moothall.__version__


def test_help_lists_every_command_with_a_line_about_it() -> None:
    help_lines = dict(line.split(maxsplit=1) for line in run("--help").output.split("Commands:\n")[1].splitlines())

    assert set(help_lines) == set(COMMANDS)
    assert all(line.endswith(".") for line in help_lines.values())


def commands(group: click.Group = cli, *words: str) -> list[tuple[str, ...]]:
    """The names of every command and subcommand."""
    context = click.Context(group)
    names: list[tuple[str, ...]] = []
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        names += commands(inner, *words, name) if isinstance(inner, click.Group) else [(*words, name)]
    return names


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_a_help_text(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")

    assert result.exit_code == 0
    # A test server and a proxy for tests have no installation, hence no settings; a key is made of nothing; the server
    # tells the voice process all of it; what completes commands and describes them is made of the commands.
    without = {("test-server",), ("proxy",), ("push-key",), ("voice",), ("completion",), ("man",)}
    assert ("--config FILE" in result.output) == (command not in without)


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run("sing").exit_code == 2


def test_the_help_of_serve_lists_each_flag_with_its_variable_default_and_description() -> None:
    shown = " ".join(run("serve", "--help").output.split())

    for name in FLAGGED:
        setting = TABLE[name]
        assert f"{setting.flag} " in shown
        assert setting.variable in shown
        assert setting.description in shown
    assert "--no-rate-limits" in shown
    assert "--no-demo" in shown
    assert "MOOTHALL_PORT; default 3333" in shown


def test_invalid_settings_are_printed_line_by_line_and_exit_with_2() -> None:
    result = run("serve", "--port", "http", "--log-level", "loud", env={"MOOTHALL_DEMO": "maybe"})

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "moothall: demo: Expected true or false, not 'maybe' (MOOTHALL_DEMO)",
        "moothall: port: Expected a whole number, not 'http' (--port)",
        "moothall: log_level: Expected debug, info, warning or error, not 'loud' (--log-level)",
    ]
    assert result.stdout == ""


def test_settings_prints_the_present_settings_as_a_file_that_can_be_read_again(tmp_path: Path) -> None:
    arguments = ("--port", "8080", "--trusted-proxy", "10.0.0.1", "--trusted-proxy", "fd00::/8", "--no-rate-limits")
    environ: dict[str, str | None] = {"MOOTHALL_DATA": 'a "quoted" \u2603 folder'}

    shown = run("settings", *arguments, env=environ).output
    values = tomllib.loads(shown)
    copied = tmp_path / "moothall.toml"
    copied.write_text(shown, encoding="utf-8")

    assert values["port"] == 8080
    assert values["trusted_proxies"] == ["10.0.0.1", "fd00::/8"]
    assert values["rate_limits"] is False
    assert values["data"] == 'a "quoted" \u2603 folder'
    assert run("settings", "--config", str(copied)).output == shown
    assert all(TABLE[name].description in shown for name in Settings.__struct_fields__)


def test_settings_shows_no_secret() -> None:
    shown = run("settings", "--database-url", "postgresql://me:hunter2@host/db").output

    assert "hunter2" not in shown
    assert "postgresql://me:***@host/db" in shown


def test_help_loads_neither_the_server_nor_a_database_driver() -> None:
    program = (
        "import sys\n"
        "from moothall.cli import cli\n"
        "cli(['serve', '--help'], standalone_mode=False)\n"
        "print('loaded:', *sorted({'uvicorn', 'sqlalchemy', 'apsw', 'asyncpg', 'aiohttp', 'PIL'} & set(sys.modules)))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)

    assert done.stdout.splitlines()[-1].strip() == "loaded:"


def test_a_server_without_a_usable_key_or_folder_exits_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "server.key").write_text("damaged")
    (tmp_path / "server.key").chmod(0o600)
    (tmp_path / "file").write_text("no folder")

    for folder, reason in ((tmp_path, "server.key: "), (tmp_path / "file", "Not a directory")):
        done = subprocess.run(
            [sys.executable, "-m", "moothall", "serve", "--port", "0", "--data", str(folder)],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        assert done.returncode == 1
        assert done.stderr.startswith("moothall: ")
        assert reason in done.stderr
        assert done.stderr.count("\n") == 1
