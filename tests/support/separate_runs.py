"""Programs that tests start in a process of their own: runs of pytest and of Node's test runners."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

PLUGINS: Final = (
    "-p", "moothall_testing.plugin", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest",
)  # fmt: skip
"""The options for the plugin under test, without those of other tools, whose import takes two seconds each time."""
_WITHIN: Final = 200
"""Seconds that a program may take."""
PLUGIN_SOURCE: Final = str(Path(__file__).parents[2] / "packages" / "testing-py" / "src")
"""The folder that the plugin is imported from."""


class SeparateRuns(AbstractContextManager["SeparateRuns"]):
    """Programs that run side by side, each to its end: what they do most is wait for servers and for each other."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=4)
        self._runs: dict[str, Any] = {}

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def start(self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """Run a program in a folder."""
        self._runs[name] = self._threads.submit(
            subprocess.run, command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_WITHIN
        )

    def start_pytest(self, name: str, folder: Path, packages: Path) -> None:
        """Run the tests of a folder with the plugin under test and the packages of another folder."""
        path = os.pathsep.join([str(packages), str(folder), PLUGIN_SOURCE, os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", *PLUGINS]
        self.start(name, command, folder, {**os.environ, "PYTHONPATH": path})

    def printed(self, name: str) -> str:
        """What a program printed, once it has ended. Fails if it failed."""
        ran: subprocess.CompletedProcess[str] = self._runs[name].result()
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout


def collected(items: Sequence[Any], test: str, parameter: str) -> list[str]:
    """The values of a parameter with which pytest runs a test."""
    return [item.callspec.params[parameter] for item in items if item.originalname == test]
