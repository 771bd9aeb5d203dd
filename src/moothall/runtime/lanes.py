"""Lanes: what waits stands in that of its account or network, and the lane that has had the least time goes first.

However many requests one client sends, another's hardly waits (docs/decisions/0030).
"""

import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

T = TypeVar("T")

LaneOf = Callable[[], Hashable]
"""Tells the lane of what runs, when it has to wait: who pays for it."""

SERVER_LANE: Final = None
"""The lane of what the server does by itself."""
_HALVED_EVERY: Final = 1.0
"""Seconds after which half of the time that a lane has had is forgotten."""
_LIGHT: Final = 0.01
"""Seconds that count for nothing: who acts now and then would wait for all who come for the first time."""
_FORGOTTEN: Final = 0.0001
"""Seconds of a lane that are not worth remembering."""


def _server_lane() -> Hashable:
    return SERVER_LANE


_lane_of: Final[ContextVar[LaneOf]] = ContextVar("lane", default=_server_lane)


def enter_lane(lane_of: LaneOf) -> None:
    """Let the running task, and those that it starts, wait in a lane."""
    _lane_of.set(lane_of)


def current_lane() -> Hashable:
    """The lane of the running task."""
    return _lane_of.get()()


class Lanes(Generic[T]):
    """What waits, by lane, and the time that each lane has had lately."""

    def __init__(self) -> None:
        self._lanes: dict[Hashable, deque[T]] = {}
        self._order: list[tuple[float, int, Hashable]] = []
        """A heap with each lane in which something waits, by the time that it has had, then by when it came."""
        self._entered = itertools.count()
        self._seconds: dict[Hashable, float] = {}
        self._halved_at = 0.0

    def __bool__(self) -> bool:
        return bool(self._lanes)

    def __iter__(self) -> Iterator[T]:
        """What waits, the lanes in no order."""
        return itertools.chain.from_iterable(self._lanes.values())

    def add(self, lane: Hashable, item: T) -> None:
        """Let something wait behind what waits in its lane."""
        waiting = self._lanes.get(lane)
        if waiting is None:
            self._lanes[lane] = deque((item,))
            self._enter(lane)
        else:
            waiting.append(item)

    def take(self) -> T | None:
        """Take the oldest of the lane that has had the least time; None if nothing waits."""
        if not self._order:
            return None
        lane = heappop(self._order)[2]
        waiting = self._lanes[lane]
        item = waiting.popleft()
        if waiting:
            self._enter(lane)
        else:
            del self._lanes[lane]
        return item

    def discard(self, lane: Hashable, item: T) -> None:
        """Let something wait no longer that may wait in a lane."""
        waiting = self._lanes.get(lane)
        if waiting is None or item not in waiting:
            return
        waiting.remove(item)
        if not waiting:
            del self._lanes[lane]
            self._order = [entry for entry in self._order if entry[2] != lane]
            heapify(self._order)

    def charge(self, lane: Hashable, seconds: float) -> None:
        """Add time that a lane has had. What the server does by itself goes before those who have had any."""
        if lane is not SERVER_LANE:
            self._seconds[lane] = self._seconds.get(lane, 0.0) + seconds

    def has_had_less(self, lane: Hashable, other: Hashable) -> bool:
        """Whether a lane would go before another though both came at once."""
        return self._rank(lane) < self._rank(other)

    def forget(self, now: float) -> None:
        """Forget half of the time that each lane has had, once a second by this clock."""
        if now - self._halved_at < _HALVED_EVERY:
            return
        self._halved_at = now
        halves = ((lane, seconds / 2) for lane, seconds in self._seconds.items())
        self._seconds = {lane: seconds for lane, seconds in halves if seconds >= _FORGOTTEN}
        # Of those who wait too: else a lane that has had much would wait for as long as others come.
        self._order = [(self._rank(lane), number, lane) for _, number, lane in self._order]
        heapify(self._order)

    def clear(self) -> None:
        """Let nothing wait."""
        self._lanes.clear()
        self._order.clear()

    def _enter(self, lane: Hashable) -> None:
        heappush(self._order, (self._rank(lane), next(self._entered), lane))

    def _rank(self, lane: Hashable) -> float:
        """The time that a lane has had beyond what counts for nothing."""
        return max(0.0, self._seconds.get(lane, 0.0) - _LIGHT)
