"""Four connections that never identify and send nothing but pings of six bytes, again as soon as they are closed."""

import asyncio
import contextlib

from tests.abuse.raw_websocket import RawWebSocket, frame
from tests.abuse.target import Target

PING = 9
_CONNECTIONS = 4
_FRAMES = 40_000
_PAUSE = 0.05


async def attack(target: Target, seconds: float) -> None:
    """Send pings."""
    await asyncio.gather(*(flood(target, frame(PING) * _FRAMES, seconds) for _ in range(_CONNECTIONS)))


async def flood(target: Target, data: bytes, seconds: float, *, first: bytes = b"") -> None:
    """Send `first` and then the same bytes on one connection after another, for some time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end:
        with contextlib.suppress(OSError, EOFError):
            async with RawWebSocket(target) as socket:
                socket.writer.write(first)
                await socket.flood(data, end - loop.time())
        await asyncio.sleep(_PAUSE)
