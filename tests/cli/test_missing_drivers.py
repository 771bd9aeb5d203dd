"""Packages that are extras: without them everything else works, and what needs one says so in a line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_WITHOUT_DRIVERS = (
    "import sys; sys.modules.update(asyncpg=None, nats=None)\n"
    "import moothall.app.application\n"
    "from moothall.cli import cli; cli(sys.argv[1:])"
)


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WITHOUT_DRIVERS, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=os.environ | environment
    )


def test_a_database_file_needs_no_extra(tmp_path: Path) -> None:
    assert _run("migrate", "--data", str(tmp_path)).returncode == 0
    assert (tmp_path / "moothall.sqlite3").exists()


@pytest.mark.parametrize(("extra", "setting"), [("postgres", "database_url"), ("nats", "nats_url")])
def test_what_needs_an_extra_says_so_in_a_line(extra: str, setting: str) -> None:
    done = _run("serve", MOOTHALL_DATABASE_URL="postgresql://localhost/hall", MOOTHALL_NATS_URL="nats://localhost:4222")

    line = f"{setting}: needs a package that is not installed: pip install 'moothall[{extra}]'"
    assert done.returncode != 0
    assert line in done.stderr.replace("moothall: ", "").splitlines()
    assert "Traceback" not in done.stderr
