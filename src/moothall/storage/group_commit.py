"""Group commit: many transactions, one fsync.

A transaction's body takes its *turn* on the writer's connection: first come, first served, each
under a savepoint inside one open SQLite transaction, the *batch*. When the turns that were ready
have run, a thread commits the batch while new turns queue up for the next one. So the busier the
server, the larger the batches, and a lone request waits for nobody.

    begin -> (body) -> commit     the turn's savepoint is released; its task sleeps until the batch
                                  is durable, then learns the outcome in the order of the turns
                    -> roll_back  only this turn's writes are undone

The connection belongs to the event loop, except while `_committing`, when it is the thread's.
"""

import asyncio
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import apsw

from moothall.storage.database import StorageError, StorageFull, StorageUnavailable
from moothall.storage.sqlite_files import connect, storage_error

MAX_IN_BATCH = 256
"""How many transactions one commit holds at most."""

_BUSY_SECONDS = 10.0
"""How long another process may hold the write lock before a transaction gives up."""
_BUSY_PAUSE = 0.0005


class Turn:
    """One transaction's place in the order of all."""

    __slots__ = ("callbacks", "failure", "over", "task", "wake")

    def __init__(self, task: "asyncio.Task[object] | None") -> None:
        self.task = task
        self.callbacks: list[Callable[[], None]] = []
        self.wake: asyncio.Future[None] | None = None
        self.over = False
        self.failure: StorageError | None = None

    def wake_up(self) -> None:
        """Let the task that waits go on."""
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)


