"""The process of the test server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from moothall.testing.http import send


class ServerProcess:
    """`moothall test-server` as a child process; it ends with `close`, or with this process."""

    def __init__(self, fixture: Path | None = None, *, heartbeat_ms: int = 41_250, rate_limits: bool = True) -> None:
        command = [sys.executable, "-m", "moothall", "test-server", "--json", "--heartbeat-ms", str(heartbeat_ms)]
        command += [] if fixture is None else ["--fixture", str(fixture)]
        command += [] if rate_limits else ["--no-rate-limits"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MOOTHALL_")}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)  # noqa: S603 ours
        stream = self._process.stdout
        line = "" if stream is None else stream.readline()
        if not line:
            raise RuntimeError(f"the test server ended with status {self._process.wait()}; its reason is on stderr")
        self.info: dict[str, Any] = json.loads(line)
        """Addresses, and the people, bots and guilds of its start."""
        self.snapshots = {"start"}
        """The snapshots that were taken."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the control API. Raises RefusedError."""
        return send(method, f"{self.info['control_url']}{path}", body)
