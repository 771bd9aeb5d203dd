"""Sessions that are started again and again, each of which costs a READY, and left to wait for their client."""

import asyncio
import contextlib

from tests.abuse.raw_websocket import RawWebSocket
from tests.abuse.target import Target

_LANES = 8
_ENOUGH = 3
"""Frames after which READY has been made."""


async def attack(target: Target, seconds: float) -> None:
    """Identify and drop the connection."""
    end = asyncio.get_running_loop().time() + seconds
    await asyncio.gather(*(_identify(target, end) for _ in range(_LANES)))


async def _identify(target: Target, end: float) -> None:
    loop = asyncio.get_running_loop()
    while (remaining := end - loop.time()) > 0:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(remaining), RawWebSocket(target) as socket:
                socket.identify(target.token)
                for _ in range(_ENOUGH):
                    await socket.receive()
        await asyncio.sleep(0.02)
