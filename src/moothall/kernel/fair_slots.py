"""A few slots for heavy work, shared fairly between the addresses that cause it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from moothall.objects import errors
from moothall.objects.errors import Refusal

_RETRY_AFTER: Final = "2"
"""Seconds until a client that was turned away asks again."""


class FairSlots:
    """`slots` pieces of work at a time, of which one address has one at most, however many it asks for.

    At most `waiting_max` wait or work, `waiting_each` for one address.
    """

    def __init__(self, slots: int, *, waiting_max: int, waiting_each: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._waiting_max = waiting_max
        self._waiting_each = waiting_each
        self._waiting = 0
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, network: str) -> AsyncIterator[None]:
        """Hold the one slot of a network. Raises Refusal: 503 if too many wait already."""
        lane = self._lanes.get(network)
        if self._waiting >= self._waiting_max or (lane is not None and lane.waiting >= self._waiting_each):
            raise Refusal(errors.UNAVAILABLE, headers={"retry-after": _RETRY_AFTER})
        if lane is None:
            lane = self._lanes[network] = _Lane()
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
    """The work of one address, a piece at a time."""

    __slots__ = ("turn", "waiting")

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.waiting = 0
