"""The folders that client libraries are installed into."""

import subprocess
import sys
from pathlib import Path

from tests.support.suites import leave_out

HERE = Path(__file__).parents[1] / "clients" / "python"


def installed(client: str) -> Path:
    """The folder of a client's packages, installed from the lock where they are missing; else the test is skipped."""
    lock, site = HERE / client / "requirements.lock", HERE / client / "site"
    stamp = site / ".installed"
    if not stamp.is_file() or stamp.stat().st_mtime < lock.stat().st_mtime:
        command = [
            sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes",
            "--upgrade", "--target", str(site), "--requirement", str(lock),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        if done.returncode:
            leave_out("clients", f"{client} cannot be installed: {done.stderr[-300:]}")
        stamp.touch()
    return site
