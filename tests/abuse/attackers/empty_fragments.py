"""Four connections that begin a message and continue it with empty fragments without an end."""

import asyncio

from tests.abuse.attackers.control_frames import flood
from tests.abuse.raw_websocket import TEXT, frame
from tests.abuse.target import Target

_CONTINUATION = 0
_CONNECTIONS = 4
_FRAMES = 40_000


async def attack(target: Target, seconds: float) -> None:
    """Send fragments."""
    first, rest = frame(TEXT, final=False), frame(_CONTINUATION, final=False) * _FRAMES
    await asyncio.gather(*(flood(target, rest, seconds, first=first) for _ in range(_CONNECTIONS)))
