"""Simulated processes on one loop: what one has started never runs again once it is killed.

Everything that runs in a context with `PROCESS` set belongs to that process: its tasks, their callbacks and timers.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, TypeVar, TypeVarTuple

from moothall.runtime.turns import Turns
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

PROCESS: Final[ContextVar[int]] = ContextVar("PROCESS", default=0)
"""The number of the process that runs; 0 for what is outside of all, as clients are."""


class TurnsOfProcesses:
    """The turns of the event loop of each process, in place of those of each thread."""

    def __init__(self) -> None:
        self._turns: dict[int, Turns] = {}

    @property
    def turns(self) -> Turns:
        """Those of the process that runs."""
        return self._turns.setdefault(PROCESS.get(), Turns())


class ProcessLoop(SimulatedLoop):
    """A simulated loop whose processes can be killed."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self._dead: set[int] = set()
        self._process_of: dict[asyncio.Task[Any], int] = {}
        self._thread_delay: float | None = None
        self._burying = False
        self._stillborn: list[asyncio.Task[Any]] = []
        """Tasks that were created while what killed processes have left was closed."""

    def start_in(self, process: int, coroutine: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Start a task of a process."""
        context = copy_context()
        context.run(PROCESS.set, process)
        return self.create_task(coroutine, context=context)

    def run_in(self, process: int, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call a function as a process does."""
        context = copy_context()
        context.run(PROCESS.set, process)
        return context.run(function, *args)

    def kill(self, process: int) -> None:
        """Let nothing of a process run any more."""
        self._dead.add(process)
        for handle in [*self._ready, *self._scheduled]:  # type: ignore[attr-defined]
            if handle._context.get(PROCESS, 0) == process:
                handle.cancel()

    def bury(self) -> None:
        """Close what killed processes have left, before the loop is closed. Nothing of it is scheduled any more."""
        self._burying = True
        try:
            for task in super().unfinished_tasks():
                if self._process_of.get(task, 0) in self._dead:
                    _close(task)
            # What these have begun in `finally` never runs.
            for task in self._stillborn:
                _close(task)
        finally:
            self._burying = False

    @contextmanager
    def on_thread(self, delay: float) -> Iterator[None]:
        """Let what the block hands over to the loop, as from a thread, arrive after so many seconds."""
        self._thread_delay = delay
        try:
            yield
        finally:
            self._thread_delay = None

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back on the loop, from what would be a thread."""
        if self._thread_delay is None:
            return self.call_soon(callback, *args, context=context)
        return self.call_later(self._thread_delay, callback, *args, context=context)

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back soon, unless the process is dead."""
        handle = super().call_soon(callback, *args, context=context)
        if self._burying or (self._dead and self._of(context) in self._dead):
            handle.cancel()
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call back at a time, unless the process is dead."""
        handle = super().call_at(when, callback, *args, context=context)
        if self._burying or (self._dead and self._of(context) in self._dead):
            handle.cancel()
        return handle

    def unfinished_tasks(self) -> "list[asyncio.Task[Any]]":
        """The tasks that have not ended, without those of killed processes."""
        return [
            task
            for task in super().unfinished_tasks()
            if self._process_of.get(task, 0) not in self._dead and task not in self._stillborn
        ]

    def tasks_of(self, process: int) -> "list[asyncio.Task[Any]]":
        """The tasks of a process that have not ended."""
        return [task for task in super().unfinished_tasks() if self._process_of.get(task, 0) == process]

    def _create_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **kwargs: Any) -> "asyncio.Task[Any]":
        task = super()._create_task(loop, coroutine, **kwargs)
        process = self._of(kwargs.get("context"))
        if self._burying:
            self._stillborn.append(task)
        elif process:
            self._process_of[task] = process
            task.add_done_callback(self._forget)
        return task

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._process_of.pop(task, None)

    @staticmethod
    def _of(context: Context | None) -> int:
        return PROCESS.get() if context is None else context.get(PROCESS, 0)


def _close(task: "asyncio.Task[Any]") -> None:
    """Close the coroutine of a task that never runs again."""
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    # It may fail or await something in `finally`, which the dead never did.
    with suppress(Exception):
        task.get_coro().close()
