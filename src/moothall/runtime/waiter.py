"""What one task waits for and a protocol's callbacks announce: a part of a body, a head, the end of a connection."""

from asyncio import Future, get_running_loop


class Waiter:
    """A base of what at most one task waits for at a time, and looks at again after each `wake`.

    A future for each wait costs less than an asyncio.Event, which is to be cleared and wakes in two steps.
    """

    __slots__ = ("_waiter",)

    def __init__(self) -> None:
        self._waiter: Future[None] | None = None

    def wake(self) -> None:
        """Let the task go on, if one waits."""
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self) -> None:
        """Wait for the next `wake`."""
        self._waiter = get_running_loop().create_future()
        await self._waiter
