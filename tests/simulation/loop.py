"""An asyncio event loop with virtual time and seeded completions of I/O.

Callbacks run in the order in which they were scheduled, as asyncio promises. What reality may reorder is chosen by the
seed: how long each I/O takes (`io`, `run_in_executor`), the order of timers that are due at once, and how late the loop
looks at its timers. While nothing is ready, time jumps to the next timer. Nothing reads the operating system's clock.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import Context
from types import SimpleNamespace
from typing import Any, Final, TypeVar, TypeVarTuple
from unittest import mock

from tests.simulation.randomness import Choices

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH: Final = 1_800_000_000.0
"""The moment at which each simulation begins, in seconds since the Unix epoch."""
_JITTER: Final = 1e-6
"""Timers due within so many seconds run in any order."""
_MAX_LAG: Final = 0.05
"""Seconds by which the loop may look at its timers too late, as one that is busy does."""
QUICK: Final = 1e-6
"""Seconds that pass between two looks at a stopwatch where nothing takes long."""
SLOW: Final = 1e-4
"""The same where work takes long, so that what is done in slices pauses between them."""


class Stuck(Exception):
    """Nothing is ready and no timer is left: what is awaited never comes."""


class SimulatedTask(asyncio.Task[T]):
    """A task whose hash is a number, so that sets of tasks have the same order in each run."""

    def __init__(self, *args: Any, number: int, **kwargs: Any) -> None:
        self._number = number
        super().__init__(*args, **kwargs)

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other


class SimulatedLoop(asyncio.BaseEventLoop):
    """Runs callbacks on one thread at virtual times. `errors` has what reached the exception handler."""

    def __init__(self, choices: Choices, *, max_lag: float = _MAX_LAG) -> None:
        super().__init__()
        self._choices = choices
        self._max_lag = max_lag
        self._now = 0.0
        self._tasks_created = 0
        self._selector = self
        self._clock_resolution = _JITTER  # more than the precision of the time of some years
        self.errors: list[dict[str, Any]] = []
        self.step = QUICK
        """Seconds that pass between two looks at a stopwatch."""
        self.iterations = 0
        self.set_task_factory(self._create_task)
        self.set_exception_handler(lambda _loop, context: self.errors.append(context))

    # Time

    def time(self) -> float:
        """Seconds since the simulation began."""
        return self._now

    def stopwatch(self) -> float:
        """As `time`; each look takes a moment, so that work that measures itself seems to take time."""
        self._now += self.step
        return self._now

    def work(self, seconds: float) -> None:
        """Occupy the loop for so long."""
        self._now += seconds

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Schedule a timer; those due at once run in an order of the seed."""
        return super().call_at(when + _JITTER * self._choices.uniform(0, 1), callback, *args, context=context)

    # The selector: there are no files, only time that passes.

    def select(self, timeout: float | None) -> list[Any]:
        """Let time pass until the next timer is due, at times longer."""
        self.iterations += 1
        if timeout is None:
            raise Stuck
        if timeout > 0:
            self._now += timeout
            if self._max_lag and self._choices.chance(1 / 32):
                self._now += self._choices.uniform(0, self._max_lag)
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    # I/O

    def io(self, seconds: float) -> "asyncio.Future[None]":
        """A future that is done after so many seconds, as an I/O that completes."""
        future: asyncio.Future[None] = self.create_future()
        self.call_later(seconds, _complete, future)
        return future

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> "asyncio.Future[T]":
        """Call a function at a moment of the seed, as a thread would, on this thread."""
        del executor
        future: asyncio.Future[T] = self.create_future()

        def call() -> None:
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - belongs to the future
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(result)

        self.call_later(self._choices.delay(0.0005, 0.05), call)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Do nothing: there are no threads."""

    # Running

    def _create_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **kwargs: Any) -> "asyncio.Task[Any]":
        self._tasks_created += 1
        return SimulatedTask(coroutine, loop=loop, number=self._tasks_created, **kwargs)

    def unfinished_tasks(self) -> "list[asyncio.Task[Any]]":
        """The tasks that have not ended, oldest first."""
        tasks = [task for task in asyncio.all_tasks(self) if not task.done()]
        return sorted(tasks, key=hash)


def _complete(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def run(loop: SimulatedLoop, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop with its clock in place of the operating system's; ends what is left then."""
    asyncio.set_event_loop(loop)
    try:
        with virtual_clock(loop):
            try:
                return loop.run_until_complete(main)
            finally:
                _cancel_tasks(loop)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _cancel_tasks(loop: SimulatedLoop) -> None:
    tasks = loop.unfinished_tasks()
    for task in tasks:
        task.cancel()
    if tasks:
        ended: Awaitable[Any] = asyncio.gather(*tasks, return_exceptions=True)
        loop.run_until_complete(asyncio.wait_for(ended, 3_600))
    loop.run_until_complete(loop.shutdown_asyncgens())


@contextmanager
def virtual_clock(loop: SimulatedLoop) -> Iterator[None]:
    """Let `CLOCK`, `stopwatch` and the other clocks of `objects/clock.py` show the loop's time.

    The modules that imported a stopwatch by name are changed too.
    """
    from moothall.objects import clock  # noqa: PLC0415 - the loop itself needs nothing of the product

    def seconds_since_epoch() -> float:
        return EPOCH + loop.time()

    times = SimpleNamespace(
        time_ns=lambda: int(seconds_since_epoch() * 1e9),
        monotonic_ns=lambda: int(loop.time() * 1e9),
        time=seconds_since_epoch,
        perf_counter=loop.stopwatch,
        thread_time=loop.stopwatch,
    )
    replaced: list[tuple[Any, str, object]] = []
    originals = {time.perf_counter: loop.stopwatch, time.thread_time: loop.stopwatch, time.time: seconds_since_epoch}
    for name, module in list(sys.modules.items()):
        if name.startswith("moothall."):
            for attribute in ("stopwatch", "cpu_stopwatch", "file_time"):
                original = getattr(module, attribute, None)
                if original is not None and original in originals:
                    replaced.append((module, attribute, original))
                    setattr(module, attribute, originals[original])
    with mock.patch.object(clock, "time", times):
        try:
            yield
        finally:
            for module, attribute, original in replaced:
                setattr(module, attribute, original)
