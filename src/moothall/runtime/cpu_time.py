"""The CPU time that a coroutine takes, without that of what runs while it waits."""

from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from moothall.objects.clock import cpu_stopwatch

T = TypeVar("T")


class Measured(Awaitable[T], Generic[T]):
    """Await it once, as the coroutine itself. `seconds` is what it has taken so far, also if it raised."""

    __slots__ = ("_coroutine", "seconds")

    def __init__(self, coroutine: Coroutine[object, None, T]) -> None:
        self._coroutine = coroutine
        self.seconds = 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        """Drive the coroutine to its end."""
        value: Any = None
        error: BaseException | None = None
        while True:
            started = cpu_stopwatch()
            try:
                waits_for = self._coroutine.send(value) if error is None else self._coroutine.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                self.seconds += cpu_stopwatch() - started
            value = error = None
            try:
                value = yield waits_for
            except BaseException as raised:  # noqa: BLE001 it belongs to the coroutine
                error = raised
