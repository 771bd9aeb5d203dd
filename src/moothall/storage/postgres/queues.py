"""First-come, first-served locks of aggregates, each changed by one transaction at a time."""

import asyncio
from typing import Any


class Queue(asyncio.Lock):
    """The lock of one aggregate, with the number of tasks that have it or wait for it."""

    def __init__(self, lock: int) -> None:
        super().__init__()
        self.aggregate = lock
        self.members = 0
        self.transaction: Any = None
        """The transaction of the database that the next one in the queue is to run in; None if it begins its own."""

    @property
    def waiting(self) -> int:
        """The number of tasks that wait for the one that has the lock."""
        return self.members - 1

    async def rejoin(self) -> None:
        """Let all run that wait, and have the lock again."""
        self.release()
        await self.acquire()


class Queues:
    """The queue of each aggregate that is being changed."""

    def __init__(self) -> None:
        self._queues: dict[int, Queue] = {}

    async def join(self, lock: int) -> Queue:
        """Acquire the lock of an aggregate."""
        queue = self._queues.get(lock)
        if queue is None:
            queue = self._queues[lock] = Queue(lock)
        queue.members += 1
        try:
            await queue.acquire()
        except BaseException:
            self._forget_if_empty(queue)
            raise
        return queue

    def leave(self, queue: Queue) -> None:
        """Release the lock of an aggregate."""
        queue.release()
        self._forget_if_empty(queue)

    def _forget_if_empty(self, queue: Queue) -> None:
        queue.members -= 1
        if queue.members == 0:
            del self._queues[queue.aggregate]