class Writer:
    """The one connection that writes, and the thread that commits."""

    def __init__(self, path: Path, connection: apsw.Connection, observe: Callable[[int, float], None]) -> None:
        self.connection = connection
        self._path = path
        self._observe = observe
        self._loop = asyncio.get_running_loop()
        self._held: Turn | None = None
        self._waiting: deque[Turn] = deque()
        self._batch: list[Turn] = []
        self._batch_open = False
        self._commit_due = False
        self._committing = False
        self._broken = False
        self._closed = False
        self._settled: list[asyncio.Future[None]] = []
        self._jobs: SimpleQueue[str] = SimpleQueue()
        self._thread = threading.Thread(target=self._commit_forever, name="moothall-commit", daemon=True)
        self._thread.start()

    async def begin(self) -> Turn:
        """Wait for a turn and start its savepoint."""
        turn = await self._take()
        try:
            if not self._batch_open:
                await self._begin_batch()
            self.connection.execute("SAVEPOINT turn")
        except apsw.Error as error:
            self._release()
            raise storage_error(error) from error
        except BaseException:
            self._release()
            raise
        return turn

    def roll_back(self, turn: Turn, reason: StorageError | None = None) -> None:
        """Undo a turn's writes and let the next one begin."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO turn; RELEASE turn").fetchall()
            else:
                # SQLite itself gave up the whole transaction, as it may when the disk is full.
                self._lose_batch(reason or StorageUnavailable("the transaction was abandoned"))
        except apsw.Error as error:
            self._broken = True
            self._lose_batch(storage_error(error))
        finally:
            turn.over = True
            self._release()

    async def commit(self, turn: Turn) -> None:
        """Keep a turn's writes and wait until they are durable. Raises StorageError if they are not.

        A task that is cancelled meanwhile goes on waiting, and is cancelled when the outcome is known.
        """
        try:
            self.connection.execute("RELEASE turn")
        except apsw.Error as error:
            failure = storage_error(error)
            self.roll_back(turn, failure)
            raise failure from error
        self._batch.append(turn)
        self._release()
        cancelled: asyncio.CancelledError | None = None
        while not turn.over:
            turn.wake = self._loop.create_future()
            try:
                await turn.wake
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        if turn.failure is not None:
            raise turn.failure

    async def exclusively(self, work: Callable[[apsw.Connection], None]) -> None:
        """Run work on the connection, on a thread, between batches. It begins and commits by itself."""
        await self._take()
        try:
            while self._batch_open or self._committing:
                self._hand_over_batch()
                await self._next_settling()
            self.connection.set_busy_timeout(int(_BUSY_SECONDS * 1000))
            await asyncio.to_thread(work, self.connection)
        except apsw.Error as error:
            raise storage_error(error) from error
        finally:
            self.connection.set_busy_timeout(0)
            self._release()

    async def settled(self) -> None:
        """Wait until no turn is taken and no commit under way."""
        while self._held is not None or self._waiting or self._batch_open:
            await self._next_settling()

    async def close(self) -> None:
        """Finish every turn, then stop the thread and disconnect."""
        self._closed = True
        await self.settled()
        self._jobs.put("stop")
        await asyncio.to_thread(self._thread.join)
        self.connection.close()

    async def _take(self) -> Turn:
        if self._closed:
            raise StorageUnavailable("the database is closing")
        turn = Turn(asyncio.current_task())
        if self._held is not None or self._committing or self._waiting:
            await self._queue(turn)
        self._held = turn
        return turn

    async def _queue(self, turn: Turn) -> None:
        if self._held is not None and self._held.task is turn.task:
            raise RuntimeError("a transaction inside another of the same task would wait for itself")
        self._waiting.append(turn)
        try:
            while True:
                turn.wake = self._loop.create_future()
                await turn.wake
                # Several are woken at once; each sees for itself whether the way is really free.
                if self._held is None and not self._committing and self._waiting[0] is turn:
                    break
        except BaseException:
            self._waiting.remove(turn)
            self._wake_waiting()
            raise
        self._waiting.popleft()

    async def _begin_batch(self) -> None:
        if self._broken:
            self._reconnect()
        deadline = self._loop.time() + _BUSY_SECONDS
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                # Another process is writing. Pauses stay short: a busy one leaves only short gaps.
                if self._loop.time() > deadline:
                    raise StorageUnavailable("another process holds the database's write lock") from None
                await asyncio.sleep(_BUSY_PAUSE)
            else:
                self._batch_open = True
                return

    def _release(self) -> None:
        self._held = None
        if not self._batch_open:
            self._wake_waiting()
            self._tell_settled()
        elif len(self._batch) >= MAX_IN_BATCH:
            self._hand_over_batch()
        else:
            self._wake_waiting()
            if not self._commit_due:
                # After everything that is ready now, the turns just woken among it.
                self._commit_due = True
                self._loop.call_soon(self._commit_if_free)

    def _wake_waiting(self) -> None:
        if self._held is None and not self._committing:
            for turn in itertools.islice(self._waiting, MAX_IN_BATCH):
                turn.wake_up()

    def _commit_if_free(self) -> None:
        self._commit_due = False
        if self._held is None and self._batch_open and not self._committing:
            self._hand_over_batch()

    def _hand_over_batch(self) -> None:
        if not self._committing:
            self._committing = True
            self._jobs.put("commit")

    def _commit_forever(self) -> None:
        while self._jobs.get() == "commit":
            started = time.perf_counter()
            failure: StorageError | None = None
            try:
                self.connection.execute("COMMIT")
            except apsw.Error as error:
                failure = storage_error(error)
                self._abandon(failure)
            self._loop.call_soon_threadsafe(self._committed, failure, time.perf_counter() - started)

    def _abandon(self, failure: StorageError) -> None:
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except apsw.Error:
            self._broken = True
        # After a failed fsync nobody knows what the page cache holds: read it all afresh.
        self._broken = self._broken or not isinstance(failure, StorageFull)

    def _committed(self, failure: StorageError | None, seconds: float) -> None:
        size = len(self._batch)
        self._committing = self._batch_open = False
        # The next turns run first: their commit then overlaps with the answers to these.
        self._wake_waiting()
        self._end_batch(failure)
        if size:
            self._observe(size, seconds)
        self._tell_settled()

    def _lose_batch(self, failure: StorageError) -> None:
        self._batch_open = False
        self._end_batch(failure)

    def _end_batch(self, failure: StorageError | None) -> None:
        batch, self._batch = self._batch, []
        for turn in batch:
            turn.over = True
            if failure is None:
                for callback in turn.callbacks:
                    self._call(callback)
            else:
                # Each waiter gets an error of its own, as raising one adds to its traceback.
                turn.failure = type(failure)(*failure.args)
            turn.wake_up()

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 the write is durable: nothing may keep the others from hearing so
            self._loop.call_exception_handler({"message": "a callback of a commit raised", "exception": error})

    def _reconnect(self) -> None:
        self.connection.close()
        self.connection = connect(self._path)
        self._broken = False

    async def _next_settling(self) -> None:
        future = self._loop.create_future()
        self._settled.append(future)
        await future

    def _tell_settled(self) -> None:
        waiting, self._settled = self._settled, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
