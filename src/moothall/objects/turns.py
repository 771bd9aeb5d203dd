"""Turns of the event loop: no more work begins in one than a few milliseconds of it.

The loop runs everything that is ready before it looks at its timers and sockets again. With many clients that is the
sum of their requests, however short each of them is. So what begins a request awaits `room_in_turn` first: it goes on
at once while the turn is young, else in one of the next turns, first come, first served. A transaction whose turn it is
on the connection that writes goes before them: others wait for it.
"""

import asyncio
import threading
from collections import deque
from typing import Final

from moothall.objects.clock import stopwatch

TURN_SECONDS: Final = 0.002
"""Work of a turn after which no more begins in it."""
_MAX_AT_ONCE: Final = 64


class Turns(threading.local):
    """The turn under way of this thread's event loop, and those who wait for another one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that calls `_begin` in its next turn; None if no work has begun in this one."""
        self._started = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._at_once = 8
        """How many of those who wait begin in one turn, by how long the last ones took."""

    async def room(self, *, first: bool) -> None:
        """Wait for a turn in which work may begin, before all others who wait if `first`."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # The turn's first work. A loop that was closed calls nothing any more.
            self._loop, self._started = loop, stopwatch()
            self._waiting.clear()
            loop.call_soon(self._begin)
        elif (self._waiting and not first) or stopwatch() - self._started >= TURN_SECONDS:
            future = loop.create_future()
            if first:
                self._waiting.appendleft(future)
            else:
                self._waiting.append(future)
            await future

    def _begin(self) -> None:
        """Let some of those who wait go on, in this turn or the next."""
        now = stopwatch()
        taken, self._started = now - self._started, now
        if not self._waiting or self._loop is None:
            self._loop = None
            return
        self._at_once = self._at_once // 2 or 1 if taken >= TURN_SECONDS else min(self._at_once * 2, _MAX_AT_ONCE)
        for _ in range(min(self._at_once, len(self._waiting))):
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
        self._loop.call_soon(self._begin)


_turns: Final = Turns()


async def room_in_turn(*, first: bool = False) -> None:
    """Wait until the turn of the running event loop is one in which work may begin.

    With `first`, it begins before all others who wait; no more than one task at a time may ask for that.
    """
    await _turns.room(first=first)
