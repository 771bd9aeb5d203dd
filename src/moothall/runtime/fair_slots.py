"""A limit on concurrent expensive work, shared fairly between payers."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from moothall.objects.clock import stopwatch
from moothall.runtime.budgets import Overloaded
from moothall.runtime.lanes import Lanes


class FairSlots:
    """A semaphore of `slots`, of which a lane (an account or a network) has at most `each`.

    At most `waiting_max` tasks have or wait for a slot, at most `waiting_each` in one lane. The next slot is given to
    the lane that has had slots for the least time lately.
    """

    def __init__(self, slots: int, *, waiting_max: int, waiting_each: int, each: int = 1) -> None:
        self._free = slots
        self._queue: Lanes[asyncio.Future[None]] = Lanes()
        """Those who wait for a slot, at most `each` of a lane: others of it wait for them."""
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
            async with lane.free:
                await self._take(key)
                started = stopwatch()
                try:
                    yield
                finally:
                    now = stopwatch()
                    self._queue.charge(key, now - started)
                    self._give(now)
        finally:
            self.waiting -= 1
            lane.waiting -= 1
            if not lane.waiting:
                del self._lanes[key]

    async def _take(self, key: Hashable) -> None:
        if self._free and not self._queue:
            self._free -= 1
            return
        future = asyncio.get_running_loop().create_future()
        self._queue.add(key, future)
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled():
                self._queue.discard(key, future)
            else:
                # It had been given the slot already.
                self._give(stopwatch())
            raise

    def _give(self, now: float) -> None:
        """Give a slot that is free now to the next who waits."""
        self._queue.forget(now)
        while (future := self._queue.take()) is not None:
            if not future.done():
                future.set_result(None)
                return
        self._free += 1


class _Lane:
    """The tasks of one payer, of which `each` run at once."""

    __slots__ = ("free", "waiting")

    def __init__(self, each: int) -> None:
        self.free = asyncio.Semaphore(each)
        self.waiting = 0
