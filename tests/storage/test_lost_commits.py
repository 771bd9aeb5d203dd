"""PostgreSQL: a connection that breaks around a COMMIT loses no event, announces nothing that is not stored."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from moothall.objects.ids import Snowflake
from moothall.storage.database import CommitUnknown, StorageUnavailable
from moothall.storage.postgres import outcomes as postgres_outcomes
from moothall.storage.postgres.connection import Deadlines
from moothall.storage.postgres.engine import PostgresDatabase
from tests.storage.counters import ADD, COUNT_UP, READ
from tests.support.postgres_proxy import Fault, PostgresProxy

ONE, TWO = Snowflake(1), Snowflake(2)

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


class Counting:
    """A database behind a proxy, a counter in it, and what was announced of it."""

    def __init__(self, database: PostgresDatabase, proxy: PostgresProxy) -> None:
        self.database = database
        self.proxy = proxy
        self.announced: list[str] = []

    async def count(self, guild_id: Snowflake = ONE) -> int:
        """The counter, as others see it."""
        async with self.database.read() as reader:
            return int(await reader.scalar(READ, guild_id=guild_id))

    async def with_lock(self) -> None:
        """Count up in a transaction with the lock of a guild."""
        async with self.database.transaction(ONE) as tx:
            tx.on_commit(lambda: self.announced.append("with lock"))
            await tx.execute(COUNT_UP, guild_id=ONE)

    async def alone(self) -> None:
        """Count up in a transaction without a lock."""
        async with self.database.transaction() as tx:
            tx.on_commit(lambda: self.announced.append("alone"))
            await tx.execute(COUNT_UP, guild_id=ONE)

    async def at_the_end(self) -> None:
        """Count up in a transaction whose only statement is carried out at its end."""
        async with self.database.transaction() as tx:
            tx.on_commit(lambda: self.announced.append("at the end"))
            await tx.write(COUNT_UP, guild_id=ONE)

    async def twice_at_the_end(self) -> None:
        """Count up by statements that are carried out at the end, in several round trips."""
        async with self.database.transaction() as tx:
            tx.on_commit(lambda: self.announced.append("twice at the end"))
            await tx.write_many(COUNT_UP, [{"guild_id": ONE}, {"guild_id": TWO}])


Way = Callable[[Counting], Coroutine[Any, Any, None]]
WAYS: tuple[Way, ...] = (
    Counting.with_lock,
    Counting.alone,
    Counting.at_the_end,
    Counting.twice_at_the_end,
)
COMMITS: dict[Way, bytes] = {Counting.at_the_end: b""}
"""What the request that commits has in it; else COMMIT."""


@pytest.fixture
async def counting(database_url: str) -> AsyncIterator[Counting]:
    async with PostgresProxy(database_url) as proxy:
        database = PostgresDatabase(proxy.url, connections=1)
        await database.open()
        async with database.transaction() as tx:
            await tx.execute_many(ADD, [{"guild_id": guild, "member_count": 0} for guild in (ONE, TWO)])
        yield Counting(database, proxy)
        await database.close()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_what_was_committed_is_announced_and_answered_though_its_connection_broke(
    counting: Counting, way: Way
) -> None:
    await way(counting)  # its statements are prepared now
    counting.announced.clear()
    counting.proxy.strike(Fault.CUT_AFTER, COMMITS.get(way, b"COMMIT"))
    await way(counting)
    assert counting.proxy.struck.is_set()
    assert len(counting.announced) == 1
    assert await counting.count() == 2


@pytest.mark.parametrize("way", [Counting.with_lock, Counting.alone], ids=lambda way: way.__name__)
async def test_what_was_not_committed_is_not_announced_and_fails(counting: Counting, way: Way) -> None:
    counting.proxy.strike(Fault.CUT_BEFORE, b"COMMIT")
    with pytest.raises(StorageUnavailable):
        await way(counting)
    assert counting.proxy.struck.is_set()
    assert counting.announced == []
    assert await counting.count() == 0


@pytest.mark.parametrize("way", [Counting.at_the_end, Counting.twice_at_the_end], ids=lambda way: way.__name__)
async def test_writes_at_the_end_that_certainly_were_not_committed_are_carried_out_once_more(
    counting: Counting, way: Way
) -> None:
    await way(counting)
    counting.announced.clear()
    counting.proxy.strike(Fault.CUT_BEFORE, COMMITS.get(way, b"COMMIT"))
    await way(counting)
    assert counting.proxy.struck.is_set()
    assert len(counting.announced) == 1
    assert await counting.count() == 2


async def test_all_that_share_a_commit_share_its_outcome(counting: Counting) -> None:
    counting.proxy.strike(Fault.CUT_AFTER, b"COMMIT")
    await asyncio.gather(*(counting.with_lock() for _ in range(5)))
    assert len(counting.announced) == 5
    assert await counting.count() == 5


async def test_an_outcome_that_is_known_late_is_announced_late_and_sessions_identify_anew(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_outcomes, "_PATIENCE", 0.1)
    announced_late = asyncio.Event()
    counting.database.on_late_commit.append(announced_late.set)
    counting.proxy.strike(Fault.CUT_AFTER, b"COMMIT")
    counting.proxy.refuses = True
    with pytest.raises(CommitUnknown):
        await counting.with_lock()
    assert counting.announced == []
    counting.proxy.refuses = False
    async with asyncio.timeout(30):
        await announced_late.wait()
    assert counting.announced == ["with lock"]
    assert await counting.count() == 1


async def test_a_silent_commit_is_given_up_and_its_outcome_found_out(database_url: str) -> None:
    async with PostgresProxy(database_url) as proxy:
        database = PostgresDatabase(proxy.url, connections=1, deadlines=Deadlines(statement=0.5))
        await database.open()
        async with database.transaction() as tx:
            await tx.execute(ADD, guild_id=ONE, member_count=0)
        counting = Counting(database, proxy)
        proxy.strike(Fault.SILENCE_AFTER, b"COMMIT")
        await counting.with_lock()
        assert counting.announced == ["with lock"]
        proxy.strike(Fault.SILENCE, b"COMMIT")
        with pytest.raises(StorageUnavailable):
            await counting.with_lock()
        assert counting.announced == ["with lock"]
        assert await counting.count() == 1
        await database.close()
