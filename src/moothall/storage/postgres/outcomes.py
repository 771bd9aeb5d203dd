"""Whether a transaction of PostgreSQL was committed whose COMMIT was not answered.

A connection may break, or be silent, between the COMMIT and its answer. So each transaction that changes something also
writes a number into a row that only its connection writes (`commit_marks`). The row tells the outcome once the backend
of the connection has ended. It costs a transaction no round trip: the number is part of its last statement.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import asyncpg

from moothall.objects.clock import CLOCK, stopwatch
from moothall.storage.database import CommitUnknown
from moothall.storage.postgres.connection import PostgresConnection
from moothall.storage.postgres.errors import DRIVER_ERRORS

log = logging.getLogger("moothall.storage")

_UPSERT: Final = "INSERT INTO commit_marks (slot, number) VALUES ({}, {}) ON CONFLICT (slot) DO UPDATE SET number = {}"
MARK: Final = _UPSERT.format("$1", "$2", "excluded.number")
"""The statement that marks a transaction, with the slot of its connection and its number."""
_TERMINATE: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = $1 AND application_name = $2 AND pid <> pg_backend_pid()"
)
_SELECT: Final = "SELECT number FROM commit_marks WHERE slot = $1"
_DELETE_OLD: Final = "DELETE FROM commit_marks WHERE number < $1"
_OLD_MS: Final = 7 * 86_400_000
"""An idle connection is closed, and an outcome found out, long before this."""
_PATIENCE: Final = 4.0
"""Seconds for which a request waits for the outcome."""
_PAUSE: Final = 0.1

Connect = Callable[[], Awaitable[PostgresConnection]]

_LOST: Final = (
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,  # TimeoutError too
)


def is_lost(connection: PostgresConnection, error: BaseException) -> bool:
    """Whether a connection broke or was silent, so that it is unknown what became of the statement under way."""
    return isinstance(error, _LOST) or bool(connection.is_closed())


class CommitMark(NamedTuple):
    """What a transaction writes, and the backend that runs it."""

    slot: int
    number: int
    process_id: int
    name: str

    @property
    def commit(self) -> str:
        """The text that writes it and commits, in one round trip."""
        return f"{_UPSERT.format(self.slot, self.number, self.number)}; COMMIT"


class Outcomes:
    """Finds out outcomes, over connections of its own: those of the pool may all be stuck."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def mark(self, connection: PostgresConnection) -> CommitMark:
        """A new mark for the transaction on a connection."""
        self._number = max(self._number + 1, CLOCK.now_ms())
        return CommitMark(connection.slot, self._number, connection.process_id, connection.name)

    async def delete_old(self) -> None:
        """Delete the marks of connections that were closed long ago. What goes wrong is tried again at a next start."""
        try:
            connection = await self._connect()
            try:
                await connection.execute(_DELETE_OLD, CLOCK.now_ms() - _OLD_MS)
            finally:
                connection.terminate()
        except DRIVER_ERRORS as error:
            log.debug("marks of old commits remain: %s", error)

    async def was_committed(self, mark: CommitMark, on_late_commit: Callable[[], None]) -> bool:
        """Whether a transaction was committed. Raises CommitUnknown after some seconds without an answer.

        The search goes on then, and calls `on_late_commit` if it was.
        """
        started = stopwatch()
        result: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._resolve(mark, result, on_late_commit))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            async with asyncio.timeout(_PATIENCE):
                committed = await result
        except TimeoutError:
            raise CommitUnknown("PostgreSQL does not tell whether the transaction was committed") from None
        log.warning(
            "a connection was lost during COMMIT: the transaction was %s, known after %.0f ms",
            "committed" if committed else "not committed",
            (stopwatch() - started) * 1000,
        )
        return committed

    async def close(self) -> None:
        """End what is still being searched for."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _resolve(
        self, mark: CommitMark, result: asyncio.Future[bool], on_late_commit: Callable[[], None]
    ) -> None:
        committed: bool | None = None
        while committed is None:
            try:
                committed = await self._read(mark)
            except DRIVER_ERRORS:
                await asyncio.sleep(_PAUSE)
        if not result.done():
            result.set_result(committed)
        elif committed:
            log.warning("a transaction whose outcome was unknown was committed")
            on_late_commit()

    async def _read(self, mark: CommitMark) -> bool:
        connection = await self._connect()
        try:
            # As long as its backend runs, it may still commit.
            while await connection.fetch(_TERMINATE, mark.process_id, mark.name):  # noqa: ASYNC110 PostgreSQL has no event for it
                await asyncio.sleep(_PAUSE / 10)
            return bool(await connection.fetchval(_SELECT, mark.slot) == mark.number)
        finally:
            connection.terminate()
