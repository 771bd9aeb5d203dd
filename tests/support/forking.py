"""Servers as forks of a process that has imported the platform: imports are three quarters of their start."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any, Final

from tests.support.passwords import hash_cheaply
from tests.support.serving import RunningServer, environment

_FORKING: Final = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["moothall.cli.serve", "moothall.app.server", __name__])


class ForkedProcess:
    """A process that runs a command of `moothall`, with those parts of `subprocess.Popen` that servers need."""

    def __init__(self, arguments: list[str], variables: Mapping[str, str], folder: Path) -> None:
        (stdout, written), (stderr, complained) = os.pipe(), os.pipe()
        parameters = (arguments, dict(variables), str(folder), written, complained)
        self._process = _FORKING.Process(target=_run, args=(_Start(*parameters),), daemon=True)
        self._process.start()
        os.close(written)
        os.close(complained)
        assert self._process.pid is not None
        self.pid: int = self._process.pid
        self.stdout: IO[str] | None = os.fdopen(stdout, encoding="utf-8")
        self.stderr: IO[str] | None = os.fdopen(stderr, encoding="utf-8")

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """Wait for its end, at most so many seconds; the exit code."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout)
        return code

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)


class _Start:
    """What a fork begins with. File descriptors are passed on while this is pickled, and received while unpickled."""

    def __init__(self, arguments: list[str], variables: dict[str, str], folder: str, stdout: int, stderr: int) -> None:
        self.arguments = arguments
        self.variables = variables
        self.folder = folder
        self.streams = (stdout, stderr)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"streams": tuple(DupFd(stream) for stream in self.streams)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"streams": tuple(stream.detach() for stream in state["streams"])})


def _run(start: _Start) -> None:
    """Be the process: run the command with its environment, its folder and its streams."""
    for stream, number in zip(start.streams, (1, 2), strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(start.variables)
    os.chdir(start.folder)
    sys.argv = ["moothall", *start.arguments]
    hash_cheaply()
    from moothall.cli import main  # noqa: PLC0415 only forks run it

    main()


class ForkedServer(RunningServer):
    """`moothall serve` as a fork; `settings` are variables of its environment."""

    def __init__(self, data: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(data, *arguments)
        self.settings = settings or {}

    def launch(self, arguments: list[str]) -> ForkedProcess:
        return ForkedProcess(arguments, {**environment(), **self.settings}, self.data.parent)
