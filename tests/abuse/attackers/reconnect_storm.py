"""Sessions that are dropped and resumed again and again, from their beginning, some after a reset."""

import asyncio
import contextlib
import json

from tests.abuse.raw_websocket import TEXT, RawWebSocket
from tests.abuse.target import Target

_SESSIONS = 8
_ENOUGH = 3
"""Frames after which events are repeated."""
_PAUSE = 0.02


async def attack(target: Target, seconds: float) -> None:
    """Keep a few sessions that are resumed all the time."""
    end = asyncio.get_running_loop().time() + seconds
    await asyncio.gather(*(_resume(target, end) for _ in range(_SESSIONS)))


async def _resume(target: Target, end: float) -> None:
    """Identify, and resume for as long as the session lives."""
    loop = asyncio.get_running_loop()
    session_id = ""
    while (remaining := end - loop.time()) > 0:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(remaining), RawWebSocket(target) as socket:
                if not session_id:
                    socket.identify(target.token, intents=0x1FFFF & ~0x8102)
                else:
                    socket.send({"op": 6, "d": {"token": target.token, "session_id": session_id, "seq": 1}})
                for _ in range(_ENOUGH):
                    opcode, data = await socket.receive()
                    event = json.loads(data) if opcode == TEXT else {}
                    if event.get("t") == "READY":
                        session_id = event["d"]["session_id"]
                    elif event.get("op") == 9:
                        session_id = ""
        await asyncio.sleep(_PAUSE)
