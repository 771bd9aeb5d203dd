"""Errors that a bot's code does not handle, noticed where libraries log or print them."""

import asyncio
import logging
import re
import threading
import traceback
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from moothall_testing.tracebacks import chain, strip

Notice = Callable[[BaseException], None]

_notices: Final[dict[int, Notice]] = {}
"""What to do with an error, by the thread of the bot."""
_every_thread: Final[list[Notice]] = []
"""The same for the errors of all threads, in a process that is the bot's."""
_CONNECTING: Final = re.compile(
    r"Attempting a reconnect|Failed to connect|Disconnected from voice|An error occurred while"
)
"""Messages of libraries about connections that they restore by themselves."""
_CONNECTIONS: Final = re.compile(r"hikari\.gateway|\w+\.gateway$|\w+\.voice_")
"""Loggers of connections."""
_GATEWAY_MODULES: Final = re.compile(r"hikari\.impl\.shard|\w+\.gateway$")
"""The modules in which libraries hold their connection to the gateway."""
_EVENT_LOOPS: Final = frozenset({"asyncio", "uvloop"})
_NOT_CONNECTED: Final = frozenset({"ComponentStateConflictError"})
"""What libraries raise, beside ConnectionError, where they need a connection that they have just lost."""
_USERS_MISTAKES: Final = frozenset({"CommandNotFound"})
"""What is no error of the bot: a text with its prefix that is no command."""


class BotFailed(AssertionError):
    """A bot failed: an error that it did not handle, an end, or no READY in time."""


class CaughtError(NamedTuple):
    """An error of a bot: the exception itself, or from another process its text."""

    bot: str
    error: BaseException | None
    names: frozenset[str]
    """The names of its classes and of those that led to it, with and without their modules."""
    text: str

    @property
    def summary(self) -> str:
        """Its last line."""
        lines = self.text.strip().splitlines()
        return lines[-1] if lines else ""


class Expected(NamedTuple):
    """Errors that a test expects."""

    names: frozenset[str]
    kinds: tuple[type[BaseException], ...]
    match: str | None

    def accepts(self, caught: CaughtError) -> bool:
        """Whether an error is one of them."""
        if self.match is not None and re.search(self.match, caught.text) is None:
            return False
        if caught.error is not None and any(isinstance(each, self.kinds) for each in chain(caught.error)):
            return True
        return bool(self.names & caught.names)

    def __str__(self) -> str:
        return " or ".join(sorted(self.names)) + (f" with {self.match!r}" if self.match else "")


