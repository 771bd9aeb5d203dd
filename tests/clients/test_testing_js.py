"""The package @moothall/testing: its own laws, and a discord.js bot that is tested with node:test and with vitest."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.separate_runs import SeparateRuns
from tests.support.suites import leave_out

PACKAGE = Path(__file__).parents[2] / "packages" / "testing-js"
_RUNS = {
    "laws": ["node", "--test", "test/testing.test.mjs"],
    "example with node:test": ["node", "--import", "./dist/clock.js", "--test", "examples/dice-bot/bot.test.mjs"],
    "example with vitest": ["npm", "exec", "--", "vitest", "run"],
}
"""How each of the package's tests are run."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as npm packs it, which builds it; else the tests are skipped."""
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
    folder = tmp_path_factory.mktemp("packed")
    shutil.rmtree(PACKAGE / "dist", ignore_errors=True)
    pack = [npm, "pack", "--silent", "--pack-destination", str(folder)]
    subprocess.run(pack, cwd=PACKAGE, check=True, capture_output=True, timeout=110)
    (archive,) = folder.glob("*.tgz")
    return archive


@pytest.fixture(scope="module")
def runs(packed: Path) -> Iterator[SeparateRuns]:  # noqa: ARG001 built first
    """The tests of the package and of its example, running side by side."""
    environment = {**os.environ, "MOOTHALL_COMMAND": f"{sys.executable} -m moothall"}
    with SeparateRuns() as started:
        for name, command in _RUNS.items():
            started.start(name, command, PACKAGE, environment)
        yield started


def test_the_packed_package_has_its_program_and_its_types(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        names = set(archive.getnames())

    assert "package/README.md" in names
    assert {f"package/dist/{name}.{end}" for name in ("index", "clock", "vitest") for end in ("js", "d.ts")} <= names
    assert not any("examples" in name or "/test/" in name for name in names)


@pytest.mark.parametrize("name", _RUNS)
def test_its_laws_hold_and_the_example_bot_passes_its_tests(runs: SeparateRuns, name: str) -> None:
    assert runs.printed(name)
