"""Transactions with the same lock on PostgreSQL: those that wait for it share a BEGIN and a COMMIT.

They run one after another, and each commit takes as long as the disk. So those that wait when one ends run in the same
transaction of PostgreSQL, each behind a savepoint to which it is rolled back if it fails, and are committed together.

The first one queues again once it has run, and commits when its turn comes. So it waits for those that were there
before it ended, not for later ones, and those that are cancelled while they wait keep no one from being committed.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from moothall.objects.clock import stopwatch
from moothall.runtime.turns import yield_turn
from moothall.storage.database import StorageError, StorageUnavailable
from moothall.storage.postgres.connection import PostgresConnection
from moothall.storage.postgres.errors import DRIVER_ERRORS, postgres_error
from moothall.storage.postgres.group_commit import Callbacks, Connections
from moothall.storage.postgres.queues import Queue

_MAX_TOGETHER: Final = 32
"""Each has a subtransaction, of which PostgreSQL keeps 64 of a transaction in shared memory."""
_SAVEPOINT: Final = "SAVEPOINT one"
_NEXT_SAVEPOINT: Final = "RELEASE SAVEPOINT one; SAVEPOINT one"


class _Ended(NamedTuple):
    callbacks: Callbacks
    changes: bool
    outcome: asyncio.Future[None]


class SharedTransaction:
    """A transaction of PostgreSQL, with the lock of a queue, in which transactions run one after another."""

    __slots__ = ("_database", "_ended", "_has_savepoint", "_leave", "_over", "_queue", "connection")

    def __init__(
        self, database: Connections, queue: Queue, leave: Callable[[Queue], None], connection: PostgresConnection
    ) -> None:
        self._database = database
        self._queue = queue
        self._leave = leave
        self._ended: list[_Ended] = []
        """Those that have run without a failure."""
        self._has_savepoint = False
        self._over = False
        self.connection = connection

    async def end(self, callbacks: Sequence[Callable[[], None]], *, changes: bool = True) -> None:
        """End a transaction that has run, and let the next one run; return once it is durable. Raises StorageError.

        `changes` is whether it may have changed something.
        """
        first = not self._ended
        outcome = asyncio.get_running_loop().create_future()
        self._ended.append(_Ended(callbacks, changes, outcome))
        try:
            if first:
                if self._queue.waiting:
                    await self._set_savepoint()
                    await self._queue.rejoin()
                await self._commit()
            elif len(self._ended) == _MAX_TOGETHER:
                await self._commit()
            elif self._queue.waiting > 1:  # not only the first one, which commits
                await self._set_savepoint()
        except StorageError:
            pass  # which its outcome raises too
        finally:
            self._leave(self._queue)
        await outcome
        # All of a commit are woken in one turn.
        await yield_turn()

    async def roll_back(self) -> None:
        """Undo what a transaction has done that failed, and let the next one run."""
        try:
            if self._ended:
                await self._execute("ROLLBACK TO SAVEPOINT one")
            else:
                await self._execute("ROLLBACK")
                self._finish()
        except StorageError:
            pass  # its own failure is raised
        finally:
            self._leave(self._queue)

    async def _set_savepoint(self) -> None:
        text = _NEXT_SAVEPOINT if self._has_savepoint else _SAVEPOINT
        self._has_savepoint = True
        await self._execute(text)

    async def _commit(self) -> None:
        if self._over:
            return
        started = stopwatch()
        callbacks = [callback for ended in self._ended for callback in ended.callbacks]
        changes = any(ended.changes for ended in self._ended)
        mark = self._database.outcomes.mark(self.connection) if changes else None
        try:
            status = await self.connection.execute("COMMIT" if mark is None else mark.commit)
        except DRIVER_ERRORS as error:
            # Nothing runs in it any more, however long it takes to find out.
            self._over = True
            self._queue.transaction = None
            try:
                await self._database.confirm_commit(self.connection, mark, callbacks, error)
            except StorageError as failure:
                self._fail_ended(failure)
                return
        except BaseException:
            self._fail(StorageUnavailable("the transaction was interrupted"))
            raise
        else:
            if status != "COMMIT":
                self._fail(StorageUnavailable(f"PostgreSQL answered COMMIT with {status}"))
                return
            self._finish()
        self._database.committed(callbacks, stopwatch() - started, len(self._ended))
        for ended in self._ended:
            ended.outcome.set_result(None)

    async def _execute(self, text: str) -> Any:
        """Run a statement. Whatever it raises fails all that have run, as nothing is known of the connection."""
        try:
            return await self.connection.execute(text)
        except DRIVER_ERRORS as error:
            failure = postgres_error(error)
            self._fail(failure)
            raise failure from error
        except BaseException:
            self._fail(StorageUnavailable("the transaction was interrupted"))
            raise

    def _finish(self) -> None:
        self._over = True
        self._queue.transaction = None
        self._database.release(self.connection)

    def _fail(self, error: StorageError) -> None:
        self._over = True
        self._queue.transaction = None
        self._database.drop(self.connection)
        self._fail_ended(error)

    def _fail_ended(self, error: StorageError) -> None:
        for ended in self._ended:
            if not ended.outcome.done():
                ended.outcome.set_exception(error)
