"""Headless Chromium in a thread, and objects of Playwright that tests with and without an event loop can use."""

import asyncio
import inspect
import shutil
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from moothall_testing.action import Action

T = TypeVar("T")

STEP_MS: Final = 30_000
"""Milliseconds of real time that a step in a page may take."""
_START_WITHIN: Final = 60.0
_STEP_WITHIN: Final = 60.0
_PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_ARGUMENTS: Final = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-proxy-server",
)  # fmt: skip


class BrowserMissing(RuntimeError):
    """Playwright or Chromium is not installed. The message says how to install it."""


class Browser:
    """Chromium, from its construction to `close`, in a thread with an event loop of its own."""

    def __init__(self) -> None:
        try:
            from playwright.async_api import async_playwright  # noqa: PLC0415 an extra
        except ImportError:
            raise BrowserMissing("Activities need Playwright: pip install 'moothall-testing[activities]'") from None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="moothall-browser", daemon=True)
        self._thread.start()
        self._playwright: Any = None
        self._chromium: Any = None
        try:
            self.run(self._start(async_playwright()), within=_START_WITHIN)
        except BaseException:
            self.close()
            raise

    async def _start(self, starter: Any) -> None:
        self._playwright = await starter.start()
        program = find_chromium(self._playwright.chromium.executable_path)
        self._chromium = await self._playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))

    def run(self, coroutine: Coroutine[Any, Any, T], *, within: float = _STEP_WITHIN) -> T:
        """Run a coroutine in the browser's thread and return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(within)

    def call(self, function: Any, *args: Any, **options: Any) -> Any:
        """Call a function in the browser's thread and return its result."""

        async def work() -> Any:
            return function(*args, **options)

        return self.run(work())

    async def new_page(self, script: str) -> Any:
        """Open an empty page in a profile of its own; the script runs before those of each document."""
        context = await self._chromium.new_context(locale="en-US", reduced_motion="reduce")
        context.set_default_timeout(STEP_MS)
        await context.add_init_script(script)
        return await context.new_page()

    def close(self) -> None:
        """End Chromium and the thread. Does nothing the second time."""
        if self._loop.is_closed():
            return
        self.run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        if self._chromium is not None:
            await self._chromium.close()
        if self._playwright is not None:
            await self._playwright.stop()


def find_chromium(own: str) -> str:
    """The program of Chromium: Playwright's own, else one on the PATH. Raises BrowserMissing."""
    if Path(own).exists():
        return own
    for name in _PROGRAMS:
        if (program := shutil.which(name)) is not None:
            return program
    raise BrowserMissing("Activities need Chromium: run `playwright install chromium`, or install the system's package")


class Remote:
    """An object of Playwright that lives in the browser's thread.

    It has the attributes of the object. What Playwright awaits is an action here: awaited, or waited for with `wait()`.
    What comes with `async with` is used in `ActivityWindow.drive`.
    """

    def __init__(self, browser: Browser, target: Any) -> None:
        self._browser = browser
        self._target = target

    def __repr__(self) -> str:
        return repr(self._target)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if not callable(value):
            return self._wrapped(value)

        def call(*args: Any, **options: Any) -> Any:
            plain = [plain_object(each) for each in args]
            plain_options = {key: plain_object(each) for key, each in options.items()}
            if inspect.iscoroutinefunction(value):
                return Action(lambda: self._wrapped(self._browser.run(value(*plain, **plain_options))))
            return self._wrapped(self._browser.call(value, *plain, **plain_options))

        return call

    def _wrapped(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._wrapped(each) for each in value]
        return Remote(self._browser, value) if type(value).__module__.startswith("playwright.") else value


def plain_object(value: Any) -> Any:
    """The object of Playwright that a Remote stands for; anything else is itself."""
    return value._target if isinstance(value, Remote) else value  # noqa: SLF001 of the class above
