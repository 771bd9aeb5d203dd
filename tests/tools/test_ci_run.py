"""What `.ci/run` runs and what it refuses to leave out, with programs that stand in for the machine's."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import suites

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
REAL = ("bash", "dirname", "mktemp", "seq", "sleep")
"""Programs that the script may use as they are. Without apt-get and root it changes nothing on this machine."""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A clone with the script, and a folder of programs where all there is to be found is."""
    (tmp_path / "clone" / ".ci").mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / "clone" / ".ci" / "run")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in REAL:
        (programs / name).symlink_to(str(shutil.which(name)))
    for name in ("psql", "nats-server", "chromium", "node"):
        stand_in(programs / name, "exit 0")
    stand_in(programs / "id", 'if [ "$1" = -u ]; then echo 1000; else echo tester; fi')
    stand_in(programs / "make", 'echo "make $* requires ${MOOTHALL_TEST_REQUIRE:-nothing}"')
    return tmp_path


def stand_in(program: Path, script: str) -> None:
    """Make a program of a line."""
    program.write_text(f"#!{shutil.which('bash')}\n{script}\n")
    program.chmod(0o755)


def ci_run(machine: Path, *without: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the script without some programs."""
    for name in without:
        (machine / "programs" / name).unlink()
    servers = {"MOOTHALL_TEST_NATS": "nats://127.0.0.1:4222"}  # as no NATS listens on every machine that tests this
    return subprocess.run(
        [str(machine / "clone" / ".ci" / "run")],
        env={"PATH": str(machine / "programs"), **servers, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_in_ci_every_suite_is_run_required_and_named(machine: Path) -> None:
    result = ci_run(machine, CI="true")

    assert result.returncode == 0, result.stderr
    assert "== make test: SQLite, PostgreSQL, NATS, Chromium, discord.js, eris, discordeno\n" in result.stdout
    assert "make test-python requires postgresql,nats,chromium,clients,web-client\n" in result.stdout
    assert "left out" not in result.stdout


@pytest.mark.parametrize(
    ("program", "suite"),
    [("psql", "PostgreSQL"), ("nats-server", "NATS"), ("chromium", "Chromium")],
)
def test_in_ci_a_suite_that_would_be_left_out_is_an_error_before_anything_runs(
    machine: Path, program: str, suite: str
) -> None:
    result = ci_run(machine, program, CI="true")

    assert result.returncode == 1
    assert f"== left out: {suite}: " in result.stdout
    assert result.stderr.endswith("in CI no suite may be left out\n")
    assert "make" not in result.stdout


def test_elsewhere_what_is_missing_is_left_out_and_named(machine: Path) -> None:
    result = ci_run(machine, "psql", "chromium", "node")

    assert result.returncode == 0, result.stderr
    for suite in ("PostgreSQL", "Chromium", "discord.js, eris, discordeno"):
        assert f"== left out: {suite}: " in result.stdout
    assert "== make test: SQLite, NATS\n" in result.stdout
    assert "make test-python requires nothing\n" in result.stdout


def test_the_checks_and_all_that_the_tests_need_are_made_side_by_side(machine: Path) -> None:
    (side_by_side,) = [line.split() for line in ci_run(machine).stdout.splitlines() if "--jobs" in line]

    assert {"check", "test-clients", "test-client", "built-client", "statements"} <= set(side_by_side)


@pytest.mark.parametrize("target", ["uv", "check"])
def test_a_failed_check_ends_the_run_and_a_missing_uv_does_not(machine: Path, target: str) -> None:
    stand_in(machine / "programs" / "make", f'case " $* " in *" {target} "*) exit 1;; esac; echo "make $*"')
    result = ci_run(machine)

    assert (result.returncode != 0) == (target == "check")
    assert ("make test-python" in result.stdout) == (target == "uv")


def test_what_is_missing_skips_a_test_and_fails_one_of_a_required_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "REQUIRED", frozenset({"nats"}))
    with pytest.raises(pytest.skip.Exception, match="gone"):
        suites.leave_out("chromium", "gone")
    with pytest.raises(pytest.fail.Exception, match="nats is required here: gone"):
        suites.leave_out("nats", "gone")


def test_the_script_can_be_run() -> None:
    assert os.access(SCRIPT, os.X_OK)
