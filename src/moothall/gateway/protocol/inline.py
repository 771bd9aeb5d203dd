"""Running a coroutine inline up to its first suspension.

A WebSocket server's `send` suspends only while the client does not read, and an embedded database's reads never
suspend. A task for each would cost more than the work itself, and would let another event overtake. So the
coroutine runs inline, and only the rest of one that suspends becomes a task.
"""

from collections.abc import Awaitable, Coroutine, Generator
from typing import Any


class SuspendedCoroutine(Awaitable[Any]):
    """The rest of a coroutine that has suspended. Await it once."""

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Coroutine[object, None, Any], waits_for: object) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for what the coroutine waits for, then drive it to its end."""
        coroutine = self._coroutine
        waits_for = self._waits_for
        while True:
            try:
                value = yield waits_for
            except BaseException as error:  # noqa: BLE001 - a cancellation belongs to the coroutine
                step = _throw(coroutine, error)
            else:
                step = _send(coroutine, value)
            if step.done:
                return step.value
            waits_for = step.value


class _Step:
    __slots__ = ("done", "value")

    def __init__(self, value: object, *, done: bool) -> None:
        self.value = value
        self.done = done


def _send(coroutine: Coroutine[Any, Any, Any], value: Any) -> _Step:
    try:
        return _Step(coroutine.send(value), done=False)
    except StopIteration as end:
        return _Step(end.value, done=True)


def _throw(coroutine: Coroutine[object, None, Any], error: BaseException) -> _Step:
    try:
        return _Step(coroutine.throw(error), done=False)
    except StopIteration as end:
        return _Step(end.value, done=True)


def run_inline(coroutine: Coroutine[object, None, Any]) -> SuspendedCoroutine | None:
    """Run a coroutine until it ends (None) or suspends (the rest of it). Its exceptions propagate."""
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        return None
    return SuspendedCoroutine(coroutine, waits_for)
