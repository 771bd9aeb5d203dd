"""The watch over the event loop: it reports code that keeps the loop from its next turn."""

import asyncio
import gc
import logging
import sys
import threading
from collections.abc import Coroutine, Generator, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import moothall
from moothall.logs import current_endpoint
from moothall.objects.clock import cpu_stopwatch, stopwatch

log = logging.getLogger("moothall.loop")

_PACKAGE: Final = str(Path(moothall.__file__).parent)
_BEAT: Final = 0.001
"""Seconds between two turns that the watch looks at, as short as the loop's timers can be."""
_FRAMES: Final = 4
"""How many functions of ours a report names."""
_SHARES: Final = 8
"""How many endpoints and other tasks a report names, those that took longest."""


class _Timed(Coroutine[object, None, Any]):
    """The coroutine of a task, which adds what its steps take to the times of a stretch."""

    __slots__ = ("_coroutine", "_times")

    def __init__(self, coroutine: Coroutine[object, None, Any], times: dict[str, float]) -> None:
        self._coroutine = coroutine
        self._times = times

    def send(self, value: Any) -> Any:
        """Run the next step."""
        started = stopwatch()
        try:
            return self._coroutine.send(value)
        finally:
            self._add(started)

    def throw(self, *error: Any) -> Any:
        """Run the next step, which begins with an exception."""
        started = stopwatch()
        try:
            return self._coroutine.throw(*error)
        finally:
            self._add(started)

    def close(self) -> None:
        """End the coroutine."""
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        # What shows tasks reads the attributes of a coroutine, such as `cr_frame`.
        return getattr(self._coroutine, name)

    def _add(self, started: float) -> None:
        # A step runs in the context of its task, where the pipeline has set the endpoint.
        name = current_endpoint.get() or getattr(self._coroutine, "__qualname__", "")
        self._times[name] = self._times.get(name, 0.0) + stopwatch() - started


class LoopWatch:
    """Reports every stretch of `limit` seconds or more in which the event loop made no turn.

    A timer notes each turn, and a thread looks at the loop's thread once the last note is too old. A report names

    - the endpoints that ran in the stretch, and the functions of other tasks, each with its milliseconds (`ran`);
    - the milliseconds of garbage collections among them (`collector`), and of the loop's thread on the processor
      (`busy`): for the rest it waited, for another thread or for the machine;
    - the functions of ours that ran when it became too long, the innermost first, and the endpoint where one is among
      them (`at`).

    Watching makes a thousand turns a second and measures each step of each task, so that it is off unless a setting
    asks for it.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._turned = 0.0
        self._used = 0.0
        self._times: dict[str, float] = {}
        self._collecting = 0.0
        self._collected = 0.0
        self._places: list[str] = []
        self._loop_thread = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stopping = threading.Event()
        self.longest = 0.0
        """The longest stretch so far, in seconds."""

    def follow_tasks(self) -> None:
        """Measure the tasks that the running event loop creates from now on."""
        self._loop = loop = asyncio.get_running_loop()
        loop.set_task_factory(self._create_task)

    def start(self) -> None:
        """Watch the running event loop, which must be that of the calling thread, and the tasks created from now on."""
        self._loop_thread = threading.get_ident()
        self._turned, self._used = stopwatch(), cpu_stopwatch()
        self.follow_tasks()
        loop = asyncio.get_running_loop()
        gc.callbacks.append(self._note_collection)
        self._note_turn(loop)
        threading.Thread(target=self._look, name="loop watch", daemon=True).start()

    def stop(self) -> None:
        """End the watch. Does nothing if it was never started, or has ended."""
        self._stopping.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._loop.set_task_factory(None)
            if self._loop_thread:
                gc.callbacks.remove(self._note_collection)
            self._loop = None

    def _create_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        **options: Any,
    ) -> asyncio.Task[Any]:
        if isinstance(coroutine, Coroutine):
            coroutine = _Timed(coroutine, self._times)
        return asyncio.Task(coroutine, loop=loop, **options)

    def _note_collection(self, phase: str, _info: dict[str, int]) -> None:
        # A collection holds the interpreter, so that the loop waits for one in any thread.
        if phase == "start":
            self._collecting = stopwatch()
        else:
            self._collected += stopwatch() - self._collecting

    def _note_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        now, used = stopwatch(), cpu_stopwatch()
        taken, busy = now - self._turned, used - self._used
        self._turned, self._used = now, used
        if taken >= self._limit:
            self.longest = max(self.longest, taken)
            self._report(taken, busy)
        self._times.clear()
        self._collected = 0.0
        self._timer = loop.call_later(_BEAT, self._note_turn, loop)

    def _report(self, taken: float, busy: float) -> None:
        places, self._places = self._places, []
        longest = sorted(self._times.items(), key=lambda entry: entry[1], reverse=True)[:_SHARES]
        log.warning(
            "The event loop made no turn for %.1f ms",
            taken * 1000,
            extra={
                "milliseconds": round(taken * 1000, 1),
                "busy": round(busy * 1000, 1),
                "collector": round(self._collected * 1000, 1),
                "ran": {name: round(seconds * 1000, 1) for name, seconds in longest},
                "at": places,
            },
        )

    def _look(self) -> None:
        seen = 0.0
        while not self._stopping.wait(self._limit / 4):
            turned = self._turned
            if turned != seen and stopwatch() - turned >= self._limit:
                seen = turned
                frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001 documented for this purpose
                self._places = list(_places(frame))


def _places(frame: FrameType | None) -> Iterator[str]:
    """The innermost functions of ours in a stack as `module:function:line`, and its endpoint's."""
    count = 0
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_PACKAGE):
            module = code.co_filename.removeprefix(_PACKAGE).strip("/").removesuffix(".py").replace("/", ".")
            if count < _FRAMES or module.endswith("endpoints"):
                yield f"{module}:{code.co_qualname}:{frame.f_lineno}"
            count += 1
        frame = frame.f_back
