"""Throttling of wrong passwords and client secrets, independent of the rate limits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from moothall.objects.clock import CLOCK

_WINDOW: Final = 900.0
_MAX_KEYS: Final = 100_000
_MAX_WAITING: Final = 256


class Limit(NamedTuple):
    """The maximum number of failures of a key in fifteen minutes."""

    key: str
    max_failures: int


class TooManyAttempts(Exception):
    """The attempt is refused: a key has too many failures, or too many attempts wait for others."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        """The delay before another attempt."""


class Attempt:
    """A running attempt. It counts as a failure unless it is discarded."""

    __slots__ = ("discarded",)

    def __init__(self) -> None:
        self.discarded = False

    def discard(self) -> None:
        """Do not count the attempt: it succeeded, or was not made."""
        self.discarded = True


class _Window:
    """The attempts of one key."""

    __slots__ = ("failures", "released", "running", "until")

    def __init__(self) -> None:
        self.until = 0.0
        self.failures = 0
        self.running = 0
        self.released: asyncio.Event | None = None
        """Set when an attempt ends; None unless other attempts wait."""

    def failures_at(self, now: float) -> int:
        return self.failures if self.until > now else 0

    def end(self, now: float, *, failed: bool) -> None:
        self.running -= 1
        if failed:
            self.failures = self.failures_at(now) + 1
            if self.failures == 1:
                self.until = now + _WINDOW
        if self.released is not None:
            self.released.set()
            self.released = None


class AttemptThrottle:
    """Counts failed attempts by key in windows of fifteen minutes, in this process.

    An attempt is reserved before its work begins, so that concurrent attempts are limited like sequential ones: those
    that could exceed the limit wait for the outcome of the running ones.
    """

    def __init__(self, clock: Callable[[], float] = CLOCK.monotonic) -> None:
        self._clock = clock
        self._windows: dict[str, _Window] = {}
        self._waiting = 0

    @asynccontextmanager
    async def attempt(self, *limits: Limit, waits: bool = True) -> AsyncIterator[Attempt]:
        """Reserve an attempt against every limit while the block runs.

        Raises TooManyAttempts if a key has too many failures; without `waits` also if it would have, should all running
        attempts fail.
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
            window.running += 1
        attempt = Attempt()
        try:
            yield attempt
        finally:
            now = self._clock()
            for window in windows:
                window.end(now, failed=not attempt.discarded)

    def forget(self, key: str) -> None:
        """Forget the failures of a key."""
        if (window := self._windows.get(key)) is not None:
            window.failures = 0

    def __len__(self) -> int:
        """The number of stored keys."""
        return len(self._windows)

    def _full(self, limits: Sequence[Limit]) -> _Window | None:
        """The first window that running attempts fill. Raises TooManyAttempts if failures fill one."""
        now = self._clock()
        waits, full = 0.0, None
        for key, max_failures in limits:
            window = self._windows.get(key)
            if window is None:
                continue
            failures = window.failures_at(now)
            if failures >= max_failures:
                waits = max(waits, window.until - now)
            elif full is None and failures + window.running >= max_failures:
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
        live = {key: window for key, window in self._windows.items() if window.until > now or window.running}
        # Bounds the memory that a client with a hundred thousand made-up names can take.
        for key in list(live)[: max(0, len(live) - _MAX_KEYS // 2)]:
            if not live[key].running:
                del live[key]
        self._windows = live
