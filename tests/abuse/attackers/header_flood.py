"""Send heads as large as is allowed, with as many headers as fit, and heads that are larger."""

import asyncio
from urllib.parse import urlsplit

from tests.abuse.target import Target


def _head(target: Target, headers: int) -> bytes:
    lines = [f"X-{index}: {index}" for index in range(headers)]
    return "\r\n".join(
        ["GET /api/v10/gateway HTTP/1.1", "Host: localhost", f"X-Forwarded-For: {target.address}", *lines, "", ""]
    ).encode()


async def attack(target: Target, seconds: float) -> None:
    """Send heads on eight connections as fast as answers come."""
    address = urlsplit(target.url)
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    heads = [_head(target, 3_000), _head(target, 6_000), _head(target, 20_000)]

    async def lane(number: int) -> None:
        while loop.time() < end:
            writer = None
            try:
                async with asyncio.timeout(10):
                    reader, writer = await asyncio.open_connection(address.hostname, address.port)
                    for _ in range(50):
                        writer.write(heads[number % 3])
                        await writer.drain()
                        if not await reader.read(65_536):
                            break
                        if loop.time() > end:
                            break
            except (OSError, TimeoutError):
                await asyncio.sleep(0.02)
            finally:
                if writer is not None:
                    writer.transport.abort()

    await asyncio.gather(*(lane(number) for number in range(8)))
