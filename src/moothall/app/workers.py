"""Several processes of one machine on one SQLite file: one that writes, and workers that share the port.

The supervisor forks them, starts again what dies, and ends them in an order in which no request is lost: the workers
first, which still need the process that writes. It has no threads and no event loop, which a fork would break.
"""

import fcntl
import logging
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final, NoReturn

from msgspec import structs

from moothall.app.cluster import ClusterRole, WorkerCluster
from moothall.app.server import bind, bind_metrics, serve_role
from moothall.objects.clock import stopwatch
from moothall.settings import Settings
from moothall.storage.sqlite.files import serving_alone

log = logging.getLogger("moothall.workers")

_MAX_PAUSE: Final = 10.0
"""Maximum pause in seconds before a process is started again that keeps dying."""
_STABLE_SECONDS: Final = 10.0
"""After so many seconds a process counts as started well."""
_EXTRA_SECONDS: Final = 5.0
"""What a process may take beyond `shutdown_seconds` before it is killed."""
_FAILED: Final = 3


class _Child:
    """A process, and the pipe over which it reports that it serves."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pid = 0
        self.report: int | None = None
        """The reading end of the pipe, until the process has reported."""
        self.text = b""
        """What it has written into the pipe: the greeting, followed by a NUL once it serves."""
        self.ready = False
        self.started_at = 0.0
        self.pause = 0.0
        self.due_at = 0.0
        """When it is started again, while it is not running."""

    @property
    def name(self) -> str:
        """For the log."""
        return f"worker {self.number}" if self.number else "the process that writes"


class Supervisor:
    """Runs the processes of a server until SIGINT or SIGTERM."""

    def __init__(self, settings: Settings, metrics: list[socket.socket]) -> None:
        self._settings = settings
        self._metrics = metrics
        self._cluster = WorkerCluster(settings.workers)
        self._children = [_Child(number) for number in range(settings.workers + 1)]
        # Ends when the supervisor does, however that ends; then the processes stop.
        self._lifeline, self._lifeline_end = os.pipe()
        self._wakeup, self._wakeup_end = os.pipe()
        for descriptor in (self._wakeup, self._wakeup_end):
            fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wakeup, selectors.EVENT_READ)
        self._serving = False
        """Whether all processes have started once."""
        self._stopping = 0
        """How many signals to stop have come."""

    def run(self) -> None:
        """Start everything, print the greeting, and watch. Raises SystemExit with status 3 if it cannot start."""
        signal.set_wakeup_fd(self._wakeup_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note_signal)
        failed = True
        try:
            started = self._start_all()
            failed = not started and not self._stopping
            while started and not self._stopping:
                self._wait(self._seconds_to_next_start())
                self._restart_due()
        finally:
            self._stop_all()
            self._cluster.remove()
        if failed:
            raise SystemExit(_FAILED)

    def _start_all(self) -> bool:
        """Start the process that writes, then the workers; whether all of them serve."""
        writer, *workers = self._children
        for children in ([writer], workers):
            for child in children:
                self._start(child)
            while not all(child.ready for child in children):
                self._wait(None)
                if self._stopping or any(not child.pid for child in children):
                    return False
        self._serving = True
        print(writer.text.decode(), flush=True)  # noqa: T201 for the operator, not for the log
        return True

    def _start(self, child: _Child) -> None:
        child.report, report_end = os.pipe()
        child.text, child.ready = b"", False
        child.started_at = stopwatch()
        child.pid = os.fork()
        if child.pid == 0:
            self._become(child, report_end)
        os.close(report_end)
        self._selector.register(child.report, selectors.EVENT_READ, child)

    def _become(self, child: _Child, report_end: int) -> NoReturn:
        """Serve in the process that was just forked, and end it."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for descriptor in (self._lifeline_end, self._wakeup, self._wakeup_end):
                os.close(descriptor)
            report = _report_to(report_end)
            role = ClusterRole(self._cluster, child.number)
            code = serve_role(self._settings, role, self._metrics, report, lifeline=self._lifeline)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            log.exception("%s failed", child.name)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _wait(self, seconds: float | None) -> None:
        """Wait for a signal, a report or the end of a process."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                os.read(self._wakeup, 4096)
            else:
                self._read_report(key.data)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for child in self._children:
                if child.pid == pid:
                    self._handle_end(child, os.waitstatus_to_exitcode(status))

    def _read_report(self, child: _Child) -> None:
        if child.report is None:
            return
        data = os.read(child.report, 65_536)
        child.text += data
        if child.text.endswith(b"\0"):
            child.text, child.ready = child.text[:-1], True
            log.info("%s serves as process %d", child.name, child.pid)
        if child.ready or not data:
            self._close_report(child)

    def _close_report(self, child: _Child) -> None:
        if child.report is not None:
            self._selector.unregister(child.report)
            os.close(child.report)
            child.report = None

    def _handle_end(self, child: _Child, code: int) -> None:
        self._close_report(child)
        child.pid = 0
        if self._stopping or not self._serving:
            # What the start failed for is in the log already.
            return
        stable = stopwatch() - child.started_at > _STABLE_SECONDS
        child.pause = 0.0 if stable else min(_MAX_PAUSE, child.pause * 2 or 0.1)
        child.due_at = stopwatch() + child.pause
        how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        log.error("%s %s; it is started again", child.name, how)

    def _seconds_to_next_start(self) -> float | None:
        due = [child.due_at for child in self._children if not child.pid]
        return max(0.0, min(due) - stopwatch()) if due else None

    def _restart_due(self) -> None:
        now = stopwatch()
        for child in self._children:
            if not child.pid and child.due_at <= now and not self._stopping:
                self._start(child)

    def _stop_all(self) -> None:
        """End the workers, then the process that writes. A second SIGINT or SIGTERM kills them."""
        self._stopping = self._stopping or 1
        writer, *workers = self._children
        for children in (workers, [writer]):
            for child in children:
                _send(child, signal.SIGTERM)
            deadline = stopwatch() + self._settings.shutdown_seconds + _EXTRA_SECONDS
            while any(child.pid for child in children):
                remaining = deadline - stopwatch()
                if remaining <= 0 or self._stopping > 1:
                    for child in children:
                        _send(child, signal.SIGKILL)
                    remaining = 1.0
                self._wait(remaining)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._stopping += 1


def _send(child: _Child, number: signal.Signals) -> None:
    if child.pid:
        os.kill(child.pid, number)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Let the signal only wake the supervisor."""


def _report_to(descriptor: int) -> Callable[[str], None]:
    def report(text: str) -> None:
        with os.fdopen(descriptor, "wb") as pipe:
            pipe.write(text.encode() + b"\0")

    return report


def serve(settings: Settings) -> None:
    """Run the platform in `settings.workers` workers and one process that writes until SIGINT or SIGTERM.

    Exits with status 3 if it cannot start. Raises OSError if the port is in use, and if another server uses the same
    SQLite file.
    """
    # Binding without sharing first finds another server at the port; binding once more keeps it for the workers.
    for unused in (probe := bind(settings.host, settings.port)):
        settings = structs.replace(settings, port=unused.getsockname()[1])
    for unused in probe:
        unused.close()
    reserved = bind(settings.host, settings.port, shared=True)
    settings, metrics = bind_metrics(settings)
    if settings.database_path is None:
        raise OSError("several workers share an SQLite file; with PostgreSQL, start several servers")
    with serving_alone(settings.database_path):
        Supervisor(settings, metrics).run()
    for bound in reserved:
        bound.close()
