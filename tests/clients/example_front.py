"""The front of the example Activity, built with the unmodified SDK from npm."""

import fcntl
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.support.suites import leave_out

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "activity"


def build_front() -> Path:
    """Build it unless that is done; its folder. Leaves the running test out where there is no npm."""
    built = EXAMPLE / "dist"
    with (EXAMPLE / "package.json").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # several processes run the suite
        if not (built / "index.html").exists():
            npm = shutil.which("npm")
            if npm is None:
                leave_out("node", "npm is not installed")
            for command in ("ci", "run build"):
                subprocess.run([npm, *command.split(), "--silent"], cwd=EXAMPLE, check=True, capture_output=True)
    return built
