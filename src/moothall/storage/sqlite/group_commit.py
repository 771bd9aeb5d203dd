"""Group commit: many transactions, one fsync.

A transaction's body takes its *turn* on the writer's connection, each under a savepoint inside one
open SQLite transaction, the *batch*. When the turns that were ready have run, or the batch has been
open for as long as a commit takes, a thread commits it while new turns queue up for the next one.
So the busier the server, the larger the batches, and a lone request does not wait. Those who wait
for a turn stand in lanes (`runtime/lanes.py`).

    begin -> (body) -> commit     the turn's savepoint is released; its task sleeps until the batch
                                  is durable, then learns the outcome in the order of the turns
                    -> roll_back  only this turn's writes are undone

The connection belongs to the event loop, except while `_committing`, when it is the thread's.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import apsw

from moothall.objects.clock import stopwatch
from moothall.runtime.invariants import BrokenInvariant
from moothall.runtime.lanes import SERVER_LANE, Lanes, current_lane
from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.runtime.turns import room_in_turn
from moothall.storage.database import CommitUnknown, StorageError, StorageFull, StorageUnavailable
from moothall.storage.sqlite.files import connect, storage_error
from moothall.storage.sqlite.kept_rows import KeptRows

MAX_IN_BATCH = 256
"""Maximum number of transactions in one commit."""

_BATCH_SECONDS = 0.01
"""Seconds after which a batch takes no more transactions: else those in it would wait while others come."""

_WOKEN_AT_ONCE = 8
"""Maximum number of transactions woken for one turn of the event loop; those for which it has no time wait again."""

STUCK_SECONDS = 2.0
"""A commit that takes longer than this is one that the disk may never carry out."""
_ABANDONED_SECONDS = 10.0
"""After so many seconds of one commit, all who wait for it or for a turn are told that the disk does not answer."""

_BUSY_SECONDS = 10.0
"""How long another process may hold the write lock before a transaction gives up."""
_BUSY_PAUSE = 0.0005

_NO_ANSWER = "the database's disk does not answer"


class Turn:
    """A transaction in the queue of the writer."""

    __slots__ = ("abandoned", "callbacks", "failure", "lane", "left", "over", "task", "wake")

    def __init__(self, task: "asyncio.Task[object] | None") -> None:
        self.task = task
        self.lane: Hashable = SERVER_LANE
        """That in which it waited; of no account if it did not wait."""
        self.left = False
        """Whether its task was cancelled while it waited."""
        self.callbacks: list[Callable[[], None]] = []
        self.wake: asyncio.Future[None] | None = None
        self.over = False
        self.abandoned = False
        """Whether its task does not wait for its outcome any more."""
        self.failure: StorageError | None = None

    def wake_up(self) -> None:
        """Wake the waiting task."""
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)


class Writer:
    """The one connection that writes, and the thread that commits."""

    def __init__(
        self,
        path: Path,
        connection: apsw.Connection,
        observe: Callable[[int, float], None],
        note_row: Callable[[int, str, str, int], None],
        count: Callable[[], None] = lambda: None,
    ) -> None:
        self.connection = connection
        self.cursor = connection.cursor()
        """Runs the statements of all turns: to make a cursor for each takes longer than a short statement."""
        connection.set_update_hook(note_row)
        self._note_row = note_row
        self._path = path
        self._observe = observe
        self._count = count
        """Called after each commit, before anything is answered."""
        self._loop = asyncio.get_running_loop()
        self._current: Turn | None = None
        self._lanes: Lanes[Turn] = Lanes()
        """Those who wait, but for those who go next."""
        self._waiting: deque[Turn] = deque()
        """Those who go next, in their order."""
        self._batch: list[Turn] = []
        self._batch_open = False
        self._batch_began = 0.0
        self._batch_seconds = _BATCH_SECONDS
        """After so long a batch is committed though others wait: no shorter than the last commit."""
        self._began = 0.0
        """When the transaction under way began."""
        self._commit_due = False
        self._committing = False
        self._commit_started = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._abandoned = False
        """Whether a commit is under way that was given up."""
        self._broken = False
        self._closed = False
        self._settled: list[asyncio.Future[None]] = []
        self.kept = KeptRows()
        self._jobs: SimpleQueue[str] = SimpleQueue()
        self._thread = threading.Thread(target=self._commit_forever, name="moothall-commit", daemon=True)
        self._thread.start()

    @property
    def committing_seconds(self) -> float:
        """For how long the commit has been under way; 0 without one."""
        return stopwatch() - self._commit_started if self._committing else 0.0

    async def begin(self) -> Turn:
        """Wait for a turn and start its savepoint. Raises StorageError."""
        turn = await self._take()
        if self._committing:
            self._release()
            raise BrokenInvariant("a transaction begins while the thread commits on its connection")
        try:
            if not self._batch_open:
                await self._begin_batch()
            self.cursor.execute("SAVEPOINT turn")
        except apsw.Error as error:
            self._release()
            raise storage_error(error) from error
        except BaseException:
            self._release()
            raise
        return turn

    def roll_back(self, turn: Turn, reason: StorageError | None = None) -> None:
        """Roll back a turn's writes and let the next one begin."""
        self._require_current(turn)
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO turn; RELEASE turn").fetchall()
            else:
                # SQLite has rolled back the whole transaction, as it may do when the disk is full.
                self._fail_batch(reason or StorageUnavailable("the transaction was abandoned"))
        except apsw.Error as error:
            self._broken = True
            self._fail_batch(storage_error(error))
        finally:
            turn.over = True
            self.kept.end_turn()
            self._release()

    async def commit(self, turn: Turn) -> None:
        """Commit a turn's writes and wait until they are durable. Raises StorageError if the commit fails.

        CommitUnknown if the disk does not answer: the turn's callbacks are called if it does later.
        A task that is cancelled meanwhile waits for the outcome first.
        """
        self._require_current(turn)
        try:
            self.cursor.execute("RELEASE turn")
        except apsw.Error as error:
            failure = storage_error(error)
            self.roll_back(turn, failure)
            raise failure from error
        self._batch.append(turn)
        self.kept.end_turn()
        self._release()
        cancelled: asyncio.CancelledError | None = None
        while not (turn.over or turn.abandoned):
            turn.wake = self._loop.create_future()
            try:
                await turn.wake
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        if not turn.over:
            raise CommitUnknown(_NO_ANSWER)
        if turn.failure is not None:
            raise turn.failure

    def _require_current(self, turn: Turn) -> None:
        if self._current is not turn:
            raise BrokenInvariant("a transaction ends that is not the one under way")

    async def exclusively(self, work: Callable[[apsw.Connection], None]) -> None:
        """Run work on the connection, on a thread, between batches. It must begin and commit its own transactions."""
        await self._take()
        try:
            while self._batch_open or self._committing:
                self._hand_over_batch()
                await self._wait_for_change()
            self.connection.set_busy_timeout(int(_BUSY_SECONDS * 1000))
            await in_lifecycle_thread(partial(work, self.connection))
        except apsw.Error as error:
            raise storage_error(error) from error
        finally:
            self.connection.set_busy_timeout(0)
            self.kept.forget()
            self._release()

    async def settled(self) -> None:
        """Wait until no turn and no commit is running."""
        self._choose()
        while self._current is not None or self._waiting or self._batch_open:
            await self._wait_for_change()
            self._choose()

    async def close(self) -> None:
        """Finish every turn, then stop the thread and disconnect."""
        await self.stop()
        self.connection.close()

    async def stop(self) -> None:
        """Finish every turn, then stop the thread. The connection stays open."""
        self._closed = True
        await self.settled()
        self._jobs.put("stop")
        await in_lifecycle_thread(self._thread.join)

    async def _take(self) -> Turn:
        if self._closed:
            raise StorageUnavailable("the database is closing")
        if self._abandoned:
            raise StorageUnavailable(_NO_ANSWER)
        turn = Turn(asyncio.current_task(self._loop))
        self._choose()
        if self._current is not None or self._committing or self._waiting:
            await self._queue(turn)
        self._current, self._began = turn, stopwatch()
        return turn

    async def _queue(self, turn: Turn) -> None:
        if self._current is not None and self._current.task is turn.task:
            raise RuntimeError("a transaction inside another of the same task would wait for itself")
        turn.lane = current_lane()
        self._lanes.add(turn.lane, turn)
        self._choose()
        self._advance(turn)
        try:
            while True:
                if not self._is_next(turn):
                    turn.wake = self._loop.create_future()
                    await turn.wake
                # Several are woken at once, so each checks that it is its turn, also after others may have run.
                if self._is_next(turn):
                    await room_in_turn(first=True)
                    if self._is_next(turn):
                        break
        except BaseException:
            turn.left = True
            if turn in self._waiting:
                self._waiting.remove(turn)
            self._wake_waiting()
            raise
        self._waiting.popleft()

    def _is_next(self, turn: Turn) -> bool:
        return self._current is None and not self._committing and bool(self._waiting) and self._waiting[0] is turn

    def _choose(self) -> None:
        """Choose who goes next, as many as are woken at once; those that have left are dropped."""
        while len(self._waiting) < _WOKEN_AT_ONCE and (turn := self._lanes.take()) is not None:
            if not turn.left:
                self._waiting.append(turn)

    def _advance(self, turn: Turn) -> None:
        """Let one who waits go before those chosen already whose lanes have had more time."""
        if not self._lanes.has_had_less(turn.lane, self._waiting[-1].lane):
            return
        if turn in self._waiting:
            self._waiting.remove(turn)
        else:
            self._lanes.discard(turn.lane, turn)
        ahead = sum(not self._lanes.has_had_less(turn.lane, other.lane) for other in self._waiting)
        self._waiting.insert(ahead, turn)

    async def _begin_batch(self) -> None:
        if self._broken:
            self._reconnect()
        deadline = self._loop.time() + _BUSY_SECONDS
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                # Another process is writing. Pauses are short, because a busy process leaves only short gaps.
                if self._loop.time() > deadline:
                    raise StorageUnavailable("another process holds the database's write lock") from None
                await asyncio.sleep(_BUSY_PAUSE)
            else:
                self._batch_open = True
                self._batch_began = stopwatch()
                self.kept.begin_batch(self.connection.execute("PRAGMA data_version").get)
                return

    def _release(self) -> None:
        now = stopwatch()
        if self._current is not None:
            self._lanes.charge(self._current.lane, now - self._began)
        self._lanes.forget(now)
        self._current = None
        if not self._batch_open:
            self._wake_waiting()
            self._notify_settled()
        elif len(self._batch) >= MAX_IN_BATCH or now - self._batch_began >= self._batch_seconds:
            self._hand_over_batch()
        else:
            self._wake_waiting()
            if not self._commit_due:
                # Runs after everything that is ready now, including the turns just woken.
                self._commit_when_free()

    def _wake_waiting(self) -> None:
        if self._current is None and not self._committing:
            self._choose()
            for turn in self._waiting:
                wake = turn.wake
                if wake is not None and not wake.done():
                    wake.set_result(None)

    def _commit_when_free(self) -> None:
        self._commit_due = True
        self._loop.call_soon(self._commit_if_free)

    def _commit_if_free(self) -> None:
        self._commit_due = False
        if self._current is None and self._batch_open and not self._committing:
            self._choose()
            if self._waiting:
                # They have been woken, and the batch has room for them.
                self._commit_when_free()
            else:
                self._hand_over_batch()

    def _hand_over_batch(self) -> None:
        if not self._committing:
            self._committing = True
            self._commit_started = stopwatch()
            self._watch = self._loop.call_later(_ABANDONED_SECONDS, self._give_up)
            self._jobs.put("commit")

    def _give_up(self) -> None:
        """Let no one wait any longer for a disk that does not answer."""
        self._abandoned = True
        for turn in self._batch:
            turn.abandoned = True
            turn.wake_up()
        for turn in (*self._waiting, *self._lanes):
            if turn.wake is not None and not turn.wake.done():
                turn.wake.set_exception(StorageUnavailable(_NO_ANSWER))

    def _commit_forever(self) -> None:
        while self._jobs.get() == "commit":
            started = stopwatch()
            failure: StorageError | None = None
            try:
                self.connection.execute("COMMIT")
            except apsw.Error as error:
                failure = storage_error(error)
                self._abandon(failure)
            self._loop.call_soon_threadsafe(self._committed, failure, stopwatch() - started)

    def _abandon(self, failure: StorageError) -> None:
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except apsw.Error:
            self._broken = True
        # After a failed fsync the content of the page cache is unknown: reopen the file.
        self._broken = self._broken or not isinstance(failure, StorageFull)

    def _committed(self, failure: StorageError | None, seconds: float) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._abandoned = False
        size = len(self._batch)
        if failure is None:
            self._count()
        self._committing = self._batch_open = False
        self._batch_seconds = max(_BATCH_SECONDS, seconds)
        # The next turns run first: their commit then overlaps with the responses to these.
        self._wake_waiting()
        self._end_batch(failure)
        if size:
            self._observe(size, seconds)
        self._notify_settled()

    def _fail_batch(self, failure: StorageError) -> None:
        self._batch_open = False
        self._end_batch(failure)

    def _end_batch(self, failure: StorageError | None) -> None:
        batch, self._batch = self._batch, []
        if failure is not None:
            self.kept.forget()
        for turn in batch:
            turn.over = True
            if failure is None:
                for callback in turn.callbacks:
                    try:
                        callback()
                    except Exception as error:  # noqa: BLE001 the write is durable: the other callbacks must run
                        self._report(error)
            else:
                # Each waiter gets its own exception, because raising one extends its traceback.
                turn.failure = type(failure)(*failure.args)
            turn.wake_up()

    def _report(self, error: Exception) -> None:
        self._loop.call_exception_handler({"message": "a callback of a commit raised", "exception": error})

    def _reconnect(self) -> None:
        self.connection.close()
        self.connection = connect(self._path)
        self.cursor = self.connection.cursor()
        self.connection.set_update_hook(self._note_row)
        self.kept.forget()
        self._broken = False

    async def _wait_for_change(self) -> None:
        future = self._loop.create_future()
        self._settled.append(future)
        await future

    def _notify_settled(self) -> None:
        waiting, self._settled = self._settled, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
