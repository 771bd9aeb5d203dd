"""The least that a proxy in one Python process does: pass the bytes of each connection on to a port, and back.

    python -m benchmarks.relay PORT TARGET_PORT

It parses nothing, checks nothing, and opens one connection to the target for each of its own.
"""

import asyncio
import sys
from typing import Any

import uvloop


class _Target(asyncio.Protocol):
    """The connection to the target."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def data_received(self, data: bytes) -> None:
        """Pass bytes back."""
        self._client.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the client's connection."""
        del exc
        self._client.close()


class _Client(asyncio.Protocol):
    """A connection of a client."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._target: Any = None
        self._waiting: list[bytes] = []
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: Any) -> None:
        """Connect to the target."""
        self._opening = asyncio.get_running_loop().create_task(self._open(transport))

    async def _open(self, client: Any) -> None:
        loop = asyncio.get_running_loop()
        self._target, _ = await loop.create_connection(lambda: _Target(client), "127.0.0.1", self._target_port)
        for data in self._waiting:
            self._target.write(data)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on."""
        if self._target is None:
            self._waiting.append(data)
        else:
            self._target.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection to the target."""
        del exc
        if self._target is not None:
            self._target.close()


async def _serve(port: int, target_port: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: _Client(target_port), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
