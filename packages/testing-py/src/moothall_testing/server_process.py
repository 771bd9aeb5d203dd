"""The test server: a child process, or one that runs already."""

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from moothall_testing.bot_errors import BotErrors
from moothall_testing.finding import SERVER_VARIABLE, PlatformMissing, find_command, server_url
from moothall_testing.http import send
from moothall_testing.traces import prepare_traces

if TYPE_CHECKING:
    from moothall_testing.browser import Browser
    from moothall_testing.platform import Moothall

__all__ = ["PlatformMissing", "ServerProcess"]


class ServerProcess:
    """`moothall test-server` as a child process; it ends with `close`, or with this process.

    It is started by the construction, and ready after `wait`, or in a `with` block. Where MOOTHALL_TEST_SERVER names
    one that runs already, that one is used, and goes on after `close`. Raises PlatformMissing.
    """

    def __init__(self, fixture: Path | None = None, *, heartbeat_ms: int = 41_250, rate_limits: bool = True) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._url = server_url()
        self._info: dict[str, Any] | None = None
        self.snapshots = {"start"}
        """The snapshots that were taken."""
        self._browser: Browser | None = None
        self.errors = BotErrors()
        """The errors of the bots in the running test."""
        self.shared: Moothall | None = None
        """The platform of a module or session, whose bots outlive the tests."""
        if self._url is None:
            self._process = _start(fixture, heartbeat_ms=heartbeat_ms, rate_limits=rate_limits)
        elif fixture is not None:
            raise ValueError(f"the server of {SERVER_VARIABLE} has a community of its own: start it with --fixture")
        elif "PYTEST_XDIST_WORKER" in os.environ:
            raise ValueError(f"the server of {SERVER_VARIABLE} serves one test at a time: run pytest without -n")

    def wait(self) -> None:
        """Wait until it is ready. Raises RuntimeError if it could not start."""
        if self._info is not None:
            return
        if self._process is None:
            self._info = send("GET", f"{self._url}/_test")
        elif self._process.stdout is not None:
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError(f"the test server ended with status {self._process.wait()}; its reason is on stderr")
            self._info = json.loads(line)

    @property
    def info(self) -> dict[str, Any]:
        """Addresses, and the people, bots and guilds of its start. Waits until it is ready."""
        self.wait()
        return self._info or {}

    def __enter__(self) -> Self:
        self.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it, and the browser."""
        if self._browser is not None:
            self._browser.close()
        if self._process is None:
            return
        self._process.terminate()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait(10)

    def browser(self) -> "Browser":
        """The browser of the tests' people, started the first time. Raises BrowserMissing."""
        from moothall_testing.browser import Browser  # noqa: PLC0415 few tests use it

        if self._browser is None:
            self._browser = Browser()
        return self._browser

    def trace(self, folder: Path) -> None:
        """Keep what people see for the pages of the tests, and write what the pages need into their folder.

        Raises RefusedError if the server has no client for people.
        """
        self.control("POST", "/trace")
        prepare_traces(folder, str(self.info["url"]))

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the control API. Raises RefusedError."""
        return send(method, f"{self.info['control_url']}{path}", body)


def _start(fixture: Path | None, *, heartbeat_ms: int, rate_limits: bool) -> "subprocess.Popen[str]":
    command = [*find_command(file=fixture), "test-server", "--json", "--until-stdin-closes"]
    command += ["--heartbeat-ms", str(heartbeat_ms)]
    command += [] if fixture is None else ["--fixture", str(fixture)]
    command += [] if rate_limits else ["--no-rate-limits"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MOOTHALL_")}
    # Whatever runs between this process and the server (uv, a container), standard input ends with this one.
    return subprocess.Popen(  # noqa: S603 ours
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
