"""The platform's clock: the only module that asks the operating system for the time.

Everything that has a moment or a deadline asks `CLOCK`, so that one call of `advance` lets timeouts end, polls close
and tokens expire. Durations of work are measured with `stopwatch`, which `advance` leaves alone, and ages of files are
compared with `file_time`. The event loop's own time is for sockets: a client is not silent because the clock was moved.
"""

import time
from typing import Final


class Clock:
    """Real time plus an offset that only grows. A server for people never calls `advance`."""

    __slots__ = ("_offset_ns",)

    def __init__(self) -> None:
        self._offset_ns = 0

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return (time.time_ns() + self._offset_ns) // 1_000_000

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        return (time.time_ns() + self._offset_ns) / 1e9

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment, which never step back: for windows of limits and for deadlines."""
        return (time.monotonic_ns() + self._offset_ns) / 1e9

    @property
    def offset(self) -> float:
        """How far it is ahead of real time, in seconds."""
        return self._offset_ns / 1e9

    def advance(self, seconds: float) -> None:
        """Move it forwards. Raises ValueError for a negative number: ids and deadlines rely on its direction."""
        if not seconds >= 0:
            raise ValueError("the clock cannot be moved back")
        self._offset_ns += round(seconds * 1e9)

    def reset(self) -> None:
        """Return to real time, for a platform that starts anew."""
        self._offset_ns = 0


CLOCK: Final = Clock()
"""The clock of this process."""

stopwatch: Final = time.perf_counter
"""Seconds, to measure how long work takes."""
cpu_stopwatch: Final = time.thread_time
"""Seconds of CPU time of this thread."""
file_time: Final = time.time
"""Seconds since the Unix epoch, as the file system counts them."""
