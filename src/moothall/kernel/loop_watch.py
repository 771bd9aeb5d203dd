"""The watch over the event loop: it reports code that keeps the loop from its next turn."""

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import moothall
from moothall.objects.clock import cpu_stopwatch, stopwatch

log = logging.getLogger("moothall.loop")

_PACKAGE: Final = str(Path(moothall.__file__).parent)
_BEAT: Final = 0.001
"""Seconds between two turns that the watch looks at, as short as the loop's timers can be."""
_FRAMES: Final = 4
"""How many functions of ours a report names."""


class LoopWatch:
    """Reports every stretch of `limit` seconds or more in which the event loop made no turn.

    A timer notes each turn, and a thread looks at the loop's thread once the last note is too old. A report names the
    functions of ours that ran then, the innermost first, and the endpoint where one is among them, and how long the
    loop's thread had the processor: for the rest it waited, for another thread or for the machine. Watching makes a
    thousand turns a second, so that it is off unless a setting asks for it.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._turned = 0.0
        self._used = 0.0
        self._places: list[str] = []
        self._loop_thread = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stopping = threading.Event()
        self.longest = 0.0
        """The longest stretch so far, in seconds."""

    def start(self) -> None:
        """Watch the running event loop, which must be that of the calling thread."""
        self._loop_thread = threading.get_ident()
        self._turned, self._used = stopwatch(), cpu_stopwatch()
        self._note_turn(asyncio.get_running_loop())
        threading.Thread(target=self._look, name="loop watch", daemon=True).start()

    def stop(self) -> None:
        """End the watch. Does nothing if it was never started."""
        self._stopping.set()
        if self._timer is not None:
            self._timer.cancel()

    def _note_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        now, used = stopwatch(), cpu_stopwatch()
        taken, busy = now - self._turned, used - self._used
        self._turned, self._used = now, used
        if taken >= self._limit:
            self.longest = max(self.longest, taken)
            places, self._places = self._places, []
            log.warning(
                "The event loop made no turn for %.1f ms",
                taken * 1000,
                extra={"milliseconds": round(taken * 1000, 1), "busy": round(busy * 1000, 1), "at": places},
            )
        self._timer = loop.call_later(_BEAT, self._note_turn, loop)

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
