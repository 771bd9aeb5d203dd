"""A real server in a process of its own, on a port of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol, Self

from tests.conformance.public_schema import check_answer

PROGRAM: Final = (sys.executable, "-m", "moothall")
_PATIENCE = 30.0


class Answer(NamedTuple):
    """What a request got."""

    status: int
    json: Any


class Process(Protocol):
    """A process whose output is read."""

    @property
    def pid(self) -> int:
        """The id of the process."""

    @property
    def stdout(self) -> IO[str] | None:
        """What it prints."""

    @property
    def stderr(self) -> IO[str] | None:
        """What it complains of."""

    def poll(self) -> int | None:
        """The exit code; None while it runs."""

    def wait(self, timeout: float) -> int:
        """Wait for its end, at most so many seconds; the exit code."""

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send it a signal."""


class RunningServer:
    """`moothall serve` with a data folder; ended, gracefully, with the block.

    `within` is a command that runs it, as `env` would; `program` is another installation than that of the tests.
    """

    def __init__(
        self, data: Path, *arguments: str, within: Sequence[str] = (), program: Sequence[str] = PROGRAM
    ) -> None:
        self.data = data
        self.arguments = arguments
        self.within = within
        self.program = program
        self.url = ""
        self._lines: list[str] = []

    def __enter__(self) -> Self:
        self.process = self.launch(["serve", "--port", "0", "--data", str(self.data), *self.arguments])
        self._readers = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self.process.stdout, self.process.stderr)
        ]
        for reader in self._readers:
            reader.start()
        deadline = time.monotonic() + _PATIENCE
        while not (ready := next((line for line in self._lines if " serves at " in line), None)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError(f"the server did not start:\n{self.printed}")
            time.sleep(0.01)
        self.url = ready.split(" serves at ")[1].strip()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def launch(self, arguments: list[str]) -> Process:
        """Start the process that runs a command of the command line."""
        return subprocess.Popen(
            [*self.within, *self.program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=self.data.parent,
        )

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until it has said what the pattern matches: its two streams are read apart, in no order."""
        deadline = time.monotonic() + _PATIENCE
        while not (match := re.search(pattern, self.printed)):
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern} is nowhere in:\n{self.printed}")
            time.sleep(0.01)
        return match

    @property
    def printed(self) -> str:
        """Everything that it has said so far."""
        return "".join(self._lines)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it and wait; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(_PATIENCE)
        for reader in self._readers:
            reader.join(_PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code

    def request(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Answer:
        """One request below /api/v10."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v10{path}", data, method=method)  # noqa: S310 its own URL
        request.add_header("Content-Type", "application/json")
        if token is not None:
            request.add_header("Authorization", token)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310
                content = answer.read()
                check_answer(method, path.partition("?")[0], answer.status, content)
                return Answer(answer.status, json.loads(content or b"null"))
        except urllib.error.HTTPError as refused:
            with refused:
                return Answer(refused.code, json.loads(refused.read() or b"null"))

    def fetch(self, path: str) -> bytes:
        """What is served at a path, which must be 200."""
        with urllib.request.urlopen(self.url + path, timeout=_PATIENCE) as response:  # noqa: S310 its own URL
            body: bytes = response.read()
            return body

    def command(self, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command of the command line on this server's data."""
        return moothall(*arguments, "--data", str(self.data), stdin=stdin, program=self.program)

    def _read(self, stream: Iterable[str]) -> None:
        for line in stream:
            self._lines.append(line)


def environment() -> dict[str, str]:
    """The environment of a command, without settings of the platform or of its tests.

    New guilds have no features and no boosts, as elsewhere: tests give what they need.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MOOTHALL_")}
    return {**kept, "MOOTHALL_GUILD_FEATURES": "", "MOOTHALL_GUILD_LEVEL": "0"}


def moothall(
    *arguments: str, stdin: str | None = None, program: Sequence[str] = PROGRAM, patience: float = _PATIENCE
) -> "subprocess.CompletedProcess[str]":
    """Run a command of the command line to its end."""
    return subprocess.run(
        [*program, *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        env=environment(),
        timeout=patience,
        check=False,
    )
