"""Open TCP connections as fast as the machine allows, reset some, leave others idle."""

import asyncio
import socket
import struct
from urllib.parse import urlsplit

from tests.abuse.target import Target

_IDLE = 500
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends a reset."""


async def attack(target: Target, seconds: float) -> None:
    """Keep a number of idle connections, and open and reset others all the time."""
    address = urlsplit(target.url)
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    idle: list[socket.socket] = []

    async def connect() -> socket.socket:
        connection = socket.socket()
        connection.setblocking(False)
        await asyncio.wait_for(loop.sock_connect(connection, (str(address.hostname), address.port)), 10)
        return connection

    try:
        while loop.time() < end:
            try:
                connection = await connect()
            except (OSError, TimeoutError):
                await asyncio.sleep(0.05)
                continue
            if len(idle) < _IDLE:
                idle.append(connection)
                continue
            await loop.sock_sendall(connection, b"GET /login HTTP/1.1\r\nHost: localhost\r\n")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            connection.close()
    finally:
        for connection in idle:
            connection.close()
