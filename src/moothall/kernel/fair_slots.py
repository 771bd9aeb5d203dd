"""A limit on concurrent expensive work, shared fairly between client addresses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from moothall.objects import errors
from moothall.objects.errors import Refusal

_RETRY_AFTER: Final = "2"
"""The Retry-After of a refusal, in seconds."""


class FairSlots:
    """A semaphore of `slots`, of which a network has at most `each`.

    At most `waiting_max` tasks have or wait for a slot, at most `waiting_each` for one network.
    """

    def __init__(self, slots: int, *, waiting_max: int, waiting_each: int, each: int = 1) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._waiting_max = waiting_max
        self._waiting_each = waiting_each
        self._each = each
        self._waiting = 0
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, network: str) -> AsyncIterator[None]:
        """Have a slot inside the block. Raises Refusal: 503 if too many tasks wait already."""
        lane = self._lanes.get(network)
        if self._waiting >= self._waiting_max or (lane is not None and lane.waiting >= self._waiting_each):
            raise Refusal(errors.UNAVAILABLE, headers={"retry-after": _RETRY_AFTER})
        if lane is None:
            lane = self._lanes[network] = _Lane(self._each)
        self._waiting += 1
        lane.waiting += 1
        try:
            async with lane.turn, self._slots:
                yield
        finally:
            self._waiting -= 1
            lane.waiting -= 1
            if not lane.waiting:
                del self._lanes[network]


class _Lane:
    """The tasks of one network, of which `each` run at once."""

    __slots__ = ("turn", "waiting")

    def __init__(self, each: int) -> None:
        self.turn = asyncio.Semaphore(each)
        self.waiting = 0
