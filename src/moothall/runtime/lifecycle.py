"""The threads for what a process does once: it loads at the first use, and opens and closes its storage."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_THREADS: Final = ThreadPoolExecutor(2, thread_name_prefix="lifecycle")


async def in_lifecycle_thread(work: Callable[[], T]) -> T:
    """Run work in a thread and return its result. It must not wait for other work of these threads.

    Work that callers can repeat belongs in a `WorkPool` of its kind.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)


class Lazy(Generic[T]):
    """A value that `make` makes in a thread at the first use. After an exception of `make` the next use tries again."""

    __slots__ = ("_lock", "_make", "_values")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._values: list[T] = []
        """Empty until the value is made."""

    async def get(self) -> T:
        """The value. Raises what `make` raises."""
        if not self._values:
            await in_lifecycle_thread(self._ensure)
        return self._values[0]

    def _ensure(self) -> None:
        with self._lock:
            if not self._values:
                self._values.append(self._make())
