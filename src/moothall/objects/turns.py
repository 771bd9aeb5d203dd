"""Turns of the event loop: no more work begins in one than a few milliseconds of it.

The loop runs everything that is ready before it looks at its timers and sockets again. With many clients that is the
sum of their requests, however short each of them is. So what begins a request awaits `room_in_turn` first: it goes on
at once while the turn is young, else in one of the next turns, first come, first served. A transaction whose turn it is
on the connection that writes goes before them: others wait for it. What takes long is done in pieces, and awaits
`yield_turn` between them.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Final, TypeVar

from moothall.objects.clock import stopwatch

T = TypeVar("T")

TURN_SECONDS: Final = 0.001
"""Work of a turn after which no more begins in it."""
_MAX_AT_ONCE: Final = 64


class Turns:
    """The turn under way of an event loop, and those who wait for another one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that calls `_begin` in its next turn; None if no work has begun in this one."""
        self._started = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._at_once = 8
        """How many of those who wait begin in one turn, by how long the last ones took."""

    async def room(self, *, first: bool, goes_on: bool = False) -> None:
        """Wait for a turn in which work may begin, or go on if it `goes_on`; before all others if `first`."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # A loop that was closed calls nothing any more.
            self._waiting.clear()
            self._note_first(loop)
        elif (self._waiting and not (first or goes_on)) or stopwatch() - self._started >= TURN_SECONDS:
            future = loop.create_future()
            if first:
                self._waiting.appendleft(future)
            else:
                self._waiting.append(future)
            await future
            if self._loop is not loop:
                self._note_first(loop)

    def _note_first(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note that the turn's first work begins now."""
        self._loop, self._started = loop, stopwatch()
        loop.call_soon(self._begin)

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
