"""PostgreSQL: transactions that wait for the same lock are committed together, and fail apart."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from sqlalchemy import bindparam, func, select, text

from moothall.objects.ids import Snowflake
from moothall.storage.database import ConstraintFailed, Query, StorageUnavailable
from moothall.storage.postgres.engine import PostgresDatabase, PostgresTransaction
from moothall.storage.postgres.shared_transaction import _MAX_TOGETHER
from tests.storage.counters import ADD, COUNT_UP, READ, break_connections

SLEEP = Query(select(func.pg_sleep(bindparam("seconds"))))
BREAK = Query(text("SELECT pg_terminate_backend(pg_backend_pid())"))
LOCK, OTHER_LOCK = Snowflake(1), Snowflake(2)

pytestmark = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)

Work = Callable[[PostgresTransaction], Awaitable[object]]


class Refused(Exception):
    """What a transaction raises that fails by itself."""


class Guild:
    """A lock, a counter of what was committed, and the transactions that run with the lock."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.database = database
        self.commits: list[int] = []
        """How many transactions each commit had."""
        self.announced: list[object] = []
        """Names of transactions, in the order in which their callbacks ran."""
        database.observe_commit = lambda number, _seconds: self.commits.append(number)

    async def count_up(self, name: object, work: Work | None = None) -> None:
        """Count up in a transaction with the lock, then do more in it."""
        async with self.database.transaction(LOCK) as tx:
            tx.on_commit(lambda: self.announced.append(name))
            await tx.execute(COUNT_UP, guild_id=LOCK)
            if work is not None:
                await work(tx)

    async def count(self) -> int:
        """The counter, as others see it."""
        async with self.database.read() as reader:
            return int(await reader.scalar(READ, guild_id=LOCK))

    async def start(self, *works: Work | None) -> list[asyncio.Task[None]]:
        """Start transactions that all wait for the lock while the first one has it."""

        async def first(tx: PostgresTransaction) -> None:
            has_lock.set()
            await all_wait.wait()
            if works[0] is not None:
                await works[0](tx)

        has_lock, all_wait = asyncio.Event(), asyncio.Event()
        tasks = [asyncio.create_task(self.count_up(0, first))]
        await has_lock.wait()
        for number, work in enumerate(works[1:], 1):
            tasks.append(asyncio.create_task(self.count_up(number, work)))
            await asyncio.sleep(0)
        all_wait.set()
        return tasks

    async def together(self, *works: Work | None) -> list[object]:
        """The same, until all have ended; what each of them raised, or None."""
        async with asyncio.timeout(30):
            return list(await asyncio.gather(*await self.start(*works), return_exceptions=True))


@pytest.fixture
async def guild(database_url: str) -> AsyncIterator[Guild]:
    opened = PostgresDatabase(database_url, connections=4)
    await opened.open()
    async with opened.transaction() as tx:
        await tx.execute(ADD, guild_id=LOCK, member_count=0)
    yield Guild(opened)
    assert opened.queues._queues == {}
    async with asyncio.timeout(30):
        await opened.close()


async def refuse(_tx: PostgresTransaction) -> None:
    raise Refused


async def violate(tx: PostgresTransaction) -> None:
    await tx.execute(ADD, guild_id=LOCK, member_count=0)


async def test_those_that_wait_are_committed_together_and_called_back_in_order(guild: Guild) -> None:
    assert await guild.together(None, None, None, None) == [None] * 4
    assert guild.commits == [4]
    assert guild.announced == [0, 1, 2, 3]
    assert await guild.count() == 4


async def test_one_alone_is_committed_at_once(guild: Guild) -> None:
    await guild.count_up("one")
    await guild.count_up("two")
    assert guild.commits == [1, 1]


async def test_nothing_is_visible_or_called_back_before_the_commit(guild: Guild) -> None:
    seen: list[tuple[int, list[object]]] = []

    async def look(_tx: PostgresTransaction) -> None:
        await asyncio.sleep(0.02)
        seen.append((await guild.count(), list(guild.announced)))

    assert await guild.together(None, look, look) == [None] * 3
    assert seen == [(0, []), (0, [])]
    assert await guild.count() == 3


