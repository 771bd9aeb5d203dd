"""The process of the test server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from moothall.testing.http import send

if TYPE_CHECKING:
    from moothall.testing.browser import Browser


class ServerProcess:
    """`moothall test-server` as a child process; it ends with `close`, or with this process.

    It is started by the construction, and ready after `wait`, or in a `with` block.
    """

    def __init__(self, fixture: Path | None = None, *, heartbeat_ms: int = 41_250, rate_limits: bool = True) -> None:
        command = [sys.executable, "-m", "moothall", "test-server", "--json", "--heartbeat-ms", str(heartbeat_ms)]
        command += [] if fixture is None else ["--fixture", str(fixture)]
        command += [] if rate_limits else ["--no-rate-limits"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MOOTHALL_")}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)  # noqa: S603 ours
        self._info: dict[str, Any] | None = None
        self.snapshots = {"start"}
        """The snapshots that were taken."""
        self._browser: Browser | None = None

    def wait(self) -> None:
        """Wait until it is ready. Raises RuntimeError if it could not start."""
        stream = self._process.stdout
        if self._info is None and stream is not None:
            line = stream.readline()
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
        self._process.terminate()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def browser(self) -> "Browser":
        """The browser of the tests' people, started the first time. Raises BrowserMissing."""
        from moothall.testing.browser import Browser  # noqa: PLC0415 few tests use it

        if self._browser is None:
            self._browser = Browser()
        return self._browser

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the control API. Raises RefusedError."""
        return send(method, f"{self.info['control_url']}{path}", body)
