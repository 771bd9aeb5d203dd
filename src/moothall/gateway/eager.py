"""Running a coroutine at once, as far as it goes without waiting.

A WebSocket server's `send` waits only while the peer does not read, and an embedded database's
reads never wait. Starting a task for each would cost more than the work itself, and would let
another event overtake. So the coroutine is run on the spot, and only one that really waits becomes
a task.
"""

from collections.abc import Awaitable, Coroutine, Generator
from typing import Any


class Rest(Awaitable[Any]):
    """The part of a coroutine that is still to run. Await it once."""

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for what the coroutine waits for, then drive it to its end."""
        coroutine = self._coroutine
        waits_for = self._waits_for
        while True:
            try:
                got = yield waits_for
            except BaseException as error:  # noqa: BLE001 - a cancellation belongs to the coroutine
                step = _throw(coroutine, error)
            else:
                step = _send(coroutine, got)
            if step.done:
                return step.value
            waits_for = step.value


class _Step:
    __slots__ = ("done", "value")

    def __init__(self, value: Any, *, done: bool) -> None:
        self.value = value
        self.done = done


def _send(coroutine: Coroutine[Any, Any, Any], value: Any) -> _Step:
    try:
        return _Step(coroutine.send(value), done=False)
    except StopIteration as end:
        return _Step(end.value, done=True)


def _throw(coroutine: Coroutine[Any, Any, Any], error: BaseException) -> _Step:
    try:
        return _Step(coroutine.throw(error), done=False)
    except StopIteration as end:
        return _Step(end.value, done=True)


def run_eagerly(coroutine: Coroutine[Any, Any, Any]) -> Rest | None:
    """Run a coroutine until it ends (None) or waits (what is left). Its exceptions pass through."""
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        return None
    return Rest(coroutine, waits_for)
