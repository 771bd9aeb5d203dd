"""PostgreSQL only: conflicts, broken connections, locks across processes."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from sqlalchemy import Double, bindparam, func, select, text

from moothall.objects.ids import Snowflake
from moothall.runtime.budgets import Payer
from moothall.storage.database import Query, StorageConflict, StorageError, StorageFull, StorageUnavailable
from moothall.storage.postgres.engine import PostgresDatabase
from moothall.storage.postgres.errors import postgres_error
from moothall.storage.schema import guild_counters
from tests.storage.counters import ADD, COUNT_UP, READ, break_connections

LOCK = Query(
    select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id")).with_for_update()
)
BACKEND = Query(select(func.pg_backend_pid()))
SLEEP_AND_COUNT = Query(
    text(
        "SELECT pg_sleep(:seconds), count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep%'"
    ).bindparams(bindparam("seconds", type_=Double))
)
ONE, TWO = Snowflake(1), Snowflake(2)

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.fixture
async def postgres(database_url: str) -> AsyncIterator[PostgresDatabase]:
    opened = PostgresDatabase(database_url, connections=4)
    await opened.open()
    async with opened.transaction() as tx:
        await tx.execute_many(ADD, [{"guild_id": guild, "member_count": 0} for guild in (ONE, TWO)])
    yield opened
    await opened.close()


async def count_up(database: PostgresDatabase) -> None:
    async with database.transaction() as tx:
        await tx.execute(COUNT_UP, guild_id=ONE)


async def test_a_deadlock_is_a_conflict_for_one_of_the_two(postgres: PostgresDatabase) -> None:
    met = asyncio.Barrier(2)

    async def both(first: Snowflake, second: Snowflake) -> None:
        async with postgres.transaction() as tx:
            await tx.execute(COUNT_UP, guild_id=first)
            await met.wait()
            await tx.execute(COUNT_UP, guild_id=second)

    outcomes = await asyncio.gather(both(ONE, TWO), both(TWO, ONE), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType", "StorageConflict"]
    async with postgres.read() as reader:
        assert [await reader.scalar(READ, guild_id=guild) for guild in (ONE, TWO)] == [1, 1]


async def test_a_lock_holds_between_processes(postgres: PostgresDatabase, database_url: str) -> None:
    other = PostgresDatabase(database_url)
    await other.open()
    order: list[str] = []

    async def wait_for_it() -> None:
        async with other.transaction(ONE):
            order.append("second")

    async with postgres.transaction(ONE):
        task = asyncio.create_task(wait_for_it())
        async with other.read() as reader:  # no lock is in a reader's way
            assert await reader.scalar(READ, guild_id=ONE) == 0
        await asyncio.sleep(0.05)
        order.append("first")
    await task
    assert order == ["first", "second"]
    await other.close()


async def test_other_locks_do_not_wait(postgres: PostgresDatabase) -> None:
    async def other() -> None:
        async with postgres.transaction(TWO) as tx:
            await tx.execute(COUNT_UP, guild_id=TWO)

    async with postgres.transaction(ONE):
        await asyncio.wait_for(asyncio.create_task(other()), 30)


async def test_transactions_that_wait_for_a_lock_take_no_connection(postgres: PostgresDatabase) -> None:
    async def wait() -> None:
        async with postgres.transaction(ONE):
            pass

    async with postgres.transaction(ONE):
        tasks = [asyncio.create_task(wait()) for _ in range(20)]
        await asyncio.sleep(0.02)
        async with asyncio.timeout(30), postgres.read() as reader:
            assert await reader.scalar(READ, guild_id=TWO) == 0
        tasks[3].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert postgres.queues._queues == {}


async def test_a_broken_connection_fails_its_request_and_the_pool_recovers(postgres: PostgresDatabase) -> None:
    async def write() -> None:
        async with postgres.transaction(ONE) as tx:
            await tx.execute(COUNT_UP, guild_id=ONE)
            await break_connections(postgres)
            await tx.execute(COUNT_UP, guild_id=ONE)

    with pytest.raises(StorageUnavailable):
        await write()
    async with postgres.transaction(ONE) as tx:
        await tx.execute(COUNT_UP, guild_id=ONE)
    async with postgres.read() as reader:
        assert await reader.scalar(READ, guild_id=ONE) == 1


async def test_a_connection_that_breaks_at_the_commit_acknowledges_nothing(postgres: PostgresDatabase) -> None:
    heard: list[int] = []

    async def write() -> None:
        async with postgres.transaction(ONE) as tx:
            await tx.execute(COUNT_UP, guild_id=ONE)
            tx.on_commit(lambda: heard.append(1))
            await break_connections(postgres)

    with pytest.raises(StorageUnavailable):
        await write()
    assert heard == []
    async with postgres.read() as reader:
        assert await reader.scalar(READ, guild_id=ONE) == 0


async def test_idle_connections_that_broke_are_not_handed_out(postgres: PostgresDatabase) -> None:
    idle = postgres._pool.idle
    await break_connections(postgres)
    async with asyncio.timeout(30):
        while not all(connection.is_closed() for connection in idle):  # noqa: ASYNC110 asyncpg has no event for it
            await asyncio.sleep(0.005)
    async with postgres.read() as reader:
        assert await reader.scalar(READ, guild_id=ONE) == 0


async def test_connections_are_reused_and_carry_nothing_over(postgres: PostgresDatabase) -> None:
    backends = set()
    for _ in range(20):
        async with postgres.transaction(ONE) as tx:
            backends.add(await tx.scalar(BACKEND))
        async with postgres.read() as reader:
            backends.add(await reader.scalar(BACKEND))
    assert len(backends) == 1


async def test_a_transaction_begins_with_its_first_statement_that_writes_or_locks(postgres: PostgresDatabase) -> None:
    async with postgres.transaction() as tx:
        assert await tx.scalar(READ, guild_id=ONE) == 0
        await asyncio.create_task(count_up(postgres))
        assert not await tx.has_written()
        assert await tx.scalar(LOCK, guild_id=ONE) == 1
        assert await tx.has_written()
        assert await tx.execute(COUNT_UP, guild_id=ONE) == 1
        assert await tx.scalar(READ, guild_id=ONE) == 2
        async with postgres.read() as reader:
            assert await reader.scalar(READ, guild_id=ONE) == 1


async def test_a_transaction_that_only_reads_has_no_connection_while_it_waits(postgres: PostgresDatabase) -> None:
    async def read() -> None:
        async with postgres.transaction() as tx:
            assert await tx.scalar(READ, guild_id=ONE) == 0
            await everyone_has_read.wait()

    everyone_has_read = asyncio.Barrier(20)
    async with asyncio.timeout(30):
        await asyncio.gather(*(read() for _ in range(20)))


async def test_a_commit_without_writes_calls_back(postgres: PostgresDatabase) -> None:
    calls: list[int] = []
    async with postgres.transaction() as tx:
        tx.on_commit(lambda: calls.append(1))
    assert calls == [1]


async def test_requests_that_read_the_same_at_the_same_time_share_connections(postgres: PostgresDatabase) -> None:
    async def backend() -> int:
        async with postgres.read() as reader:
            return int(await reader.scalar(BACKEND))

    assert len(set(await asyncio.gather(*(backend() for _ in range(20))))) == 1


async def test_more_requests_than_connections_wait_for_one(postgres: PostgresDatabase) -> None:
    await asyncio.gather(*(count_up(postgres) for _ in range(60)))
    async with postgres.read() as reader:
        assert await reader.scalar(READ, guild_id=ONE) == 60


async def test_long_reads_leave_connections_to_others(database_url: str) -> None:
    database = PostgresDatabase(database_url, connections=16)
    await database.open()
    running: list[int] = []

    async def read_long(seconds: float) -> None:
        async with database.read(Payer(round(seconds * 1_000), "")) as reader:
            (row,) = await reader.all_long(SLEEP_AND_COUNT, seconds=seconds)
            running.append(row[1])

    try:
        tasks = [asyncio.create_task(read_long(0.05 + number / 1_000)) for number in range(6)]
        await asyncio.sleep(0)
        async with asyncio.timeout(30), database.read() as reader:
            assert await reader.scalar(BACKEND)
        await asyncio.gather(*tasks)
    finally:
        await database.close()
    # One of sixteen for eight.
    assert max(running) == 2


async def test_a_server_that_is_not_there_is_unavailable(postgres: PostgresDatabase) -> None:  # noqa: ARG001 skips without a server
    with pytest.raises(StorageUnavailable):
        await PostgresDatabase("postgresql://127.0.0.1:1/nothing").open()


@pytest.mark.usefixtures("database_url")
@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (asyncpg.DiskFullError("no space left on device"), StorageFull),
        (asyncpg.SerializationError("could not serialize access"), StorageConflict),
        (asyncpg.DeadlockDetectedError("deadlock detected"), StorageConflict),
        (asyncpg.LockNotAvailableError("canceling statement due to lock timeout"), StorageConflict),
        (asyncpg.CannotConnectNowError("the database system is starting up"), StorageUnavailable),
        (asyncpg.TooManyConnectionsError("sorry, too many clients already"), StorageUnavailable),
        (asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT in a read-only transaction"), StorageUnavailable),
        (asyncpg.InterfaceError("connection is closed"), StorageUnavailable),
        (ConnectionResetError("reset"), StorageUnavailable),
        (TimeoutError(), StorageUnavailable),
        (asyncpg.UndefinedTableError("no such table"), StorageError),
        (asyncpg.DataError("value out of int64 range"), StorageError),
    ],
)
def test_each_error_of_the_server_has_its_meaning(error: Exception, meaning: type[StorageError]) -> None:
    assert type(postgres_error(error)) is meaning
