"""Where the plugin finds the platform."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from moothall_testing import Moothall, PlatformMissing, ServerProcess
from moothall_testing.finding import find_command

_OWNER = """
import sys, time
from moothall_testing import ServerProcess
server = ServerProcess()
server.wait()
print(server.info["url"], flush=True)
time.sleep(100)
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, of an environment without the package of the server."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    return tmp_path


def command(programs: Path, *names: str, **variables: str) -> list[str]:
    """The command that is found where these programs are on the PATH, with their names alone."""
    for name in names:
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    words = find_command({"PATH": str(programs), **variables}, file=Path("hall.json"))
    return [word.removeprefix(f"{programs}/") for word in words]


def test_what_the_environment_names_comes_before_all_that_is_installed(programs: Path) -> None:
    named = command(programs, "moothall", "uvx", "docker", MOOTHALL_COMMAND="'/my tools/python' -m moothall")
    assert named == ["/my tools/python", "-m", "moothall"]

    image = command(programs, MOOTHALL_IMAGE="moothall:1")
    assert image[0] == "docker"
    assert image[-1] == "moothall:1"
    assert f"--volume={Path('hall.json').resolve()}:hall.json:ro" in image


def test_podman_comes_before_docker(programs: Path) -> None:
    assert command(programs, "docker", "podman", MOOTHALL_IMAGE="moothall:1")[0] == "podman"


def test_the_package_of_the_environment_comes_before_programs() -> None:
    assert find_command({"PATH": ""}) == [sys.executable, "-m", "moothall"]


def test_programs_are_tried_in_order(programs: Path) -> None:
    with pytest.raises(PlatformMissing, match="MOOTHALL_COMMAND"):
        command(programs)
    assert command(programs, "pipx") == ["pipx", "run", "--spec", "moothall", "moothall"]
    assert command(programs, "uvx", MOOTHALL_PACKAGE="./moothall") == [
        "uvx", "--quiet", "--from", "./moothall", "moothall",
    ]  # fmt: skip
    assert command(programs, "moothall") == ["moothall"]


def test_an_image_without_a_program_that_runs_it_is_an_error(programs: Path) -> None:
    with pytest.raises(PlatformMissing, match="podman nor docker"):
        command(programs, MOOTHALL_IMAGE="moothall:1")


def test_a_server_that_runs_already_is_used_and_outlives_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    with ServerProcess() as running:
        monkeypatch.setenv("MOOTHALL_TEST_SERVER", running.info["url"] + "/")
        monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
        with ServerProcess() as server:
            Moothall(server).person("alice").says("hello").wait()
        assert running.control("GET", "/transcript")["entries"]

        with pytest.raises(ValueError, match="--fixture"):
            ServerProcess(Path("hall.json"))
        monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
        with pytest.raises(ValueError, match="without -n"):
            ServerProcess()


def test_a_server_ends_with_its_owner_whatever_runs_between_them(tmp_path: Path) -> None:
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f'#!/bin/sh\n"{sys.executable}" -m moothall "$@"\nexit $?\n')
    wrapper.chmod(0o755)
    source = str(Path(__file__).parents[2] / "packages" / "testing-py" / "src")
    environment = {**os.environ, "MOOTHALL_COMMAND": str(wrapper), "PYTHONPATH": source}
    with subprocess.Popen([sys.executable, "-c", _OWNER], stdout=subprocess.PIPE, env=environment, text=True) as owner:
        assert owner.stdout is not None
        url = owner.stdout.readline().strip()
        owner.send_signal(signal.SIGKILL)

    deadline = time.monotonic() + 20
    while _serves(url):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _serves(url: str) -> bool:
    from moothall_testing.http import send  # noqa: PLC0415 the one use

    with suppress(OSError):
        return bool(send("GET", f"{url}/_test"))
    return False
