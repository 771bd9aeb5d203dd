"""The installed wheel, in an environment of its own that pip or uv has made: no source tree, no tools of the suite."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from moothall import __version__
from moothall.storage.migrations import HEAD
from tests.packages.installed import ROOT, Uv, check_served
from tests.packages.old_versions import old_database, revision_of
from tests.support.serving import RunningServer, environment, moothall

pytestmark = pytest.mark.timeout(400)  # registries are far away

_BOT = """
import discord

class Bot(discord.Client):
    async def on_message(self, message):
        if message.content == "ping":
            await message.channel.send("pong")

client = Bot(intents=discord.Intents.all())
"""
_TEST = """
def test_ping_is_answered(moothall, alice):
    moothall.start_bot("smallbot:client").wait()
    alice.in_channel("general").says("ping").assert_replied("pong").wait()
"""


def test_what_is_installed_is_the_wheel(clean_program: tuple[str, ...]) -> None:
    python = Path(clean_program[-1]).with_name("python")
    code = "import moothall, sys; print(moothall.__file__); print(*sys.path, sep='\\n')"
    origin, *path = subprocess.check_output([*clean_program[:-1], python, "-c", code], text=True).splitlines()

    assert origin.startswith(str(python.parents[1]))
    assert not any(entry.startswith(str(ROOT)) for entry in path)
    assert moothall("--version", program=clean_program).stdout == f"moothall {__version__}\n"


def test_it_migrates_what_an_earlier_version_left_and_serves_it(
    clean_program: tuple[str, ...], tmp_path: Path, has_client: bool
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    old_database(data / "moothall.sqlite3")

    migrated = moothall("migrate", "--data", str(data), program=clean_program)
    assert migrated.returncode == 0, migrated.stderr
    assert revision_of(data / "moothall.sqlite3") == HEAD
    with RunningServer(data, "--no-demo", program=clean_program) as server:
        account = {"username": "writer", "password": "9f-k3q-zw7-long"}
        token = server.request("POST", "/auth/register", account).json["token"]
        guild = server.request("POST", "/guilds", {"name": "Hall"}, token=token)
        assert guild.status == 201
        check_served(server, token, has_client=has_client)
        report = json.loads(server.command("doctor", "--json").stdout)
        assert [each for each in report["findings"] if each["level"] == "error"] == []


def test_the_pytest_plugin_tests_a_bot_with_it(
    clean_program: tuple[str, ...], plugin: Path, uv: Uv, tmp_path: Path
) -> None:
    names = ("pytest", "PyYAML", "discord.py")
    packages = tmp_path / "packages"
    versions = (f"{name}=={importlib.metadata.version(name)}" for name in names)
    uv.install(Path(sys.executable), "--target", str(packages), *versions, str(plugin))
    (tmp_path / "smallbot.py").write_text(_BOT)
    (tmp_path / "test_smallbot.py").write_text(_TEST)
    python = str(Path(clean_program[-1]).with_name("python"))
    variables = {**environment(), "PYTHONPATH": os.pathsep.join((str(packages), str(tmp_path)))}

    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "--color=no"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert " 1 passed" in done.stdout, done.stdout + done.stderr
    assert "plugins: moothall" in done.stdout


def test_uvx_serves_it(dist: tuple[Path, Path], uv: Uv, tmp_path: Path) -> None:
    command = (str(uv.programs / "uvx"), *uv.options, "--python", sys.executable, "--from", str(dist[1]), "moothall")
    program = ("env", "-u", "PYTHONPATH", *command)
    tried = moothall("--version", program=program, patience=300)
    if "error sending request" in tried.stderr or "Failed to fetch" in tried.stderr:
        pytest.skip(f"uv reaches no registry: {tried.stderr.splitlines()[-1]}")
    assert tried.stdout == f"moothall {__version__}\n", tried.stderr

    with RunningServer(tmp_path / "data", "--no-demo", program=program) as server:
        assert json.loads(server.fetch("/healthz")) == {"status": "ok"}
