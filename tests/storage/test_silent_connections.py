"""PostgreSQL: a connection that says nothing any more is given up, and the others go on."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moothall.objects.ids import Snowflake
from moothall.storage.database import StorageUnavailable
from moothall.storage.postgres import connection as postgres_connection
from moothall.storage.postgres.connection import Deadlines
from moothall.storage.postgres.engine import PostgresDatabase
from tests.storage.counters import ADD, COUNT_UP, READ, break_connections
from tests.support.postgres_proxy import Fault, PostgresProxy

ONE, TWO = Snowflake(1), Snowflake(2)
SHORT = Deadlines(statement=1.0, long_read=1.0, acquire=1.0, connect=1.0)
LONG = Deadlines(statement=600.0, long_read=600.0, acquire=600.0, connect=600.0)

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[PostgresProxy]:
    database = PostgresDatabase(database_url)
    await database.open()
    async with database.transaction() as tx:
        await tx.execute_many(ADD, [{"guild_id": guild, "member_count": 0} for guild in (ONE, TWO)])
    await database.close()
    async with PostgresProxy(database_url) as opened:
        yield opened


async def opened(url: str, deadlines: Deadlines, connections: int = 4) -> PostgresDatabase:
    database = PostgresDatabase(url, connections=connections, deadlines=deadlines)
    await database.open()
    return database


async def count_up_later(database: PostgresDatabase, guild_id: Snowflake) -> None:
    async with database.transaction() as tx:
        await tx.write(COUNT_UP, guild_id=guild_id)


async def count_up(database: PostgresDatabase, guild_id: Snowflake) -> None:
    async with database.transaction(guild_id) as tx:
        await tx.execute(COUNT_UP, guild_id=guild_id)


async def count(database: PostgresDatabase, guild_id: Snowflake) -> int:
    async with database.read() as reader:
        return int(await reader.scalar(READ, guild_id=guild_id))


async def test_a_silent_read_ends_in_time_and_the_next_one_is_answered(proxy: PostgresProxy) -> None:
    database = await opened(proxy.url, SHORT)
    proxy.strike(Fault.SILENCE)
    async with asyncio.timeout(30):
        with pytest.raises(StorageUnavailable):
            await count(database, ONE)
        assert await count(database, ONE) == 0
    await database.close()


async def test_a_group_commit_on_a_silent_connection_keeps_no_later_one_waiting(proxy: PostgresProxy) -> None:
    # It gives the silent connection up only after ten minutes: so the second one has not waited for that.
    database = await opened(proxy.url, LONG)
    proxy.strike(Fault.SILENCE)
    first = asyncio.create_task(count_up_later(database, ONE))
    await proxy.struck.wait()
    await asyncio.sleep(0.6)
    async with asyncio.timeout(60):
        await count_up_later(database, TWO)
    assert not first.done()
    assert await count(database, TWO) == 1
    await break_connections(database)
    async with asyncio.timeout(60):
        await asyncio.gather(first, return_exceptions=True)
    await database.close()


@pytest.mark.parametrize("way", [count_up, count_up_later])
async def test_a_transaction_on_a_silent_connection_fails_in_time(proxy: PostgresProxy, way: object) -> None:
    assert callable(way)
    database = await opened(proxy.url, SHORT)
    proxy.strike(Fault.SILENCE)
    async with asyncio.timeout(30):
        with pytest.raises(StorageUnavailable):
            await way(database, ONE)
        await way(database, ONE)
    assert await count(database, ONE) == 1
    await database.close()


async def test_a_network_without_answers_fails_everything_in_time(proxy: PostgresProxy) -> None:
    database = await opened(proxy.url, SHORT)
    proxy.is_silent = True
    works = [count(database, ONE), count_up(database, ONE), count_up_later(database, TWO), count(database, TWO)]
    async with asyncio.timeout(60):
        outcomes = await asyncio.gather(*works, return_exceptions=True)
    assert all(isinstance(outcome, StorageUnavailable) for outcome in outcomes)
    async with asyncio.timeout(60):
        await database.close()


async def test_a_process_that_stops_with_a_lock_loses_it(
    proxy: PostgresProxy, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "_IDLE_SECONDS", 0.5)
    stopped = await opened(proxy.url, LONG)
    other = await opened(database_url, Deadlines())

    async def work() -> None:
        async with stopped.transaction(ONE) as tx:
            await tx.execute(COUNT_UP, guild_id=ONE)
            # From here on PostgreSQL hears nothing of it, as of a process that has got SIGSTOP.
            proxy.is_silent = True
            await has_lock.wait()
            await tx.execute(COUNT_UP, guild_id=ONE)

    has_lock = asyncio.Event()
    task = asyncio.create_task(work())
    while not proxy.is_silent:  # noqa: ASYNC110 it is a flag
        await asyncio.sleep(0.01)
    async with asyncio.timeout(60):
        await count_up(other, ONE)
    assert await count(other, ONE) == 1
    proxy.is_silent = False
    proxy.cut_all()
    has_lock.set()
    async with asyncio.timeout(60):
        with pytest.raises(StorageUnavailable):
            await task
    await stopped.close()
    await other.close()


@pytest.mark.parametrize("way", [count, count_up, count_up_later])
async def test_connections_that_ended_while_they_were_idle_fail_no_request(proxy: PostgresProxy, way: object) -> None:
    assert callable(way)
    database = await opened(proxy.url, Deadlines())
    await asyncio.gather(*(count_up(database, guild_id) for guild_id in (ONE, TWO)))
    stale = database._pool.idle
    assert len(stale) == 2
    # The request is the first to notice.
    proxy.strike(Fault.CUT_BEFORE)
    async with asyncio.timeout(60):
        await way(database, ONE)
    assert await count(database, ONE) == (1 if way is count else 2)
    assert not set(stale) & set(database._pool.idle)
    await database.close()
