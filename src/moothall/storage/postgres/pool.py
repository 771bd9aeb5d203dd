"""A pool of asyncpg connections that carry no state of a session, and hence need no reset between requests.

asyncpg's own pool wraps each connection for each use and has a timer for each wait, which takes as long as a small
statement. Those who wait for a connection stand in lanes (`runtime/lanes.py`), charged with the time that they have it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

import asyncpg

from moothall.objects.clock import stopwatch
from moothall.runtime.lanes import Lanes, current_lane

_IDLE_SECONDS: Final = 300.0
"""A connection that was not used for so long is closed, except for one."""
_FULL_SECONDS: Final = 1.0
"""After PostgreSQL has refused another connection, none is tried for so long while there are others."""


class Pooled(Protocol):
    """What the pool needs of a connection."""

    def is_closed(self) -> bool:
        """Whether either end has closed it."""

    def terminate(self) -> None:
        """Close it at once."""

    async def close(self, *, timeout: float) -> None:
        """Close it; wait for that so many seconds."""


C = TypeVar("C", bound=Pooled)


class PostgresPool(Generic[C]):
    """At most `maximum` connections made with `connect`; who waits longer than `seconds` for one gets TimeoutError.

    If PostgreSQL has too many connections, those that there are do.
    """

    def __init__(self, connect: Callable[[], Awaitable[C]], *, maximum: int, seconds: float) -> None:
        self._connect = connect
        self._max = maximum
        self._seconds = seconds
        self._idle: deque[tuple[C, float]] = deque()
        """Connections that are not used, each with the time since when; the last one is used next."""
        self._waiting: Lanes[asyncio.Future[C | None]] = Lanes()
        """Resolved with a connection, or with None if there may be another one."""
        self._taken: dict[C, tuple[Hashable, float]] = {}
        """The connections of those who have waited for one, with their lane and since when they have it."""
        self._count = 0
        self._full_until = 0.0
        self._closing = False
        self._all_closed = asyncio.Event()

    @property
    def idle(self) -> list[C]:
        """The connections that are not used."""
        return [connection for connection, _ in self._idle]

    async def acquire(self) -> C:
        """Take a connection, a new one if all are used. Raises TimeoutError, and what connecting raises."""
        while True:
            while self._idle:
                idle, _ = self._idle.pop()
                if not idle.is_closed():
                    return idle
                self._count -= 1
            if self._closing:
                raise asyncpg.InterfaceError("the pool is closed")
            if self._may_open() and (connection := await self._open()) is not None:
                return connection
            if (connection := await self._wait()) is not None:
                return connection

    def release(self, connection: C) -> None:
        """Give a connection back, which may be broken."""
        self._charge(connection)
        if self._closing or connection.is_closed():
            self.drop(connection)
            return
        while (future := self._waiting.take()) is not None:
            if not future.done():
                future.set_result(connection)
                return
        now = stopwatch()
        self._idle.append((connection, now))
        if len(self._idle) > 1 and self._idle[0][1] < now - _IDLE_SECONDS:
            self.drop(self._idle.popleft()[0])

    def drop(self, connection: C) -> None:
        """Close a connection; the next one that is needed is a new one."""
        self._charge(connection)
        with suppress(asyncpg.InterfaceError):  # it is closed already
            connection.terminate()
        self._forget()

    def drop_idle(self) -> None:
        """Close all connections that are not used."""
        while self._idle:
            self.drop(self._idle.pop()[0])

    async def close(self) -> None:
        """Close all connections, and wait for the release of those in use."""
        self._closing = True
        while self._waiting:
            self._wake_one()
        idle = [connection for connection, _ in self._idle]
        self._idle.clear()
        await asyncio.gather(*map(self._close, idle))
        if self._count:
            await self._all_closed.wait()

    async def _close(self, connection: C) -> None:
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
            await connection.close(timeout=self._seconds)
        self._forget()

    def _may_open(self) -> bool:
        return not self._count or (self._count < self._max and stopwatch() >= self._full_until)

    async def _open(self) -> C | None:
        """A new connection; None if PostgreSQL takes no more of them and there are others to wait for."""
        self._count += 1
        try:
            return await self._connect()
        except asyncpg.TooManyConnectionsError:
            self._full_until = stopwatch() + _FULL_SECONDS
            if self._count == 1:
                self._forget()
                raise
            # No one is woken, who would try the same.
            self._count -= 1
            return None
        except BaseException:
            self._forget()
            raise

    async def _wait(self) -> C | None:
        future: asyncio.Future[C | None] = asyncio.get_running_loop().create_future()
        lane = current_lane()
        self._waiting.add(lane, future)
        try:
            async with asyncio.timeout(self._seconds):
                connection = await future
        except BaseException:
            if not future.done() or future.cancelled():
                self._waiting.discard(lane, future)
            # It was handed over in the same turn.
            elif (connection := future.result()) is None:
                self._wake_one()
            else:
                self.release(connection)
            raise
        if connection is not None:
            self._taken[connection] = (lane, stopwatch())
        return connection

    def _charge(self, connection: C) -> None:
        """Charge the lane that has waited for a connection for the time that it had it."""
        taken = self._taken.pop(connection, None)
        if taken is not None:
            lane, since = taken
            now = stopwatch()
            self._waiting.charge(lane, now - since)
            self._waiting.forget(now)

    def _forget(self) -> None:
        self._count -= 1
        self._wake_one()
        if self._closing and not self._count:
            self._all_closed.set()

    def _wake_one(self) -> None:
        while (future := self._waiting.take()) is not None:
            if not future.done():
                future.set_result(None)
                return
