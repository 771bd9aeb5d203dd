"""A listener at every address of this machine, and a network that ends at it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"


class Listener:
    """Counts the connections that reach it, and answers each with 200."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        await reader.readline()
        writer.write(ANSWER)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Listen at one port of every IPv4 and IPv6 address of this machine."""
    everywhere = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    everywhere.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    everywhere.bind(("::", 0))
    listener = Listener(everywhere.getsockname()[1])
    server = await asyncio.start_server(listener.answer, sock=everywhere)
    try:
        yield listener
    finally:
        server.close()


def isolate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the running loop's connections reach this machine and nothing else: others fail at once, unsent."""
    loop = asyncio.get_running_loop()
    connect = loop.sock_connect

    async def connect_here(connection: socket.socket, address: Any) -> None:
        if not _is_here(connection.family, address):
            raise OSError(101, "Network is unreachable")
        await connect(connection, address)

    monkeypatch.setattr(loop, "sock_connect", connect_here)


def _is_here(family: int, address: Any) -> bool:
    """Whether the kernel would route a socket address to this machine itself; UDP's connect() sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(address)
        except OSError:
            return False
        return bool(probe.getsockname()[0] in {probe.getpeername()[0], "127.0.0.1", "::1", "::ffff:127.0.0.1"})
