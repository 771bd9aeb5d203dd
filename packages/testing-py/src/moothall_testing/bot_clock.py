"""The clock of a bot: `time`, `datetime` and the timers of its event loop, which a test moves forward.

What measures the bot's connections goes on in real time: a heartbeat or an answer is not late because a test has moved
the clock.
"""

import asyncio
import ctypes
import datetime as dt
import gc
import heapq
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any, Final

_real_time, _real_time_ns = time.time, time.time_ns
_real_monotonic, _real_monotonic_ns = time.monotonic, time.monotonic_ns
_real_localtime, _real_gmtime = time.localtime, time.gmtime
_CONNECTIONS: Final = (
    "aiohttp.", "websockets.", "discord.gateway", "disnake.gateway", "nextcord.gateway", "hikari.impl.shard",
    "interactions.api.gateway",
)  # fmt: skip
"""Modules whose timers measure a connection."""
_MAX_FRAMES: Final = 8
"""Callers of a timer that are looked at for these modules."""
_IDLE_SECONDS: Final = 0.015
"""Real time without any step of a task after which an event loop counts as idle."""
_MAX_SETTLING: Final = 2.0
"""Real time that the consequences of a timer have at most before the clock moves on."""


class BotClock:
    """How far a bot's time is ahead of real time."""

    def __init__(self, offset: float = 0.0) -> None:
        self.offset = offset


_clocks: Final[dict[int, BotClock]] = {}
"""By thread."""
_process_clocks: Final[list[BotClock]] = []
"""The clock of all threads of a process that is the bot's."""


def _clock() -> BotClock | None:
    return _clocks.get(threading.get_ident()) or (_process_clocks[0] if _process_clocks else None)


def _offset() -> float:
    clock = _clock()
    return 0.0 if clock is None else clock.offset


def use_clock(clock: BotClock) -> None:
    """Let the calling thread have a clock of its own."""
    install()
    _clocks[threading.get_ident()] = clock


def forget_clock(clock: BotClock) -> None:
    """Let the threads of a clock have real time again: another thread may get the same number."""
    for thread, each in list(_clocks.items()):
        if each is clock:
            del _clocks[thread]


def use_clock_everywhere(clock: BotClock) -> None:
    """Let all threads of this process have a clock."""
    install()
    _process_clocks.append(clock)


def _time() -> float:
    return _real_time() + _offset()


def _time_ns() -> int:
    return _real_time_ns() + round(_offset() * 1e9)


def _monotonic() -> float:
    return _real_monotonic() + _offset()


def _monotonic_ns() -> int:
    return _real_monotonic_ns() + round(_offset() * 1e9)


def _localtime(seconds: float | None = None) -> time.struct_time:
    return _real_localtime(_time() if seconds is None else seconds)


def _gmtime(seconds: float | None = None) -> time.struct_time:
    return _real_gmtime(_time() if seconds is None else seconds)


_FUNCTIONS: Final[dict[str, Any]] = {
    "time": _time, "time_ns": _time_ns, "monotonic": _monotonic, "monotonic_ns": _monotonic_ns,
    "localtime": _localtime, "gmtime": _gmtime,
}  # fmt: skip
_is_installed = threading.Event()


def install() -> None:
    """Replace the functions of `time` and `datetime` for good: threads without a clock have real time, as before."""
    if _is_installed.is_set():
        return
    _is_installed.set()
    replaced = {id(getattr(time, name)): function for name, function in _FUNCTIONS.items()}
    for name, function in _FUNCTIONS.items():
        setattr(time, name, function)
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in {"moothall_testing", "pytest", "_pytest"}:
            _replace_in(module, replaced)
    _replace_now()


def _replace_in(module: Any, replaced: dict[int, Any]) -> None:
    """Replace what a module that was imported before has taken from `time`."""
    for name, value in list(getattr(module, "__dict__", {}).items()):
        if id(value) in replaced:
            setattr(module, name, replaced[id(value)])


def _replace_now() -> None:
    """Replace `datetime.now` and `utcnow` in the class itself, which every module has its own reference to.

    `today` of dates asks `time.time`.
    """
    members = gc.get_referents(dt.datetime.__dict__)[0]
    real_now, real_utcnow = members["now"], members["utcnow"]

    def now(cls: type[dt.datetime], tz: dt.tzinfo | None = None) -> dt.datetime:
        """The current time of the calling thread."""
        return cls.fromtimestamp(_time(), tz) if _offset() else real_now.__get__(None, cls)(tz)

    def utcnow(cls: type[dt.datetime]) -> dt.datetime:
        """The current time of the calling thread, in UTC."""
        if not _offset():
            return real_utcnow.__get__(None, cls)()  # type: ignore[no-any-return]
        return cls.fromtimestamp(_time(), dt.UTC).replace(tzinfo=None)

    members["now"], members["utcnow"] = classmethod(now), classmethod(utcnow)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dt.datetime))


class BotLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers follow a bot's clock, except those that measure its connections."""

    def __init__(self, clock: BotClock) -> None:
        super().__init__()
        self.clock = clock
        self._of_connections: dict[int, asyncio.TimerHandle] = {}
        """By their `id`: a handle's hash is its time, which changes."""
        self._requests: list[asyncio.TimerHandle] = []
        """Deadlines of requests, which are cancelled with the end of the answer."""
        self._steps = 0
        self.set_default_executor(
            ThreadPoolExecutor(thread_name_prefix="bot", initializer=use_clock, initargs=(clock,))
        )

    def time(self) -> float:
        """The time of the timers."""
        return _real_monotonic() + self.clock.offset

    def call_at(  # type: ignore[override]  # of the types, which differ from release to release
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Call a function at a time of this loop."""
        handle = super().call_at(when, callback, *args, context=context)
        if _is_of_connection():
            self._of_connections = {key: each for key, each in self._of_connections.items() if self._is_open(each)}
            self._of_connections[id(handle)] = handle
            if _is_of_request():
                self._requests = [*(each for each in self._requests if self._is_open(each)), handle]
        return handle

    def call_soon(  # type: ignore[override]  # as above
        self, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Call a function in the next round."""
        self._steps += 1
        return super().call_soon(callback, *args, context=context)

    def _is_open(self, handle: asyncio.TimerHandle) -> bool:
        return not handle.cancelled() and handle.when() >= self.time()

    def _own_timers(self) -> list[asyncio.TimerHandle]:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]  # of asyncio.BaseEventLoop
        return [each for each in timers if not each.cancelled() and id(each) not in self._of_connections]

    # For the thread that moves the clock

    def until_next_timer(self) -> float | None:
        """Seconds until the next timer that follows the clock; None if there is none."""

        async def look() -> float | None:
            whens = [timer.when() for timer in self._own_timers()]
            return max(0.0, min(whens) - self.time()) if whens else None

        seconds: float | None = self._asked(look())
        return seconds

    def move(self, seconds: float) -> None:
        """Move the clock, and return once what was due has been done, and what follows from it at once."""

        async def work() -> bool:
            self.clock.offset += seconds
            for handle in self._of_connections.values():
                handle._when += seconds  # type: ignore[attr-defined]  # noqa: SLF001 of asyncio.TimerHandle
            heapq.heapify(self._scheduled)  # type: ignore[attr-defined]
            return any(timer.when() <= self.time() for timer in self._own_timers())

        if self._asked(work()):
            self._settle()

    def _settle(self) -> None:
        deadline, pause = _real_monotonic() + _MAX_SETTLING, threading.Event()
        while _real_monotonic() < deadline and self.is_running():
            before = self._steps
            pause.wait(_IDLE_SECONDS)
            if self._steps == before and not any(map(self._is_open, self._requests)):
                return

    def _asked(self, coroutine: Any) -> Any:
        """The result of a coroutine in this loop; None if the loop has ended."""
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self).result(_MAX_SETTLING)
        except (RuntimeError, TimeoutError):
            coroutine.close()
            return None


def _is_of_connection() -> bool:
    """Whether a timer is set for a connection, by the modules that have led to it."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 as logging finds who logs
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__", "")).startswith(_CONNECTIONS):
            return True
        frame = frame.f_back
    return False


def _is_of_request() -> bool:
    """Whether a timer is the deadline of a request of aiohttp, other than one that becomes a WebSocket."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 as above
    names: list[str] = []
    while frame is not None and len(names) < _MAX_FRAMES:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names[:1] == ["start"] and "_ws_connect" not in names


class BotLoopPolicy(asyncio.DefaultEventLoopPolicy):
    """Makes the event loops of a process that is the bot's."""

    def __init__(self, clock: BotClock) -> None:
        super().__init__()
        self.clock = clock
        self.loops: list[BotLoop] = []

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """A loop with the clock of the process."""
        loop = BotLoop(self.clock)
        self.loops.append(loop)
        return loop
