"""Group commit on slow, full and failing disks, and with other writing processes."""

import asyncio
import os
import resource
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from sqlalchemy import func, insert, select

from moothall.runtime import turns
from moothall.runtime.lanes import enter_lane
from moothall.storage.database import CommitUnknown, Query, StorageFull, StorageUnavailable
from moothall.storage.schema import bans
from moothall.storage.sqlite import group_commit
from moothall.storage.sqlite.engine import SqliteDatabase

BAN = Query(insert(bans))
BANNED = Query(select(bans.c.user_id).order_by(bans.c.user_id))
COUNT = Query(select(func.count()).select_from(bans))


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "moothall.db")
    await database.open()
    await database.migrate()
    yield database
    await database.close()


async def ban(database: SqliteDatabase, user_id: int, reason: str = "x") -> None:
    async with database.transaction() as tx:
        await tx.execute(BAN, guild_id=1, user_id=user_id, reason=reason, created_at=1)


async def banned(database: SqliteDatabase) -> list[int]:
    async with database.read() as reader:
        return [user_id for (user_id,) in await reader.all(BANNED)]


def batches_of(database: SqliteDatabase) -> list[int]:
    sizes: list[int] = []
    database.observe_commit = lambda size, _: sizes.append(size)
    return sizes


@contextmanager
def slow_commits(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Every commit sets the first event and waits for the second on its thread, as on a slow disk."""
    writer = database._writer
    assert writer is not None
    started, go, real = threading.Event(), threading.Event(), writer.connection

    class Slow:
        def execute(self, text: str, *bindings: object) -> object:
            if text == "COMMIT":
                started.set()
                assert go.wait(60)
            return real.execute(text, *bindings)  # type: ignore[arg-type]

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

    monkeypatch.setattr(writer, "connection", Slow())
    try:
        yield started, go
    finally:
        go.set()


async def test_a_lone_transaction_does_not_wait(sqlite: SqliteDatabase) -> None:
    sizes = batches_of(sqlite)
    await ban(sqlite, 1)
    await ban(sqlite, 2)
    assert sizes == [1, 1]


async def test_transactions_that_are_ready_together_share_a_commit(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A batch ends after 10 ms.
    monkeypatch.setattr(group_commit, "stopwatch", lambda: 0.0)
    sizes = batches_of(sqlite)
    await asyncio.gather(*(ban(sqlite, number) for number in range(50)))
    assert sizes == [50]


async def test_a_batch_has_a_bound(sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "stopwatch", lambda: 0.0)
    sizes = batches_of(sqlite)
    count = 3 * group_commit.MAX_IN_BATCH + 5
    await asyncio.gather(*(ban(sqlite, number) for number in range(count)))
    assert sizes == [group_commit.MAX_IN_BATCH] * 3 + [5]
    assert await banned(sqlite) == list(range(count))


async def test_what_arrives_during_a_commit_is_the_next_batch(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = batches_of(sqlite)
    with slow_commits(sqlite, monkeypatch) as (started, go):
        first = asyncio.create_task(ban(sqlite, 0))
        assert await asyncio.to_thread(started.wait, 60)
        others = [asyncio.create_task(ban(sqlite, number)) for number in range(1, 8)]
        await asyncio.sleep(0.02)
        assert not first.done()
        assert sizes == []
        go.set()
        await asyncio.gather(first, *others)
    assert sizes == [1, 7]


class Waiting:
    """Transactions that waited for a commit: by a clock of the test, each takes so many seconds."""

    def __init__(self, sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.order: list[int] = []
        """The numbers of the transactions, as they ran."""
        self.callbacks: list[int] = []
        """The same, as their commit called back."""
        self.sizes = batches_of(sqlite)
        self._sqlite = sqlite
        self._monkeypatch = monkeypatch
        self._seconds = seconds
        self._now = 0.0
        self._turn = 0
        self._turns: list[int] = []
        monkeypatch.setattr(turns, "stopwatch", lambda: self._now)
        # No batch is committed for its age.
        monkeypatch.setattr(group_commit, "stopwatch", lambda: 0.0)

    async def write(self, number: int) -> None:
        async with self._sqlite.transaction() as tx:
            self.order.append(number)
            self._turns.append(self._turn)
            self._now += self._seconds
            tx.on_commit(lambda: self.callbacks.append(number))
            await tx.execute(BAN, guild_id=1, user_id=number, reason="x", created_at=1)

    async def run(self, count: int) -> int:
        """Run so many while a task of the test takes a step in each turn of the loop; return how many ran in one."""
        with slow_commits(self._sqlite, self._monkeypatch) as (started, go):
            first = asyncio.create_task(ban(self._sqlite, 0))
            assert await asyncio.to_thread(started.wait, 60)
            others = [asyncio.create_task(self.write(number)) for number in range(1, count + 1)]
            await asyncio.sleep(0)
            go.set()
            while not all(task.done() for task in others):
                self._turn += 1
                await asyncio.sleep(0)
            await first
        return max(self._turns.count(turn) for turn in self._turns)


async def test_those_that_waited_for_a_commit_share_the_next_in_several_turns_of_the_loop(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Waiting(sqlite, monkeypatch, 0.0)
    assert await waiting.run(100) == group_commit._WOKEN_AT_ONCE
    assert waiting.sizes == [1, 100]


async def test_a_turn_of_the_loop_has_only_as_many_transactions_as_it_has_time_for(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Waiting(sqlite, monkeypatch, turns.FIRST_SECONDS)
    # The one that ends a turn's time and the first of the next may run between two steps of the same task.
    assert await waiting.run(group_commit.MAX_IN_BATCH) <= 2
    assert waiting.sizes == [1, group_commit.MAX_IN_BATCH]
    assert waiting.order == waiting.callbacks == list(range(1, group_commit.MAX_IN_BATCH + 1))


async def test_a_transaction_that_is_cancelled_while_it_waits_for_time_lets_the_next_one_begin(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, has_time = asyncio.Event(), asyncio.Event()

    async def room_in_turn(*, first: bool) -> None:
        assert first
        waits.set()
        await has_time.wait()

    monkeypatch.setattr(group_commit, "room_in_turn", room_in_turn)
    holder = sqlite.transaction()
    await holder.__aenter__()
    others = [asyncio.create_task(ban(sqlite, number)) for number in range(1, 4)]
    await asyncio.sleep(0)
    leaving = asyncio.create_task(holder.__aexit__(None, None, None))
    await waits.wait()
    others[0].cancel()
    has_time.set()
    await asyncio.gather(leaving, *others, return_exceptions=True)
    assert others[0].cancelled()
    assert await banned(sqlite) == [2, 3]


async def test_a_transaction_returns_only_once_durable_and_reads_go_on_meanwhile(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    async def write() -> None:
        async with sqlite.transaction() as tx:
            await tx.execute(BAN, guild_id=1, user_id=1, reason="x", created_at=1)
            tx.on_commit(lambda: heard.append("committed"))
        heard.append("answered")

    with slow_commits(sqlite, monkeypatch) as (_, go):
        task = asyncio.create_task(write())
        for _ in range(20):
            await asyncio.sleep(0.001)
            assert await banned(sqlite) == []
        assert heard == []
        go.set()
        await task
    assert heard == ["committed", "answered"]
    assert await banned(sqlite) == [1]


async def test_a_body_that_waits_holds_up_the_writers_but_not_the_readers(sqlite: SqliteDatabase) -> None:
    leave = asyncio.Event()

    async def hold() -> None:
        async with sqlite.transaction() as tx:
            await tx.execute(BAN, guild_id=1, user_id=1, reason="x", created_at=1)
            await leave.wait()

    holder = asyncio.create_task(hold())
    other = asyncio.create_task(ban(sqlite, 2))
    await asyncio.sleep(0.02)
    assert await banned(sqlite) == []
    assert not other.done()
    leave.set()
    await asyncio.gather(holder, other)
    assert await banned(sqlite) == [1, 2]


async def test_a_full_disk_refuses_the_write_keeps_reading_and_recovers(sqlite: SqliteDatabase) -> None:
    await ban(sqlite, 1)
    assert sqlite._writer is not None
    connection = sqlite._writer.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchall()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    with pytest.raises(StorageFull):
        await ban(sqlite, 2, reason="x" * 100_000)
    assert await banned(sqlite) == [1]
    with pytest.raises(StorageFull):
        await ban(sqlite, 2, reason="x" * 100_000)
    await ban(sqlite, 3)  # there is room for a small one

    connection.execute("PRAGMA max_page_count = 1073741823").fetchall()
    await ban(sqlite, 2, reason="x" * 100_000)
    assert await banned(sqlite) == [1, 2, 3]


async def test_on_a_full_disk_each_transaction_gets_its_own_outcome(sqlite: SqliteDatabase) -> None:
    await ban(sqlite, 1)
    assert sqlite._writer is not None
    connection = sqlite._writer.connection
    pages = int(str(connection.execute("PRAGMA page_count").fetchall()[0][0]))
    connection.execute(f"PRAGMA max_page_count = {pages + 20}").fetchall()
    outcomes = await asyncio.gather(
        *(ban(sqlite, number, reason="x" * 9_000) for number in range(10, 43)), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} == {type(None), StorageFull}
    assert await banned(sqlite) == [1, *(n for n, outcome in enumerate(outcomes, 10) if outcome is None)]


@contextmanager
def no_file_may_grow_past(size: int) -> Iterator[None]:
    """Writes past the size fail in the operating system, as on a failing disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_failed_commit_fails_all_its_transactions_and_the_next_one_succeeds(sqlite: SqliteDatabase) -> None:
    await ban(sqlite, 1)
    log = Path(f"{sqlite.path}-wal")
    heard: list[int] = []

    async def write(number: int) -> None:
        async with sqlite.transaction() as tx:
            tx.on_commit(lambda: heard.append(number))
            await tx.execute(BAN, guild_id=1, user_id=number, reason="x", created_at=1)

    with no_file_may_grow_past(log.stat().st_size + 100):
        outcomes = await asyncio.gather(*(write(number) for number in range(10, 20)), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 10
        assert len({id(outcome) for outcome in outcomes}) == 10
        assert await banned(sqlite) == [1]
    assert heard == []
    await asyncio.gather(*(write(number) for number in range(20, 25)))
    assert heard == [20, 21, 22, 23, 24]
    assert await banned(sqlite) == [1, 20, 21, 22, 23, 24]


async def test_a_transaction_that_sqlite_rolled_back_fails_its_whole_batch(sqlite: SqliteDatabase) -> None:
    assert sqlite._writer is not None
    connection = sqlite._writer.connection

    async def lose() -> None:
        async with sqlite.transaction() as tx:
            await tx.execute(BAN, guild_id=1, user_id=2, reason="x", created_at=1)
            connection.execute("ROLLBACK")  # what SQLite does of its own accord after some errors
            raise KeyError

    first, second, third = await asyncio.gather(ban(sqlite, 1), lose(), ban(sqlite, 3), return_exceptions=True)
    assert isinstance(first, StorageUnavailable)
    assert isinstance(second, KeyError)
    assert third is None
    assert await banned(sqlite) == [3]


async def test_two_processes_may_write(sqlite: SqliteDatabase) -> None:
    # Another database object has connections of its own, as another process would have.
    other = SqliteDatabase(sqlite.path)
    await other.open()
    await other.migrate()
    await asyncio.gather(
        *(ban(database, 2 * number + side) for number in range(100) for side, database in enumerate((sqlite, other)))
    )
    assert await banned(sqlite) == await banned(other) == list(range(200))
    await other.close()


async def test_a_command_gets_its_turn_beside_a_busy_server(sqlite: SqliteDatabase) -> None:
    done = asyncio.Event()
    written = 0

    async def load() -> None:
        nonlocal written
        while not done.is_set():
            written += 1
            await ban(sqlite, written)

    load_tasks = [asyncio.create_task(load()) for _ in range(16)]
    command = SqliteDatabase(sqlite.path)
    await command.open()
    for number in range(3):
        # It would raise StorageUnavailable if it got no turn within `_BUSY_SECONDS`.
        await ban(command, 10_000_000 + number)
    done.set()
    await asyncio.gather(*load_tasks)
    await command.close()


async def test_a_foreign_lock_delays_writes_without_blocking_reads(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = apsw.Connection(str(sqlite.path))
    foreign.execute("BEGIN IMMEDIATE")
    task = asyncio.create_task(ban(sqlite, 1))
    for _ in range(20):
        started = time.monotonic()
        await asyncio.sleep(0.001)
        assert await banned(sqlite) == []
        # A read that waited for the lock would take `_BUSY_SECONDS`.
        assert time.monotonic() - started < group_commit._BUSY_SECONDS / 2
    assert not task.done()
    foreign.execute("COMMIT")
    await task

    monkeypatch.setattr(group_commit, "_BUSY_SECONDS", 0.05)
    foreign.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable, match="write lock"):
        await ban(sqlite, 2)
    foreign.close()
    await ban(sqlite, 3)
    assert await banned(sqlite) == [1, 3]


async def test_a_long_read_does_not_hold_up_the_loop(sqlite: SqliteDatabase) -> None:
    await asyncio.gather(*(ban(sqlite, number) for number in range(240)))
    other, third = bans.alias(), bans.alias()
    slow = Query(
        select(func.count())
        .select_from(bans)
        .join(other, other.c.created_at == bans.c.created_at)
        .join(third, third.c.reason == bans.c.reason)
    )
    async with sqlite.read() as reader:
        task = asyncio.create_task(reader.all_long(slow))
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        assert task.result() == [(240**3,)]
        assert turns > 3


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priorities of their own")
async def test_the_event_loop_goes_before_long_reads(sqlite: SqliteDatabase) -> None:
    def priorities() -> list[int]:
        return [int(path.read_text().rpartition(")")[2].split()[16]) for path in Path("/proc/self/task").glob("*/stat")]

    own = os.getpriority(os.PRIO_PROCESS, 0)
    before = priorities()
    async with sqlite.read() as reader:
        assert await reader.all_long(BANNED) == []
    after = priorities()
    assert after.count(own + 5) == before.count(own + 5) + 1
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


async def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "moothall.db").write_bytes(b"not a database" * 1000)
    database = SqliteDatabase(tmp_path / "moothall.db")
    with pytest.raises(StorageUnavailable):
        await database.open()
    elsewhere = SqliteDatabase(tmp_path / "missing" / "moothall.db")
    with pytest.raises(StorageUnavailable):
        await elsewhere.open()


async def test_a_disk_that_does_not_answer_keeps_no_request_waiting_and_what_it_stores_later_is_announced(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "STUCK_SECONDS", 0.0)
    monkeypatch.setattr("moothall.storage.sqlite.engine.STUCK_SECONDS", 0.0)
    announced: list[int] = []
    has_ended = asyncio.Event()

    async def ban_and_announce(user_id: int) -> None:
        async with sqlite.transaction() as tx:
            await tx.execute(BAN, guild_id=1, user_id=user_id, reason="x", created_at=1)
            tx.on_commit(lambda: announced.append(user_id))

    with slow_commits(sqlite, monkeypatch) as (started, go):
        # The timer of the commit is pulled by hand: whatever is waiting then is told so.
        loop = asyncio.get_running_loop()
        first = asyncio.create_task(ban_and_announce(1))
        await asyncio.to_thread(started.wait)
        second = asyncio.create_task(ban_and_announce(2))
        await asyncio.sleep(0)
        assert "the disk has not carried out a commit" in str(sqlite.stuck())
        assert sqlite._writer is not None
        loop.call_soon(sqlite._writer._give_up)
        loop.call_soon(has_ended.set)
        await has_ended.wait()
        async with asyncio.timeout(60):
            with pytest.raises(CommitUnknown):
                await first
            for waiting in (second, asyncio.create_task(ban(sqlite, 3))):
                with pytest.raises(StorageUnavailable):
                    await waiting
        assert announced == []
        go.set()
        async with asyncio.timeout(60):
            await sqlite.settled()
    assert announced == [1]
    assert await banned(sqlite) == [1]
    await ban(sqlite, 4)
    assert await banned(sqlite) == [1, 4]


async def test_transactions_of_one_lane_do_not_keep_those_of_another_waiting(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[int] = []

    async def write(lane: str, user_id: int) -> None:
        enter_lane(lambda: lane)
        async with sqlite.transaction() as tx:
            await tx.execute(BAN, guild_id=1, user_id=user_id, reason="x", created_at=1)
            order.append(user_id)

    with slow_commits(sqlite, monkeypatch) as (started, go):
        tasks = [asyncio.create_task(write("flood", 0))]
        assert await asyncio.to_thread(started.wait, 60)
        tasks += [asyncio.create_task(write("flood", number)) for number in range(1, 100)]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(write("alice", number)) for number in (100, 101)]
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*tasks)
    assert [number for number in order if number < 100] == list(range(100))
    assert order.index(101) < 20


