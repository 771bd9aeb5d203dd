"""The package @moothall/testing: its own laws, and a discord.js bot that is tested with node:test and with vitest."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites import leave_out

PACKAGE = Path(__file__).parents[2] / "packages" / "testing-js"


@pytest.fixture(scope="module")
def npm() -> str:
    """npm, with the package built and what its tests need; else the tests are skipped."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        leave_out("clients", "Node is not installed")
    if int(subprocess.check_output([node, "--version"], text=True).lstrip("v").split(".")[0]) < 20:
        leave_out("clients", "Node is older than 20")
    stamp, lock = PACKAGE / "node_modules" / ".package-lock.json", PACKAGE / "package-lock.json"
    if not stamp.is_file() or stamp.stat().st_mtime < lock.stat().st_mtime:
        installed = subprocess.run([npm, "ci"], cwd=PACKAGE, capture_output=True, text=True, timeout=110, check=False)
        if installed.returncode:
            leave_out("clients", f"npm ci fails in {PACKAGE}: {installed.stderr[-300:]}")
    subprocess.run([npm, "run", "--silent", "build"], cwd=PACKAGE, check=True, timeout=110)
    return npm


def run(*command: str) -> None:
    environment = {**os.environ, "MOOTHALL_COMMAND": f"{sys.executable} -m moothall"}
    ran = subprocess.run(
        command, cwd=PACKAGE, env=environment, capture_output=True, text=True, timeout=110, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_its_laws_hold(npm: str) -> None:
    del npm
    run("node", "--test", "test/testing.test.mjs")


def test_the_example_bot_passes_its_tests_with_node_test(npm: str) -> None:
    del npm
    run("node", "--test", "examples/dice-bot/bot.test.mjs")


def test_the_example_bot_passes_its_tests_with_vitest(npm: str) -> None:
    run(npm, "exec", "--", "vitest", "run")
