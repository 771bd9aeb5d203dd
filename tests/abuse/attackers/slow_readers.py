"""Ask for the largest answers over many connections and read nothing."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from tests.abuse.target import Target

_CONNECTIONS = 200
_REQUESTS = 20
"""Requests that follow each other on a connection before any answer is read."""


async def attack(target: Target, seconds: float) -> None:
    """Hold connections whose answers are never read."""
    address = urlsplit(target.url)
    request = (
        f"GET /api/v10/openapi.json HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {target.address}\r\n\r\n"
        f"GET /api/v10/guilds/{target.guild_id}/channels HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: {target.token}\r\nX-Forwarded-For: {target.address}\r\n\r\n"
    ).encode()
    writers: list[asyncio.StreamWriter] = []
    try:
        for _ in range(_CONNECTIONS):
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1024)
                writer.transport.pause_reading()  # type: ignore[attr-defined]  # a ReadTransport
                writer.write(request * _REQUESTS)
                writers.append(writer)
                del reader
        await asyncio.sleep(seconds)
    finally:
        for writer in writers:
            writer.transport.abort()