class BotErrors:
    """The errors of the bots of one test. Bots add them from their threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._caught: list[CaughtError] = []
        self._expected: list[tuple[Expected, list[CaughtError]]] = []

    def add(self, caught: CaughtError) -> bool:
        """Add an error, and return whether it is new: libraries log one several times."""
        with self._lock:
            known = any(
                each.error is caught.error if caught.error is not None else each.text == caught.text
                for each in self._caught
            )
            if not known:
                self._caught.append(caught)
            return not known

    def forget_caught(self) -> None:
        """Forget the errors so far; what the test expects stays."""
        with self._lock:
            self._caught.clear()

    def expect(self, kinds: tuple[type[BaseException] | str, ...], match: str | None) -> list[CaughtError]:
        """Accept errors of these classes, or of classes with these names; the list grows with those that come."""
        types = tuple(kind for kind in kinds if isinstance(kind, type))
        names = frozenset(kind if isinstance(kind, str) else kind.__name__ for kind in kinds)
        accepted: list[CaughtError] = []
        with self._lock:
            self._expected.append((Expected(names, types, match), accepted))
        return accepted

    def raise_unexpected(self) -> None:
        """Raise BotFailed, from the first error that the test does not expect."""
        for caught in self._sorted_out():
            if caught.error is None:
                raise BotFailed(f"{caught.text.strip()}\n\nthe bot {caught.bot} failed")
            strip(caught.error)
            raise BotFailed(f"the bot {caught.bot} failed: {caught.summary}") from caught.error

    def _sorted_out(self) -> list[CaughtError]:
        """Give the errors so far to what expects them; those that are left."""
        with self._lock:
            left = []
            for caught in self._caught:
                accepted = next((found for expected, found in self._expected if expected.accepts(caught)), None)
                if accepted is None:
                    left.append(caught)
                elif caught not in accepted:
                    accepted.append(caught)
            return left

    def missing(self) -> list[str]:
        """What the test expects and what did not happen."""
        self._sorted_out()
        return [str(expected) for expected, accepted in self._expected if not accepted]


def caught_error(bot: str, error: BaseException) -> CaughtError:
    """An exception of this process."""
    strip(error)
    kinds = {kind for each in chain(error) for kind in type(each).__mro__}
    names = {kind.__name__ for kind in kinds} | {f"{kind.__module__}.{kind.__name__}" for kind in kinds}
    return CaughtError(bot, error, frozenset(names), "".join(traceback.format_exception(error)))


def caught_entry(entry: dict[str, Any]) -> CaughtError:
    """An error of another process, by its entry in the transcript."""
    names = (entry.get("data") or {}).get("names", [])
    return CaughtError(entry.get("actor", ""), None, frozenset(names), entry.get("text", ""))


def notice_in_thread(thread: int, notice: Notice) -> None:
    """Notice the errors of a thread, until `forget_thread`."""
    _install()
    _notices[thread] = notice


def forget_thread(thread: int) -> None:
    """Notice no more errors of a thread."""
    _notices.pop(thread, None)


def notice_everywhere(notice: Notice) -> None:
    """Notice the errors of all threads of this process."""
    _install()
    _every_thread.append(notice)


def notice_in_loop(loop: asyncio.AbstractEventLoop, notice: Notice) -> None:
    """Notice errors of tasks that nobody waits for, in whatever thread they are found."""

    def handle(handling: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception) and not _is_of_the_gateway(error):
            notice(error)
        handling.default_exception_handler(context)

    loop.set_exception_handler(handle)


def _notice(error: object) -> None:
    notice = _notices.get(threading.get_ident()) or (_every_thread[0] if _every_thread else None)
    if notice is None or not isinstance(error, Exception) or isinstance(error, asyncio.CancelledError):
        return
    if type(error).__name__ not in _USERS_MISTAKES and not _is_of_the_gateway(error):
        notice(error)


_is_installed = threading.Event()


def _install() -> None:
    """Look at all that is logged and printed with a traceback, from now on. Other threads are passed over."""
    if _is_installed.is_set():
        return
    _is_installed.set()
    make_record, print_exception = logging.getLogRecordFactory(), traceback.print_exception

    def make_noticed_record(*args: Any, **options: Any) -> logging.LogRecord:
        record = make_record(*args, **options)
        if record.levelno >= logging.ERROR and record.exc_info and not _is_about_connection(record):
            _notice(record.exc_info[1])
        return record

    def print_noticed_exception(kind: Any, *args: Any, **options: Any) -> None:
        value = args[0] if args else options.get("value", kind)
        _notice(kind if isinstance(kind, BaseException) else value)
        print_exception(kind, *args, **options)

    logging.setLogRecordFactory(make_noticed_record)
    traceback.print_exception = print_noticed_exception


def _is_about_connection(record: logging.LogRecord) -> bool:
    return bool(_CONNECTING.match(str(record.msg)) or _CONNECTIONS.match(record.name))


def _is_of_the_gateway(error: BaseException) -> bool:
    """Whether a library met its lost connection in work of its own, which no code of the bot began."""
    if not isinstance(error, ConnectionError) and type(error).__name__ not in _NOT_CONNECTED:
        return False
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    libraries = {module.partition(".")[0] for module in modules if _GATEWAY_MODULES.match(module)}
    roots = [module.partition(".")[0] for module in modules]
    return next((root for root in roots if root not in _EVENT_LOOPS), "") in libraries
