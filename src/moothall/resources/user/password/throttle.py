"""How often passwords and client secrets may be guessed, whatever the rate limits are set to."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

_WINDOW: Final = 900.0
_MAX_KEYS: Final = 100_000
_MAX_WAITING: Final = 256


class Limit(NamedTuple):
    """How many failures one key may collect in fifteen minutes."""

    key: str
    max_failures: int


class TooManyAttempts(Exception):
    """The attempt is not made: a key has failed too often, or too many attempts wait for others."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        """When another attempt may be made."""


class Attempt:
    """An attempt under way. It counts as a failure unless it is given back."""

    __slots__ = ("given_back",)

    def __init__(self) -> None:
        self.given_back = False

    def give_back(self) -> None:
        """Do not count it: it has succeeded, or it was not made."""
        self.given_back = True


class _Window:
    """The attempts of one key."""

    __slots__ = ("failures", "released", "under_way", "until")

    def __init__(self) -> None:
        self.until = 0.0
        self.failures = 0
        self.under_way = 0
        self.released: asyncio.Event | None = None
        """Set when an attempt ends; there while others wait for that."""

    def failures_at(self, now: float) -> int:
        return self.failures if self.until > now else 0

    def end(self, now: float, *, failed: bool) -> None:
        self.under_way -= 1
        if failed:
            self.failures = self.failures_at(now) + 1
            if self.failures == 1:
                self.until = now + _WINDOW
        if self.released is not None:
            self.released.set()
            self.released = None


class AttemptThrottle:
    """Counts failed attempts by key in windows of fifteen minutes, in this process.

    An attempt is reserved before the work begins, so that any number of them made at once gets no further
    than one after the other: those that might be too many wait for the outcome of those under way.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._windows: dict[str, _Window] = {}
        self._waiting = 0

    @asynccontextmanager
    async def attempt(self, *limits: Limit, waits: bool = True) -> AsyncIterator[Attempt]:
        """Reserve an attempt against every limit, for as long as the block runs.

        Raises TooManyAttempts where a key has failed too often; without `waits` also where it would have,
        if all attempts under way failed.
        """
        while (window := self._full(limits)) is not None:
            if not waits or self._waiting >= _MAX_WAITING:
                raise TooManyAttempts(1.0)
            window.released = window.released or asyncio.Event()
            self._waiting += 1
            try:
                await window.released.wait()
            finally:
                self._waiting -= 1
        windows = [self._window(limit.key) for limit in limits]
        for window in windows:
            window.under_way += 1
        attempt = Attempt()
        try:
            yield attempt
        finally:
            now = self._clock()
            for window in windows:
                window.end(now, failed=not attempt.given_back)

    def forget(self, key: str) -> None:
        """Forget the failures of a key."""
        if (window := self._windows.get(key)) is not None:
            window.failures = 0

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._windows)

    def _full(self, limits: Sequence[Limit]) -> _Window | None:
        """The first window that has no room but may get some; raises TooManyAttempts where there will be none."""
        now = self._clock()
        waits, full = 0.0, None
        for key, max_failures in limits:
            window = self._windows.get(key)
            if window is None:
                continue
            failures = window.failures_at(now)
            if failures >= max_failures:
                waits = max(waits, window.until - now)
            elif full is None and failures + window.under_way >= max_failures:
                full = window
        if waits:
            raise TooManyAttempts(waits)
        return full

    def _window(self, key: str) -> _Window:
        window = self._windows.get(key)
        if window is None:
            if len(self._windows) >= _MAX_KEYS:
                self._shrink()
            window = self._windows[key] = _Window()
        return window

    def _shrink(self) -> None:
        now = self._clock()
        live = {key: window for key, window in self._windows.items() if window.until > now or window.under_way}
        # A client that makes up a hundred thousand names in a quarter of an hour does not get memory for them all.
        for key in list(live)[: max(0, len(live) - _MAX_KEYS // 2)]:
            if not live[key].under_way:
                del live[key]
        self._windows = live
