"""Simulated Unix sockets: what is promised of the real ones holds of them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.simulation.loop import run
from tests.simulation.randomness import Randomness
from tests.simulation.streams import StreamLoop

PATH = "/socket"
SERVER, CLIENT = 1, 2


class Recording(asyncio.Protocol):
    """Notes what arrives, and the end."""

    def __init__(self) -> None:
        self.received = b""
        self.ended_after: int | None = None
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        assert exc is None
        assert self.ended_after is None
        self.ended_after = len(self.received)


def _connected(seed: int, test: Any) -> None:
    """Run a test with two processes that are connected."""
    randomness = Randomness(seed)
    loop = StreamLoop(randomness.stream("loop"), randomness.stream("streams"))

    async def main() -> None:
        server, client = Recording(), Recording()
        loop.run_in(SERVER, loop.listen, PATH, lambda: server)
        await loop.start_in(CLIENT, loop.create_unix_connection(lambda: client, PATH))
        await test(loop, server, client)

    run(loop, main())


@pytest.mark.parametrize("seed", range(20))
def test_bytes_arrive_whole_and_in_order_and_then_the_end(seed: int) -> None:
    async def test(loop: StreamLoop, server: Recording, client: Recording) -> None:
        sent = b""
        for number in range(50):
            part = bytes([number]) * (number + 1)
            sent += part
            client.transport.write(part)
        client.transport.close()
        client.transport.write(b"late")
        await loop.io(5)
        assert (server.received, server.ended_after, client.ended_after) == (sent, len(sent), 0)

    _connected(seed, test)


@pytest.mark.parametrize("seed", range(20))
def test_what_a_killed_process_wrote_arrives_and_nothing_reaches_it(seed: int) -> None:
    async def test(loop: StreamLoop, server: Recording, client: Recording) -> None:
        server.transport.write(b"before")
        client.transport.write(b"to the dead")
        loop.kill(SERVER)
        server.transport.write(b"after")
        await loop.io(5)
        assert (client.received, client.ended_after) == (b"before", len(b"before"))
        assert (server.received, server.ended_after) == (b"", None)
        with pytest.raises(ConnectionRefusedError):
            await loop.create_unix_connection(Recording, Path(PATH))

    _connected(seed, test)


def test_a_reader_that_pauses_loses_nothing() -> None:
    async def test(loop: StreamLoop, server: Recording, client: Recording) -> None:
        server.transport.pause_reading()
        client.transport.write(b"some")
        await loop.io(5)
        assert server.received == b""
        server.transport.resume_reading()
        assert server.received == b"some"

    _connected(1, test)
