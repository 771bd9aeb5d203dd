"""Statements that may be run later (`write`), on both engines; what PostgreSQL makes of them."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import bindparam, delete, func, insert, select, update

from moothall.objects.ids import GuildId, Snowflake
from moothall.storage.database import ConstraintFailed, Database, Query, insert_ignore
from moothall.storage.postgres.engine import PostgresDatabase
from moothall.storage.postgres.group_commit import DeferredWrite, as_one_statement
from moothall.storage.schema import bans, guild_counters

BAN = Query(insert(bans))
BANNED = Query(select(bans.c.user_id).order_by(bans.c.user_id))
ADD_COUNTER = Query(insert(guild_counters))
COUNT_UP = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=guild_counters.c.member_count + 1),
    key=("guild_id",),
)
READ_COUNTER = Query(select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id")))
GUILD = GuildId(Snowflake(1))

only_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


async def add_counter(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(ADD_COUNTER, guild_id=GUILD, member_count=0)


async def ban(database: Database, user_id: int) -> None:
    """Ban a user and count it, both later."""
    async with database.transaction() as tx:
        await tx.write(BAN, guild_id=GUILD, user_id=user_id, reason="x", created_at=1)
        await tx.write(COUNT_UP, guild_id=GUILD)


async def state(database: Database) -> tuple[list[int], int]:
    async with database.read() as reader:
        banned = [user_id for (user_id,) in await reader.all(BANNED)]
        return banned, await reader.scalar(READ_COUNTER, guild_id=GUILD)


@contextmanager
def commits(database: Database) -> Iterator[list[int]]:
    """The numbers of transactions of the commits in the block."""
    numbers: list[int] = []
    database.observe_commit = lambda number, _seconds: numbers.append(number)
    yield numbers
    database.observe_commit = None


async def test_it_is_durable_once_the_transaction_is_left(database: Database) -> None:
    await add_counter(database)
    await ban(database, 2)
    assert await state(database) == ([2], 1)


async def test_transactions_that_end_at_the_same_time_are_all_carried_out(database: Database) -> None:
    await add_counter(database)
    with commits(database) as numbers:
        await asyncio.gather(*(ban(database, user_id) for user_id in range(100, 200)))
    assert await state(database) == (list(range(100, 200)), 100)
    assert sum(numbers) == 100
    assert len(numbers) < 20


async def test_several_rows_are_written_whole_with_those_of_others(database: Database) -> None:
    async def ban_several(first: int) -> None:
        async with database.transaction() as tx:
            rows = [{"guild_id": GUILD, "user_id": first + n, "reason": "x", "created_at": 1} for n in range(3)]
            await tx.write_many(BAN, rows)
            await tx.write(COUNT_UP, guild_id=GUILD)

    await add_counter(database)
    await ban_several(3)
    with commits(database) as numbers:
        outcomes = await asyncio.gather(*(ban_several(10 * n) for n in range(10)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None)] * 10
    assert sum(numbers) == 10
    assert len(numbers) < 5
    assert await state(database) == (sorted([3, 4, 5, *(10 * n + m for n in range(10) for m in range(3))]), 11)


async def test_of_several_rows_one_that_fails_fails_all(database: Database) -> None:
    async def ban_several(*user_ids: int) -> None:
        async with database.transaction() as tx:
            rows = [{"guild_id": GUILD, "user_id": user_id, "reason": "x", "created_at": 1} for user_id in user_ids]
            await tx.write_many(BAN, rows)

    await add_counter(database)
    await ban(database, 5)
    outcomes = await asyncio.gather(ban_several(2, 3), ban_several(4, 5, 6), ban_several(7), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), ConstraintFailed, type(None)]
    assert (await state(database))[0] == [2, 3, 5, 7]


async def test_the_transaction_itself_sees_what_it_wrote(database: Database) -> None:
    await add_counter(database)
    async with database.transaction() as tx:
        await tx.write(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
        await tx.write(COUNT_UP, guild_id=GUILD)
        assert await tx.all(BANNED) == [(2,)]
        assert await tx.execute(COUNT_UP, guild_id=GUILD) == 1
        await tx.write(BAN, guild_id=GUILD, user_id=3, reason="x", created_at=1)
        assert (await state(database))[1] == 0
    assert await state(database) == ([2, 3], 2)


async def test_it_leaves_no_trace_if_the_body_raises(database: Database) -> None:
    async def raise_after_writing() -> None:
        async with database.transaction() as tx:
            await tx.write(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
            raise KeyError

    await add_counter(database)
    with pytest.raises(KeyError):
        await raise_after_writing()
    assert await state(database) == ([], 0)


async def test_one_that_fails_fails_alone_and_whole(database: Database) -> None:
    await add_counter(database)
    await ban(database, 150)
    outcomes = await asyncio.gather(*(ban(database, user_id) for user_id in range(100, 200)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [ConstraintFailed]
    assert await state(database) == (list(range(100, 200)), 100)


async def test_callbacks_come_before_the_answer_and_not_without_a_commit(database: Database) -> None:
    order: list[str] = []

    async def write(user_id: int) -> None:
        async with database.transaction() as tx:
            await tx.write(BAN, guild_id=GUILD, user_id=user_id, reason="x", created_at=1)
            tx.on_commit(lambda: order.append(f"commit {user_id}"))
        order.append(f"answer {user_id}")

    await asyncio.gather(write(2), write(3), write(2), return_exceptions=True)
    assert sorted(order) == ["answer 2", "answer 3", "commit 2", "commit 3"]
    assert all(order.index(f"commit {user_id}") < order.index(f"answer {user_id}") for user_id in (2, 3))


async def test_a_task_that_is_cancelled_while_it_commits_has_written_whole(database: Database) -> None:
    await add_counter(database)
    tasks = [asyncio.create_task(ban(database, user_id)) for user_id in range(100, 110)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    banned, count = await state(database)
    assert len(banned) == count
    assert {101, 103, 105, 107, 109} <= set(banned)


@only_postgresql
async def test_a_statement_about_another_table_takes_those_before_it_along(database: Database) -> None:
    await add_counter(database)
    async with database.transaction(GUILD) as tx:
        await tx.write(BAN, guild_id=GUILD, user_id=2, reason="x", created_at=1)
        assert await tx.execute(COUNT_UP, guild_id=GUILD) == 1
        assert await tx.all(BANNED) == [(2,)]
        await tx.write(BAN, guild_id=GUILD, user_id=3, reason="x", created_at=1)
        assert await tx.execute(COUNT_UP, guild_id=Snowflake(2)) == 0
        assert await tx.all(BANNED) == [(2,), (3,)]
    assert await state(database) == ([2, 3], 1)


@only_postgresql
async def test_a_row_that_another_process_locks_keeps_the_others_waiting_for_a_moment(database: Database) -> None:
    assert isinstance(database, PostgresDatabase)
    await add_counter(database)
    other = await asyncpg.connect(database._url)
    async with other.transaction():
        await other.execute("UPDATE guild_counters SET member_count = 10")
        waiting = asyncio.create_task(ban(database, 2))
        await asyncio.sleep(0.05)
    await asyncio.wait_for(waiting, 30)
    await other.close()
    assert await state(database) == ([2], 11)


def test_writes_of_several_tables_are_one_statement() -> None:
    writes = [
        DeferredWrite("first", "INSERT INTO first VALUES ($1, $2)", (1, 2), ()),
        DeferredWrite("second", "UPDATE second SET a = $2 WHERE b = $1 + $2", (3, 4), ()),
        DeferredWrite("third", "DELETE FROM third WHERE a = $1", (5,), ()),
    ]
    text = (
        "WITH write0 AS (DELETE FROM third WHERE a = $5), write1 AS (UPDATE second SET a = $4 WHERE b = $3 + $4)"
        " INSERT INTO first VALUES ($1, $2)"
    )
    assert as_one_statement(writes) == (text, (1, 2, 3, 4, 5))


def test_writes_of_one_table_are_not_one_statement() -> None:
    write = DeferredWrite("first", "UPDATE first SET a = a + 1", (), ())
    assert as_one_statement([write, write]) is None
    assert as_one_statement([write]) == (write.text, ())


SET_REASON = Query(
    update(bans)
    .where(bans.c.guild_id == GUILD, bans.c.user_id == bindparam("user_id"))
    .values(reason=bindparam("new")),
    key=("user_id",),
)
LENGTHEN = Query(
    update(bans)
    .where(bans.c.guild_id == GUILD, bans.c.user_id == bindparam("user_id"))
    .values(reason=bans.c.reason + bindparam("more")),
    key=("user_id",),
)
UNBAN = Query(delete(bans).where(bans.c.guild_id == GUILD, bans.c.user_id == bindparam("user_id")), key=("user_id",))
COUNT_BANS = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=select(func.count()).select_from(bans).scalar_subquery()),
    key=("guild_id",),
)
ALL = Query(select(bans.c.user_id, bans.c.reason).order_by(bans.c.user_id))
WRITES: dict[str, tuple[Query[Any], dict[str, Any]]] = {
    "ban": (
        Query(insert_ignore(bans, key=("guild_id", "user_id"))),
        {"guild_id": GUILD, "reason": "a", "created_at": 1},
    ),
    "set": (SET_REASON, {"new": "b"}),
    "lengthen": (LENGTHEN, {"more": "c"}),
    "unban": (UNBAN, {}),
}


async def _carry_out(database: Database, name: str, steps: Sequence[tuple[str, int]]) -> object:
    """The rows after some statements, each carried out by the method of a transaction."""
    async with database.transaction() as tx:
        await tx.execute(Query(delete(bans)))
        await tx.execute(Query(delete(guild_counters)))
        await tx.execute(ADD_COUNTER, guild_id=GUILD, member_count=0)
    async with database.transaction() as tx:
        run = getattr(tx, name)
        for step, user_id in steps:
            if step == "count":
                await run(COUNT_BANS, guild_id=GUILD)
            elif step == "count up":
                await run(COUNT_UP, guild_id=GUILD)
            else:
                query, values = WRITES[step]
                await run(query, user_id=user_id, **values)
    async with database.read() as reader:
        return await reader.all(ALL), await reader.scalar(READ_COUNTER, guild_id=GUILD)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from([*WRITES, "count", "count up"]), st.integers(2, 4)), max_size=8))
async def test_statements_that_may_run_later_change_what_they_would_at_once(
    database: Database, steps: Sequence[tuple[str, int]]
) -> None:
    assert await _carry_out(database, "write", steps) == await _carry_out(database, "execute", steps)
