"""Pools of threads for long work: one for each kind of work, fair between payers, who are charged its CPU time.

The event loop's default pool is for what is short and rare. Work that a caller can make long, or ask for often, runs in
a pool of its own kind, so that however much of one kind waits, no other kind does.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from moothall.objects.clock import cpu_stopwatch
from moothall.runtime.budgets import Overloaded, Payer
from moothall.runtime.metered_slots import Meter, MeteredSlots

T = TypeVar("T")


class WorkPool:
    """A pool of `threads` for one kind of work.

    A payer's work takes turns with that of others: `each` of it runs at once, at most `waiting_each` runs or waits,
    and of all payers `waiting_max`. What runs and waits has at most `bytes_max` bytes in memory. The CPU time of work
    is charged to `meter`, which refuses payers who are over their budget before they wait. Each thread begins with
    `initializer`.
    """

    def __init__(
        self,
        name: str,
        meter: Meter | None = None,
        *,
        threads: int = 1,
        waiting_max: int = 256,
        waiting_each: int = 32,
        each: int = 1,
        bytes_max: int | None = None,
        initializer: Callable[[], None] | None = None,
    ) -> None:
        self._slots = MeteredSlots(threads, meter, waiting_max=waiting_max, waiting_each=waiting_each, each=each)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=initializer)
        self._bytes_max = bytes_max
        self.bytes = 0
        """Bytes in memory of what runs and waits."""

    @property
    def waiting(self) -> int:
        """How much runs or waits."""
        return self._slots.waiting

    def for_payer(self, payer: Payer) -> "PayerPool":
        """The pool as one payer uses it."""
        return PayerPool(self, payer)

    async def run(self, payer: Payer, work: Callable[[], T], *, size: int = 0) -> T:
        """Run work in a thread and return its result. `size` is how many bytes it has in memory.

        Raises what the meter and `work` raise, and Overloaded if too much waits already.
        """
        async with self.slot(payer, size=size) as slot:
            return await slot.run(work)

    @contextmanager
    def charging(self, payer: Payer) -> Iterator[None]:
        """Charge the CPU time of work of this kind that the block does on this thread. Raises what the meter raises."""
        self._slots.check(payer)
        started = cpu_stopwatch()
        try:
            yield
        finally:
            self._slots.charge(payer, cpu_stopwatch() - started)

    @asynccontextmanager
    async def slot(self, payer: Payer, *, size: int = 0) -> AsyncIterator["Slot"]:
        """Have a thread inside the block, which may also load what the work needs. Raises as `run`."""
        self._slots.check(payer)
        if self._bytes_max is not None and self.bytes and self.bytes + size > self._bytes_max:
            raise Overloaded
        self.bytes += size
        try:
            async with self._slots.slot(payer):
                yield Slot(self._threads, self._slots, payer)
        finally:
            self.bytes -= size

    def close(self, *, wait: bool = False) -> None:
        """Start no more work, and with `wait` let that end which runs."""
        self._threads.shutdown(wait=wait, cancel_futures=True)


class PayerPool:
    """A pool, and whom it charges."""

    __slots__ = ("_pool", "payer")

    def __init__(self, pool: WorkPool, payer: Payer) -> None:
        self._pool = pool
        self.payer = payer

    async def run(self, work: Callable[[], T], *, size: int = 0) -> T:
        """As `WorkPool.run`."""
        return await self._pool.run(self.payer, work, size=size)


class Slot:
    """A thread of a pool that a payer has for a while."""

    __slots__ = ("_payer", "_slots", "_threads")

    def __init__(self, threads: ThreadPoolExecutor, slots: MeteredSlots, payer: Payer) -> None:
        self._threads = threads
        self._slots = slots
        self._payer = payer

    async def run(self, work: Callable[[], T]) -> T:
        """Run work in a thread and return its result; a caller who is cancelled waits for its end nevertheless.

        So no slot is free while its thread is not. Raises what the work raises.
        """
        measured = _Measured(work)
        future = asyncio.get_running_loop().run_in_executor(self._threads, measured)
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()  # mark it as retrieved
            raise
        finally:
            self._slots.charge(self._payer, measured.seconds)
        return measured.result  # type: ignore[no-any-return]


class _Measured:
    """Work that measures its CPU time."""

    __slots__ = ("_work", "result", "seconds")

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self.result: Any = None
        self.seconds = 0.0

    def __call__(self) -> None:
        started = cpu_stopwatch()
        try:
            self.result = self._work()
        finally:
            self.seconds = cpu_stopwatch() - started
