"""The example bots: the tests that stand beside each, in a process of its own with the packages of its lock."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.separate_runs import SeparateRuns, collected
from tests.support.suites import leave_out

EXAMPLES = Path(__file__).parents[2] / "examples" / "bots"
BOTS = ("discordpy", "disnake", "hikari", "http-interactions")


def installed(folder: Path) -> Path:
    """The folder of an example's packages, installed from its lock where they are missing; else the test is skipped."""
    lock, site = folder / "requirements.lock", folder / "site"
    stamp = site / ".installed"
    if not stamp.is_file() or stamp.stat().st_mtime < lock.stat().st_mtime:
        command = [
            sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes",
            "--upgrade", "--target", str(site), "--requirement", str(lock),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        if done.returncode:
            leave_out("clients", f"{folder.name} cannot be installed: {done.stderr[-300:]}")
        stamp.touch()
    return site


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest) -> Iterator[SeparateRuns]:
    """The tests of the examples, running side by side."""
    with SeparateRuns() as started:
        for bot in collected(request.session.items, "test_the_tests_of_the_example_pass", "bot"):
            started.start_pytest(bot, EXAMPLES / bot, installed(EXAMPLES / bot))
        yield started


@pytest.mark.timeout(240)
@pytest.mark.parametrize("bot", BOTS)
def test_the_tests_of_the_example_pass(runs: SeparateRuns, bot: str) -> None:
    assert " passed" in runs.printed(bot)


def test_every_example_is_run() -> None:
    assert {folder.name for folder in EXAMPLES.iterdir() if (folder / "requirements.lock").exists()} == set(BOTS)
