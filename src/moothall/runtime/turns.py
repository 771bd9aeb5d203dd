"""Turns of the event loop: no more work begins in one than a few milliseconds of it.

The loop runs everything that is ready before it looks at its timers and sockets again. With many clients that is the
sum of their requests, however short each of them is. So what begins a request awaits `room_in_turn` first: it goes on
at once while the turn is young, else in one of the next turns. Those who wait stand in lanes, one for each account or
network, and the lane that has had the least time lately goes first: however many requests one client sends, another's
hardly waits. A transaction whose turn it is on the connection that writes goes before all: others wait for it. What
takes long is done in pieces, and awaits `yield_turn` between them.
"""

import asyncio
import itertools
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextvars import ContextVar
from heapq import heapify, heappop, heappush
from typing import Final, TypeVar

from moothall.objects.clock import stopwatch

T = TypeVar("T")

LaneOf = Callable[[], Hashable]
"""Tells the lane of what runs, when it has to wait: who pays for it."""

TURN_SECONDS: Final = 0.001
"""Work of a turn after which no more begins in it."""
_MAX_AT_ONCE: Final = 64
_HALVED_EVERY: Final = 1.0
"""Seconds after which half of the time that a lane has had is forgotten."""
_FORGOTTEN: Final = 0.0001
"""Seconds of a lane that are not worth remembering."""


def _no_lane() -> Hashable:
    """The lane of what the server does by itself."""
    return None


_lane_of: Final[ContextVar[LaneOf]] = ContextVar("lane", default=_no_lane)


def enter_lane(lane_of: LaneOf) -> None:
    """Let the running task, and those that it starts, wait in a lane."""
    _lane_of.set(lane_of)


class Turns:
    """The turn under way of an event loop, and those who wait for another one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that calls `_begin` in its next turn; None if no work has begun in this one."""
        self._started = 0.0
        self._first: deque[asyncio.Future[None]] = deque()
        """Those who go before all who wait in lanes, the last one first."""
        self._lanes: dict[Hashable, deque[asyncio.Future[None]]] = {}
        """Those who wait, by lane."""
        self._order: list[tuple[float, int, Hashable]] = []
        """A heap with each lane in which a task waits, by the time that it has had, then by when it came."""
        self._entered = itertools.count()
        self._seconds: dict[Hashable, float] = {}
        """The time that each lane has had lately: its share of the turns in which its work went on after a wait."""
        self._halved_at = 0.0
        self._woken: list[Hashable] = []
        """The lanes whose work went on in the turn under way."""
        self._at_once = 8
        """How many of those who wait begin in one turn, by how long the last ones took."""

    async def room(self, *, first: bool, goes_on: bool = False) -> None:
        """Wait for a turn in which work may begin, or go on if it `goes_on`; before all others if `first`."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # A loop that was closed calls nothing any more.
            self._first.clear()
            self._lanes.clear()
            self._order.clear()
            self._woken.clear()
            self._note_first(loop)
        elif (self._is_awaited() and not (first or goes_on)) or stopwatch() - self._started >= TURN_SECONDS:
            future = loop.create_future()
            if first:
                self._first.appendleft(future)
            else:
                self._wait_in(_lane_of.get()(), future)
            await future
            if self._loop is not loop:
                self._note_first(loop)

    def _wait_in(self, lane: Hashable, future: asyncio.Future[None]) -> None:
        waiting = self._lanes.get(lane)
        if waiting is None:
            self._lanes[lane] = deque((future,))
            self._enter(lane)
        else:
            waiting.append(future)

    def _enter(self, lane: Hashable) -> None:
        heappush(self._order, (self._seconds.get(lane, 0.0), next(self._entered), lane))

    def _is_awaited(self) -> bool:
        return bool(self._lanes or self._first)

    def _note_first(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note that the turn's first work begins now."""
        self._loop, self._started = loop, stopwatch()
        loop.call_soon(self._begin)

    def _begin(self) -> None:
        """Let some of those who wait go on, in this turn or the next."""
        now = stopwatch()
        taken, self._started = now - self._started, now
        self._charge(taken, now)
        if not self._is_awaited() or self._loop is None:
            self._loop = None
            return
        self._at_once = self._at_once // 2 or 1 if taken >= TURN_SECONDS else min(self._at_once * 2, _MAX_AT_ONCE)
        for _ in range(self._at_once):
            future = self._next()
            if future is None:
                break
            if not future.done():
                future.set_result(None)
        self._loop.call_soon(self._begin)

    def _charge(self, taken: float, now: float) -> None:
        """Divide the time of a turn among the lanes whose work went on in it."""
        if now - self._halved_at >= _HALVED_EVERY:
            self._halved_at = now
            halves = ((lane, seconds / 2) for lane, seconds in self._seconds.items())
            self._seconds = {lane: seconds for lane, seconds in halves if seconds >= _FORGOTTEN}
            # Of those who wait too: else a lane that has had much would wait for as long as others come.
            self._order = [
                (seconds / 2 if seconds / 2 >= _FORGOTTEN else 0.0, number, lane)
                for seconds, number, lane in self._order
            ]
            heapify(self._order)
        for lane in self._woken:
            self._seconds[lane] = self._seconds.get(lane, 0.0) + taken / len(self._woken)
        self._woken.clear()

    def _next(self) -> asyncio.Future[None] | None:
        """Take what goes first, or the oldest of the lane that has had the least time."""
        if self._first:
            return self._first.popleft()
        if not self._order:
            return None
        lane = heappop(self._order)[2]
        waiting = self._lanes[lane]
        future = waiting.popleft()
        if waiting:
            self._enter(lane)
        else:
            del self._lanes[lane]
        self._woken.append(lane)
        return future


class _OfThread(threading.local):
    """The turns of this thread's event loop. They are no such object themselves, whose attributes take longer."""

    def __init__(self) -> None:
        self.turns = Turns()


_of_thread: Final = _OfThread()


def room_in_turn(*, first: bool = False) -> Awaitable[None]:
    """Wait until the turn of the running event loop is one in which work may begin.

    With `first`, it begins before all others who wait; no more than one task at a time may ask for that.
    """
    return _of_thread.turns.room(first=first)


async def yield_turn(*, first: bool = False) -> None:
    """Let others run if the turn of the running event loop has had its time.

    Between pieces of work that take a fraction of a millisecond each. With `first`, the work goes on before all others
    who wait: only the transaction that they wait for may ask for that.
    """
    await _of_thread.turns.room(first=first, goes_on=True)


async def in_pieces(items: Sequence[T], size: int) -> AsyncIterator[Sequence[T]]:
    """Pieces of at most `size` items; others run before each if the turn has had its time."""
    for start in range(0, len(items), size):
        await yield_turn()
        yield items[start : start + size]
