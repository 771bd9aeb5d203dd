"""When Python's garbage collector looks at which objects, and when free memory goes back to the system.

The collector finds cycles of objects only; all others go when nothing refers to them any more. A collection of the
oldest looks at every object that there is, tens of milliseconds in a large community, and nothing else runs meanwhile.

What the C library has freed it keeps for later: after thousands of clients have connected at once, tens of megabytes;
`limit_free_memory` bounds what it keeps while the server works.
"""

import asyncio
import ctypes
import gc
from typing import Final

from moothall.objects.clock import cpu_stopwatch
from moothall.runtime.background import BackgroundTask

_YOUNGEST: Final = 1_000
"""New objects after which the youngest are looked at: some 2 us for each object of a cycle."""
_MIDDLE: Final = 8
"""Collections of the youngest after which those that are left are looked at: a millisecond."""
_NEVER: Final = 2**31 - 1
"""Collections of the middle after which Python itself would look at all objects."""
_DUE: Final = 100
"""Collections of the middle after which all objects are looked at once the server is idle."""
_OVERDUE: Final = 100 * _DUE
"""The same for a server that never is."""
_SECONDS: Final = 1.0
_IDLE: Final = 0.05
"""Seconds of the processor of the event loop within `_SECONDS` up to which the server is idle."""


_MMAP_THRESHOLD: Final = (-3, 512 * 1024)
"""An option of glibc's mallopt(3) and its value: memory from which on it is returned as soon as it is freed.

By default the threshold rises to the size of whatever is freed, up to 32 MiB: after the first large body all others,
and the memory of password hashes, would fragment the heap.
"""
_ARENA_MAX: Final = (-8, 2)
"""The same for heaps: by default each thread has one, eight for each processor, and keeps what it has freed."""


class IdleCollector(BackgroundTask):
    """Looks at all objects while no request waits for the event loop, and returns memory after work."""

    def start(self) -> None:
        """Switch the collector on, for objects that are made from now on: all others live as long as the process."""
        gc.freeze()
        gc.enable()
        gc.set_threshold(_YOUNGEST, _MIDDLE, _NEVER)
        super().start()

    async def _run(self) -> None:
        worked = True
        while not self._stopping:
            before = cpu_stopwatch()
            await asyncio.sleep(_SECONDS)
            busy = cpu_stopwatch() - before
            collect_if_due(busy_seconds=busy)
            if worked and busy <= _IDLE:
                return_memory()
            worked = busy > _IDLE


def collect_if_due(*, busy_seconds: float) -> bool:
    """Look at all objects if that is due after `_SECONDS` in which the event loop was busy for so long."""
    _, _, middle = gc.get_count()
    due = middle >= (_DUE if busy_seconds <= _IDLE else _OVERDUE)
    if due:
        gc.collect()
    return due


def limit_free_memory() -> None:
    """Let the C library keep little of what is freed, where it is glibc. Call it before other threads start."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        for option, value in (_MMAP_THRESHOLD, _ARENA_MAX):
            set_option(option, value)


def return_memory() -> None:
    """Give memory that is free back to the system, where the C library is glibc; others do so by themselves."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
