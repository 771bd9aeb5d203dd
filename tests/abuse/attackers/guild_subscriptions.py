"""A session that subscribes to ever other guilds, of which it is a member of none, with the largest commands."""

import asyncio
import contextlib
import itertools
from typing import Any

from tests.abuse.raw_websocket import RawWebSocket
from tests.abuse.target import Target

_SESSIONS = 5
_COMMANDS = 110
"""Commands of a connection, below the limit of a minute."""
_GUILDS = 39
_FIRST = 1 << 62


async def attack(target: Target, seconds: float) -> None:
    """Send opcode 37 on several connections at once, and connect again when they have no commands left."""
    numbers = itertools.count(_FIRST)
    end = asyncio.get_running_loop().time() + seconds
    await asyncio.gather(*(_subscribe(target, numbers, end) for _ in range(_SESSIONS)))


async def _subscribe(target: Target, numbers: "itertools.count[int]", end: float) -> None:
    loop = asyncio.get_running_loop()
    while (remaining := end - loop.time()) > 0:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(remaining), RawWebSocket(target) as socket:
                socket.identify(target.token, capabilities=30_717)
                reading = asyncio.ensure_future(socket.close_code())
                try:
                    for _ in range(_COMMANDS):
                        if socket.writer.transport.is_closing():
                            break
                        socket.send({"op": 37, "d": {"subscriptions": _subscriptions(numbers)}})
                        await socket.writer.drain()
                        await asyncio.sleep(0.01)
                finally:
                    reading.cancel()
        await asyncio.sleep(0.05)


def _subscriptions(numbers: "itertools.count[int]") -> dict[str, Any]:
    ranges = [[number, number] for number in range(5)]
    return {str(next(numbers)): {"typing": True, "channels": {"1": ranges}} for _ in range(_GUILDS)}
