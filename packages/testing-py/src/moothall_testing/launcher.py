"""Runs a program of Python as a bot under test: `launcher.py bot.py ...`, `launcher.py -m package ...`.

It is run with `python -P`, without this folder on the path, where `http.py` would hide that of Python, and in the bot's
environment, which need not have this package. The libraries that are installed there point at the server; `time`,
`datetime` and asyncio follow the clock of the test; errors that the bot does not handle are told to the test.
"""

import asyncio
import importlib
import importlib.util
import json
import os
import runpy
import socket
import sys
import threading
from contextlib import ExitStack, suppress
from types import ModuleType
from typing import Any, Final

_LIBRARIES: Final = {
    "disnake": "disnake",
    "nextcord": "nextcord",
    "hikari": "hikari",
    "interactions": "interactions.py",
}

_PATCHES: Final = ExitStack()
"""Never closed: the process ends."""


def _load_package() -> None:
    """Make this package importable, and nothing else of the folder that it lies in."""
    name, source = "moothall_testing", os.environ["MOOTHALL_TESTING_SOURCE"]
    package = ModuleType(name)
    package.__path__ = [os.path.join(source, name)]  # noqa: PTH118 before any import
    sys.modules[name] = package


def _point_libraries(url: str) -> None:
    from moothall_testing.libraries import library_of, patched  # noqa: PLC0415 loaded above

    stack = _PATCHES
    for module, library in _LIBRARIES.items():
        if importlib.util.find_spec(module) is not None:
            stack.enter_context(patched(library, url))
    if importlib.util.find_spec("discord") is not None:
        stack.enter_context(patched(library_of("discord"), url))


def _report_errors(control_url: str, bot: str) -> None:
    from moothall_testing.bot_errors import caught_error, notice_everywhere  # noqa: PLC0415 loaded above
    from moothall_testing.http import send  # noqa: PLC0415 the same

    known: list[BaseException] = []

    def notice(error: BaseException) -> None:
        if not any(each is error for each in known):
            known.append(error)
            caught = caught_error(bot, error)
            body = {"actor": bot, "text": caught.text, "names": sorted(caught.names)}
            with suppress(OSError):
                send("POST", f"{control_url}/errors", body)

    notice_everywhere(notice)
    print_error = sys.excepthook

    def print_stripped(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        """Print why the program ends, from its own first frame on."""
        while traceback is not None and _is_launching(traceback.tb_frame.f_code.co_filename):
            traceback = traceback.tb_next
        print_error(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = print_stripped


def _is_launching(filename: str) -> bool:
    return filename in {__file__, "<frozen runpy>"}


def _follow_clock(link: int, offset: float) -> None:
    from moothall_testing.bot_clock import BotClock, BotLoopPolicy, use_clock_everywhere  # noqa: PLC0415 loaded above

    clock = BotClock(offset)
    use_clock_everywhere(clock)
    policy = BotLoopPolicy(clock)
    asyncio.set_event_loop_policy(policy)
    if importlib.util.find_spec("uvloop") is not None:
        uvloop: Any = importlib.import_module("uvloop")  # has a clock of its own
        uvloop.install = lambda: None
        uvloop.run = asyncio.run

    def answer() -> None:
        with socket.socket(fileno=link) as connection, connection.makefile("rw", encoding="utf-8") as stream:
            for line in stream:
                stream.write(json.dumps({"value": _answer(json.loads(line), policy)}) + "\n")
                stream.flush()

    threading.Thread(target=answer, daemon=True, name="moothall-clock").start()


def _answer(question: dict[str, Any], policy: Any) -> float | None:
    loops = [loop for loop in policy.loops if loop.is_running()]
    if question["do"] == "next":
        due = [seconds for loop in loops if (seconds := loop.until_next_timer()) is not None]
        return min(due, default=None)
    if not loops:
        policy.clock.offset += question["seconds"]
    for loop in loops[:1]:
        loop.move(question["seconds"])
    return None


def main(arguments: list[str]) -> None:
    """Run the program."""
    _load_package()
    from moothall_testing.processes import LINK_VARIABLE  # noqa: PLC0415 loaded above

    _follow_clock(int(os.environ.pop(LINK_VARIABLE)), float(os.environ["MOOTHALL_TESTING_OFFSET"]))
    _point_libraries(os.environ["MOOTHALL_URL"])
    _report_errors(os.environ["MOOTHALL_TESTING_CONTROL"], os.environ["MOOTHALL_TESTING_BOT"])
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 as Python itself does
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))  # noqa: PTH100, PTH120 the same
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
