"""Turns of the event loop: no more work begins in one than a few milliseconds of it.

The loop runs everything that is ready before it looks at its timers and sockets again. With many clients that is the
sum of their requests, however short each of them is. So what begins a request awaits `room_in_turn` first: it goes on
at once while the turn is young, else in one of the next turns. Those who wait stand in lanes (`runtime/lanes.py`), so
that however many requests one client sends, another's hardly waits. A transaction whose turn it is on the connection
that writes goes before all: others wait for it. What takes long is done in pieces, and awaits `yield_turn` between
them.
"""

import asyncio
import math
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Hashable, Sequence
from typing import Final, TypeVar

from moothall.objects.clock import stopwatch
from moothall.runtime.lanes import SERVER_LANE, Lanes, current_lane

T = TypeVar("T")

TURN_SECONDS: Final = 0.001
"""Work of a turn after which no more begins in it."""
FIRST_SECONDS: Final = 0.002
"""The same for what goes before all others."""
_MAX_AT_ONCE: Final = 64
_LONG_WAIT: Final = 0.005
"""Seconds of a wait for a turn which tells that the server has more to do than there is room for."""
_MANY_WAITS: Final = 20
"""Such waits lately with which the server counts as busy."""


class Turns:
    """The turn under way of an event loop, and those who wait for another one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that calls `_begin` in its next turn; None if no work has begun in this one."""
        self._first: deque[asyncio.Future[None]] = deque()
        """Those who go before all who wait in lanes, the last one first."""
        self._lanes: Lanes[asyncio.Future[None]] = Lanes()
        self._lane: Hashable = SERVER_LANE
        """The lane whose work went on last, in the step that began at `_step_started`; None after its end."""
        self._step_started: float | None = None
        self._taken = 0.0
        """The time of the steps of this turn."""
        self._woken = 0
        """How many of those who waited go on in this turn."""
        self._long_waits = self._long_waits_at = 0.0
        """How many long waits for turns there were lately, half of which are forgotten each second, and when."""
        self._at_once = 8
        """How many of those who wait begin in one turn, by how long the steps of the last ones took."""

    async def room(self, *, first: bool, goes_on: bool = False) -> None:
        """Wait for a turn in which work may begin, or go on if it `goes_on`; before all others if `first`."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # A loop that was closed calls nothing any more.
            self._first.clear()
            self._lanes.clear()
            self._taken, self._step_started = 0.0, None
            self._note_first(loop)
            return
        now = stopwatch()
        self._end_step(now)
        if (self._is_awaited() and not (first or goes_on)) or self._taken >= (FIRST_SECONDS if first else TURN_SECONDS):
            future = loop.create_future()
            waits_from = now
            lane = SERVER_LANE
            if first:
                self._first.appendleft(future)
            else:
                lane = current_lane()
                self._lanes.add(lane, future)
            await future
            now = stopwatch()
            self._end_step(now)
            self._lane, self._step_started = lane, now
            if now - waits_from > _LONG_WAIT and not goes_on:
                self._long_waits, self._long_waits_at = self._long_waits_lately(now) + 1, now
            if self._loop is not loop:
                self._note_first(loop)
        else:
            self._lane, self._step_started = SERVER_LANE, now

    def is_busy(self) -> bool:
        """Whether many had to wait for turns lately."""
        return self._long_waits_lately(stopwatch()) >= _MANY_WAITS

    def _long_waits_lately(self, now: float) -> float:
        return self._long_waits * math.pow(0.5, now - self._long_waits_at)

    def _is_awaited(self) -> bool:
        return bool(self._lanes or self._first)

    def _note_first(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note that the turn's first work begins now."""
        self._loop = loop
        self._lane, self._step_started = SERVER_LANE, stopwatch()
        loop.call_soon(self._begin)

    def _end_step(self, now: float) -> None:
        """Charge the lane whose work went on last for its time since then."""
        if self._step_started is not None:
            taken, self._step_started = now - self._step_started, None
            self._taken += taken
            self._lanes.charge(self._lane, taken)

    def _begin(self) -> None:
        """Let some of those who wait go on, in this turn or the next."""
        now = stopwatch()
        self._end_step(now)
        taken, self._taken = self._taken, 0.0
        woken, self._woken = self._woken, 0
        self._lanes.forget(now)
        if not self._is_awaited() or self._loop is None:
            self._loop = None
            return
        # Not by the whole turn: others than these, such as those that a commit wakes, may fill it.
        if taken >= TURN_SECONDS:
            self._at_once = self._at_once // 2 or 1
        elif woken:
            self._at_once = min(self._at_once * 2, _MAX_AT_ONCE)
        while self._woken < self._at_once:
            future = self._first.popleft() if self._first else self._lanes.take()
            if future is None:
                break
            self._woken += 1
            if not future.done():
                future.set_result(None)
        self._loop.call_soon(self._begin)


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


def is_busy() -> bool:
    """Whether the event loop of this thread has had more to do lately than there was room for."""
    return _of_thread.turns.is_busy()


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