async def test_a_batch_is_committed_though_others_keep_coming(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0
    monkeypatch.setattr(group_commit, "stopwatch", lambda: clock)
    sizes = batches_of(sqlite)
    answered = asyncio.Event()

    async def keep_coming(first: int) -> None:
        nonlocal clock
        number = first
        while not answered.is_set():
            async with sqlite.transaction() as tx:
                await tx.execute(BAN, guild_id=1, user_id=number, reason="x", created_at=1)
                clock += 0.001
            number += 100

    async def write_once() -> None:
        await ban(sqlite, 99)
        answered.set()

    await asyncio.gather(write_once(), *(keep_coming(number) for number in range(90)))
    assert sizes[0] <= 11


async def test_who_is_cancelled_while_waiting_for_a_turn_leaves_it_to_the_next(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slow_commits(sqlite, monkeypatch) as (started, go):
        tasks = [asyncio.create_task(ban(sqlite, 0))]
        assert await asyncio.to_thread(started.wait, 60)
        tasks += [asyncio.create_task(ban(sqlite, number)) for number in range(1, 60)]
        await asyncio.sleep(0)
        for number in (1, 5, 20, 40):
            tasks[number].cancel()
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert await banned(sqlite) == [number for number in range(60) if number not in {1, 5, 20, 40}]


async def test_who_has_had_little_time_goes_before_those_that_were_to_go_next(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[int] = []

    async def write(lane: str, user_id: int) -> None:
        enter_lane(lambda: lane)
        async with sqlite.transaction() as tx:
            await tx.execute(BAN, guild_id=1, user_id=user_id, reason="x", created_at=1)
            order.append(user_id)

    assert sqlite._writer is not None
    sqlite._writer._lanes.charge("flood", 1.0)
    with slow_commits(sqlite, monkeypatch) as (started, go):
        tasks = [asyncio.create_task(write("flood", 0))]
        assert await asyncio.to_thread(started.wait, 60)
        tasks += [asyncio.create_task(write("flood", number)) for number in range(1, 40)]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(write("alice", number)) for number in (100, 101)]
        tasks += [asyncio.create_task(write("bob", 200))]
        await asyncio.sleep(0)
        tasks[-2].cancel()
        go.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 100, 200, *range(1, 40)]
