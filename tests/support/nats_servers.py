"""NATS servers for tests: the one that the environment names, and one that a test may stop and start."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.errors import Error as JetStreamError

from moothall.bus.batches import BatchNumbers
from moothall.bus.nats import NatsBus
from moothall.bus.sealing import Seal
from moothall.storage.nodes import new_name
from tests.support.suites import leave_out

NATS = os.environ.get("MOOTHALL_TEST_NATS", "nats://127.0.0.1:4222")
"""A NATS server with JetStream; without one the tests of many processes are skipped."""


async def eventually(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 what is waited for sets no event
            await asyncio.sleep(0.01)


async def _refuse(_error: Exception) -> None:
    """Whatever is wrong is told by what was tried."""


async def connected(url: str) -> Client:
    """A client of a server."""
    client = Client()
    await client.connect(
        [url],
        connect_timeout=10,
        allow_reconnect=False,
        max_reconnect_attempts=1,
        reconnect_time_wait=0,
        error_cb=_refuse,
    )
    return client


async def usable_nats() -> str:
    """The URL of the environment's server; skips the test if it cannot be used."""
    try:
        client = await connected(NATS)
    except (NatsError, OSError, TimeoutError) as error:
        leave_out("nats", f"NATS cannot be used at {NATS}: {error}")
    try:
        await client.jetstream(timeout=10).account_info()
    except (NatsError, JetStreamError, TimeoutError) as error:
        leave_out("nats", f"NATS at {NATS} has no JetStream: {error}")
    finally:
        await client.close()
    return NATS


async def forget_space(url: str, space: str) -> None:
    """Delete the stream that a test made."""
    client = await connected(url)
    try:
        await client.jetstream(timeout=10).delete_stream(f"moothall-{space}")
    except JetStreamError:
        pass
    finally:
        await client.close()


class OwnNats:
    """A server of the test's own, with its streams in a folder; skips the test where there is no program for it."""

    def __init__(self, folder: Path, *, jetstream: bool = True) -> None:
        if shutil.which("nats-server") is None:
            leave_out("nats", "there is no nats-server to start and stop")
        self._folder = folder
        self._options = ("-js", "-sd", str(folder)) if jetstream else ()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it and wait until it answers."""
        command = ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), *self._options]
        self._process = await asyncio.to_thread(
            subprocess.Popen, command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        async with asyncio.timeout(60):
            while True:
                try:
                    client = await connected(self.url)
                except (NatsError, OSError):
                    await asyncio.sleep(0.05)
                else:
                    await client.close()
                    return

    async def kill(self) -> None:
        """End it at once; the folder keeps what it had. Does nothing the second time."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await asyncio.to_thread(process.wait)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to its process."""
        assert self._process is not None
        self._process.send_signal(number)

    def lose_everything(self) -> None:
        """Empty the folder of a server that does not run."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def copy_streams(self) -> Path:
        """Copy the folder of a server that does not run; returns the copy."""
        copy = self._folder.with_name(f"{self._folder.name}-copy")
        shutil.copytree(self._folder, copy)
        return copy

    def restore_streams(self, copy: Path) -> None:
        """Give a server that does not run an earlier disk: what it wrote since was not synced, and is lost."""
        self.lose_everything()
        shutil.copytree(copy, self._folder)


class Batches:
    """The numbers of the batches of an outbox, as the database of a cluster gives them."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> BatchNumbers:
        """The numbers of one more batch."""
        self.last += 1
        return BatchNumbers(self.last, self.last - 1)

    async def read(self) -> int:
        """The number of the last batch."""
        return self.last


def bus_at(url: str, key: bytes = bytes(32), *, batches: Batches | None = None) -> NatsBus:
    """The bus of one process, not yet started."""
    return NatsBus(url, node=new_name(), seal=Seal([key]), last_batch=(batches or Batches()).read)