async def test_each_sees_what_those_before_it_have_written(guild: Guild) -> None:
    seen: list[object] = []

    async def look(tx: PostgresTransaction) -> None:
        seen.append(await tx.scalar(READ, guild_id=LOCK))

    await guild.together(look, look, look)
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("failing", [refuse, violate], ids=["by itself", "by a statement"])
@pytest.mark.parametrize("position", [0, 1, 3])
async def test_one_that_fails_leaves_the_others(guild: Guild, failing: Work, position: int) -> None:
    works: list[Work | None] = [None] * 4
    works[position] = failing
    outcomes = await guild.together(*works)
    assert isinstance(outcomes.pop(position), Refused | ConstraintFailed)
    assert outcomes == [None] * 3
    assert await guild.count() == 3
    assert position not in guild.announced
    assert len(guild.announced) == 3
    assert guild.commits == [3]


async def test_several_that_fail_one_after_another_leave_the_others(guild: Guild) -> None:
    outcomes = await guild.together(None, refuse, violate, None, refuse)
    assert [type(outcome) for outcome in outcomes] == [type(None), Refused, ConstraintFailed, type(None), Refused]
    assert await guild.count() == 2


async def test_those_that_ran_are_committed_although_those_that_wait_are_cancelled(guild: Guild) -> None:
    async def cancel_the_others(_tx: PostgresTransaction) -> None:
        for task in tasks[2:]:
            task.cancel()

    tasks = await guild.start(None, cancel_the_others, None, None)
    async with asyncio.timeout(30):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert guild.announced == [0, 1]
    assert guild.commits == [2]
    assert await guild.count() == 2


async def test_a_statement_that_is_cancelled_undoes_its_transaction_alone(guild: Guild) -> None:
    async def long(tx: PostgresTransaction) -> None:
        started.set()
        await tx.scalar(SLEEP, seconds=30)

    started = asyncio.Event()
    tasks = await guild.start(None, long, None)
    await started.wait()
    tasks[1].cancel()
    async with asyncio.timeout(20):
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), asyncio.CancelledError, type(None)]
    assert await guild.count() == 2
    assert guild.announced == [0, 2]


async def test_one_that_is_cancelled_while_it_waits_for_the_commit_is_committed(guild: Guild) -> None:
    async def cancel_the_one_before(_tx: PostgresTransaction) -> None:
        tasks[1].cancel()
        await asyncio.sleep(0.01)

    tasks = await guild.start(None, None, cancel_the_one_before)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), asyncio.CancelledError, type(None)]
    assert guild.announced == [0, 1, 2]
    assert await guild.count() == 3


async def test_a_connection_that_breaks_acknowledges_none_of_those_that_ran_on_it(guild: Guild) -> None:
    async def break_it(tx: PostgresTransaction) -> None:
        await tx.scalar(BREAK)

    outcomes = await guild.together(None, None, break_it, None)
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 3 + [type(None)]
    # The last one has started anew.
    assert guild.announced == [3]
    assert await guild.count() == 1


async def test_a_connection_that_breaks_before_the_commit_acknowledges_none(guild: Guild) -> None:
    async def break_from_outside(_tx: PostgresTransaction) -> None:
        await break_connections(guild.database)

    outcomes = await guild.together(None, None, break_from_outside)
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 3
    assert guild.announced == []
    assert await guild.count() == 0
    await guild.count_up("next")
    assert await guild.count() == 1


async def test_so_many_at_the_most_share_a_commit(guild: Guild) -> None:
    number = 2 * _MAX_TOGETHER + 5
    assert await guild.together(*[None] * number) == [None] * number
    assert max(guild.commits) == _MAX_TOGETHER
    assert sum(guild.commits) == number
    assert guild.announced == list(range(number))
    assert await guild.count() == number


async def test_another_process_waits_until_all_are_committed(guild: Guild, database_url: str) -> None:
    other = PostgresDatabase(database_url)
    await other.open()
    seen: list[object] = []

    async def look_from_there() -> None:
        async with other.transaction(LOCK) as tx:
            seen.append(await tx.scalar(READ, guild_id=LOCK))

    async def let_it_ask(_tx: PostgresTransaction) -> None:
        looking.append(asyncio.create_task(look_from_there()))
        await asyncio.sleep(0.05)

    looking: list[asyncio.Task[None]] = []
    await guild.together(let_it_ask, None, None)
    await asyncio.gather(*looking)
    assert seen == [3]
    await other.close()


async def test_other_locks_do_not_wait_for_them(guild: Guild) -> None:
    async def other(_tx: PostgresTransaction) -> None:
        async def work() -> None:
            async with guild.database.transaction(OTHER_LOCK) as tx:
                await tx.execute(ADD, guild_id=OTHER_LOCK, member_count=0)

        async with asyncio.timeout(30):
            await asyncio.create_task(work())

    assert await guild.together(None, other, None) == [None] * 3
