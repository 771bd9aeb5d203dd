"""Actions: awaited in asynchronous tests, waited for in synchronous ones."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_THREADS: Final = ThreadPoolExecutor(32, thread_name_prefix="moothall-action")


class Action(Generic[T_co]):
    """Work that is done when it is awaited (asyncio and trio) or when `wait` is called.

    It runs in a thread, so that a bot in the test's event loop can react meanwhile.
    """

    def __init__(self, work: Callable[[], T_co]) -> None:
        self._work = work

    def wait(self) -> T_co:
        """Do it and return its result, in a test without an event loop."""
        return self._work()

    def __await__(self) -> Generator[Any, None, T_co]:
        """Do it and return its result."""
        return self._in_thread().__await__()

    async def _in_thread(self) -> T_co:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            import trio  # noqa: PLC0415 only tests with trio get here

            return await trio.to_thread.run_sync(self.wait)
        return await loop.run_in_executor(_THREADS, self.wait)
