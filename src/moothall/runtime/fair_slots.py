"""A limit on concurrent expensive work, shared fairly between payers."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from moothall.runtime.budgets import Overloaded


class FairSlots:
    """A semaphore of `slots`, of which a lane (an account or a network) has at most `each`.

    At most `waiting_max` tasks have or wait for a slot, at most `waiting_each` in one lane. As a lane has no more than
    `each` tasks in the queue for slots, the lanes take turns.
    """

    def __init__(self, slots: int, *, waiting_max: int, waiting_each: int, each: int = 1) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._waiting_max = waiting_max
        self._waiting_each = waiting_each
        self._each = each
        self.waiting = 0
        """Tasks that have or wait for a slot."""
        self._lanes: dict[Hashable, _Lane] = {}

    @asynccontextmanager
    async def slot(self, key: Hashable) -> AsyncIterator[None]:
        """Have a slot inside the block. Raises Overloaded if too many tasks wait already."""
        lane = self._lanes.get(key)
        if self.waiting >= self._waiting_max or (lane is not None and lane.waiting >= self._waiting_each):
            raise Overloaded
        if lane is None:
            lane = self._lanes[key] = _Lane(self._each)
        self.waiting += 1
        lane.waiting += 1
        try:
            async with lane.free, self._slots:
                yield
        finally:
            self.waiting -= 1
            lane.waiting -= 1
            if not lane.waiting:
                del self._lanes[key]


class _Lane:
    """The tasks of one payer, of which `each` run at once."""

    __slots__ = ("free", "waiting")

    def __init__(self, each: int) -> None:
        self.free = asyncio.Semaphore(each)
        self.waiting = 0
