"""Queues for what can be changed by one transaction at a time."""

import asyncio


class Queue(asyncio.Lock):
    """Who waits for one aggregate, first come, first served."""

    def __init__(self, lock: int) -> None:
        super().__init__()
        self.aggregate = lock
        self.members = 0


class Queues:
    """The queue of each aggregate that somebody is changing."""

    def __init__(self) -> None:
        self._queues: dict[int, Queue] = {}

    async def join(self, lock: int) -> Queue:
        """Wait for one's turn at an aggregate."""
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
        """Let the next one have its turn."""
        queue.release()
        self._forget_if_empty(queue)

    def _forget_if_empty(self, queue: Queue) -> None:
        queue.members -= 1
        if queue.members == 0:
            del self._queues[queue.aggregate]
