"""Server processes that faults end, stop and start again, at ports that stay."""

import asyncio
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.chaos.services import free_port
from tests.support.serving import environment

_PATIENCE = 90.0


class Node:
    """`moothall serve` with its arguments; its output goes to a file."""

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        within: Sequence[str] = (),
    ) -> None:
        self.port = free_port()
        self.folder = folder
        self._arguments = arguments
        self._variables = variables or {}
        self._within = within
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process that was started, which is the supervisor of workers."""
        assert self._process is not None
        return self._process.pid

    def pids(self) -> list[int]:
        """All its processes."""
        return [self.pid, *self.children()]

    def children(self) -> list[int]:
        """The processes below the one that was started."""
        pids: list[int] = []
        for task in Path(f"/proc/{self.pid}/task").glob("*/children"):
            pids += [int(pid) for pid in task.read_text(encoding="ascii").split()]
        return pids

    async def start(self) -> None:
        """Start it and wait until it is healthy."""
        await self.begin()
        await self.until_healthy()

    async def begin(self) -> None:
        """Start it."""
        self.folder.mkdir(exist_ok=True)
        log = (self.folder.parent / f"{self.folder.name}.log").open("ab")
        self._process = await asyncio.create_subprocess_exec(
            *self._within, sys.executable, "-m", "moothall", "serve", "--port", str(self.port),
            "--data", str(self.folder), "--no-demo", "--no-rate-limits", *self._arguments,
            stdout=log, stderr=log, env={**environment(), **self._variables}, start_new_session=True,
        )  # fmt: skip
        log.close()

    async def until_healthy(self) -> None:
        """Wait until /healthz is 200. Raises TimeoutError with the end of the log."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not await asyncio.to_thread(self._is_healthy):
                    if self._process is None or self._process.returncode is not None:
                        raise AssertionError(f"the server ended:\n{self.log_end()}")
                    await asyncio.sleep(0.1)
        except TimeoutError as error:
            raise TimeoutError(f"{self.url} is not healthy:\n{self.log_end()}") from error

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:  # noqa: S310 its own URL
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def log_end(self) -> str:
        """The last lines that it has printed."""
        path = self.folder.parent / f"{self.folder.name}.log"
        return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])

    def signal(self, number: signal.Signals, pid: int | None = None) -> None:
        """Send a signal to the process, or to one of its children."""
        with suppress(ProcessLookupError):
            os.kill(pid or self.pid, number)

    async def kill(self) -> None:
        """End all its processes at once."""
        if self._process is not None and self._process.returncode is None:
            os.killpg(self.pid, signal.SIGKILL)
            await self._process.wait()

    async def stop(self) -> None:
        """End it gracefully."""
        if self._process is not None and self._process.returncode is None:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(30):
                    await self._process.wait()
            except TimeoutError:
                await self.kill()
