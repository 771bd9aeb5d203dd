"""Reads by key on PostgreSQL: those that meet are one statement, and each gets its own rows."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import bindparam, insert, select

from moothall.objects.ids import GuildId, Snowflake
from moothall.storage.database import Database, Query, StorageError, StorageUnavailable
from moothall.storage.postgres import batched_reads
from moothall.storage.postgres.batched_reads import BatchedReads
from moothall.storage.postgres.engine import PostgresDatabase
from moothall.storage.schema import bans, guild_counters
from moothall.storage.statements.placeholders import for_keys

FOR_KEYS = "the same for many keys"
TEXT = "SELECT name FROM rows WHERE a = $1::BIGINT"
ADD = Query(insert(bans))
OF_GUILD = bans.c.guild_id == bindparam("guild_id")
REASON = Query(
    select(bans.c.reason).where(OF_GUILD, bans.c.user_id == bindparam("user_id")), key=("guild_id", "user_id")
)
WHOLE = Query(select(bans).where(OF_GUILD, bans.c.user_id == bindparam("user_id")), key=("guild_id", "user_id"))
ALL = Query(select(bans.c.user_id).where(OF_GUILD).order_by(bans.c.user_id), key=("guild_id",))
TWICE = Query(
    select(bans.c.user_id, guild_counters.c.guild_id, bans.c.guild_id)
    .select_from(bans.outerjoin(guild_counters, guild_counters.c.guild_id == bindparam("guild_id")))
    .where(OF_GUILD, bans.c.user_id == bindparam("user_id")),
    key=("guild_id", "user_id"),
)
ONE, TWO, THREE = (GuildId(Snowflake(number)) for number in (1, 2, 3))


class Rows:
    """Answers statements when it is let, each with the number of the statement and what it has requested."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, Sequence[Any]]] = []
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None

    async def fetch(self, statement: str, arguments: Sequence[Any]) -> list[Any]:
        self.statements.append((statement, arguments))
        number = len(self.statements)
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        if statement == TEXT:
            return [(number, arguments[0])]
        return [(number, key, index) for index, key in enumerate(arguments[0], 1)]


async def start(reads: BatchedReads, *keys: int) -> list["asyncio.Task[Any]"]:
    tasks = [asyncio.create_task(reads.read(TEXT, FOR_KEYS, (key,))) for key in keys]
    await asyncio.sleep(0)
    return tasks


async def test_one_alone_is_read_at_once_and_those_that_come_meanwhile_together() -> None:
    rows = Rows()
    tasks = await start(BatchedReads(rows.fetch), 5, 6, 7, 6)
    assert rows.statements == [(TEXT, (5,))]
    rows.may_answer.set()
    assert [[list(row) for row in await task] for task in tasks] == [[[1, 5]], [[2, 6]], [[2, 7]], [[2, 6]]]
    assert [arguments for _, arguments in rows.statements] == [(5,), [[6, 7]]]


async def test_no_read_gets_the_rows_of_a_statement_that_began_before_it() -> None:
    rows = Rows()
    reads = BatchedReads(rows.fetch)
    tasks = await start(reads, 5)
    tasks += await start(reads, 5)
    rows.may_answer.set()
    assert [await task for task in tasks] == [[(1, 5)], [(2, 5)]]


async def test_other_statements_do_not_wait() -> None:
    rows = Rows()
    reads = BatchedReads(rows.fetch)
    tasks = await start(reads, 5)
    tasks.append(asyncio.create_task(reads.read("SELECT 1 WHERE $1::BIGINT = 1", "", (1,))))
    await asyncio.sleep(0)
    assert len(rows.statements) == 2
    for task in tasks:
        task.cancel()


async def test_a_failure_is_raised_by_all_of_its_statement_and_no_others() -> None:
    rows = Rows()
    reads = BatchedReads(rows.fetch)
    tasks = await start(reads, 5, 6, 7)
    rows.error = StorageUnavailable("no")
    rows.may_answer.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 3
    rows.error = None
    assert await reads.read(TEXT, FOR_KEYS, (8,)) == [(3, 8)]


async def test_one_that_is_cancelled_takes_the_rows_from_no_other() -> None:
    rows = Rows()
    tasks = await start(BatchedReads(rows.fetch), 5, 6, 7)
    for task in tasks[:2]:
        task.cancel()
    rows.may_answer.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[:2]] == [asyncio.CancelledError] * 2
    assert outcomes[2] == [(2, 7)]


async def test_a_statement_that_hangs_keeps_later_ones_waiting_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(batched_reads, "stopwatch", lambda: now[0])
    rows = Rows()
    reads = BatchedReads(rows.fetch)
    hanging = await start(reads, 5)
    waiting = await start(reads, 6)
    rows.may_answer, hangs = asyncio.Event(), rows.may_answer
    rows.may_answer.set()
    now[0] = 1.0
    waiting += await start(reads, 7)
    assert [await task for task in waiting] == [[[2, 6]], [[2, 7]]]
    # The one that hangs is not the one that others wait for any more.
    assert await reads.read(TEXT, FOR_KEYS, (8,)) == [(3, 8)]
    hangs.set()
    assert [await task for task in hanging] == [[(1, 5)]]
    assert await reads.read(TEXT, FOR_KEYS, (9,)) == [(4, 9)]


async def test_more_than_one_statement_takes_are_read_by_the_one_after_it() -> None:
    rows = Rows()
    tasks = await start(BatchedReads(rows.fetch), *range(250))
    rows.may_answer.set()
    assert [(await task)[0][1] for task in tasks] == list(range(250))
    assert [1 if index == 0 else len(arguments[0]) for index, (_, arguments) in enumerate(rows.statements)] == [
        1,
        100,
        100,
        49,
    ]


def test_a_statement_for_many_keys_is_made_of_that_for_one() -> None:
    assert for_keys("SELECT a FROM t WHERE b = $1::BIGINT AND c = $2::VARCHAR AND d > $1::BIGINT") == (
        "SELECT one.*, key.number FROM unnest($1::BIGINT[], $2::VARCHAR[]) WITH ORDINALITY AS key (p1, p2, number),"
        " LATERAL (SELECT a FROM t WHERE b = key.p1 AND c = key.p2 AND d > key.p1) AS one"
    )


@pytest.mark.parametrize("statement", ["SELECT 1", "SELECT a FROM t WHERE b = $1", "SELECT $1::BIGINT + $2"])
def test_a_parameter_without_a_type_is_refused(statement: str) -> None:
    with pytest.raises(ValueError, match="has no type"):
        for_keys(statement)


async def test_each_reads_its_own_rows(database: Database) -> None:
    async with database.transaction() as tx:
        for guild_id, user_id in ((ONE, 7), (ONE, 8), (TWO, 7), (TWO, 9)):
            await tx.execute(ADD, guild_id=guild_id, user_id=user_id, reason=f"{guild_id} {user_id}", created_at=1)
    keys = [(guild_id, user_id) for guild_id in (ONE, TWO, THREE) for user_id in (7, 8, 9)] * 3
    async with database.read() as reader:

        async def read_whole(guild_id: int, user_id: int) -> object:
            return await reader.one(WHOLE, guild_id=guild_id, user_id=user_id)

        reasons = await asyncio.gather(*(reader.scalar(REASON, guild_id=g, user_id=u) for g, u in keys))
        whole = await asyncio.gather(*(read_whole(g, u) for g, u in keys))
        twice = await asyncio.gather(*(reader.all(TWICE, guild_id=g, user_id=u) for g, u in keys))
        lists = await asyncio.gather(*(reader.all(ALL, guild_id=g) for g in (ONE, TWO, THREE, ONE)))
    banned = {(ONE, 7), (ONE, 8), (TWO, 7), (TWO, 9)}
    assert reasons == [f"{g} {u}" if (g, u) in banned else None for g, u in keys]
    assert whole == [(g, u, f"{g} {u}", 1) if (g, u) in banned else None for g, u in keys]
    assert twice == [[(u, None, g)] if (g, u) in banned else [] for g, u in keys]
    assert lists == [[(7,), (8,)], [(7,), (9,)], [], [(7,), (8,)]]


async def test_a_key_that_cannot_be_read_fails_alone(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(ADD, guild_id=ONE, user_id=7, reason="x", created_at=1)
    keys = [7, 7, 1 << 70, 8, 7]
    async with database.read() as reader:
        reads = (reader.scalar(REASON, guild_id=ONE, user_id=key) for key in keys)
        outcomes = await asyncio.gather(*reads, return_exceptions=True)
    assert isinstance(outcomes.pop(2), StorageError)
    assert outcomes == ["x", "x", None, "x"]


async def test_a_transaction_reads_what_it_has_written(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(ADD, guild_id=ONE, user_id=7, reason="x", created_at=1)
        assert await tx.scalar(REASON, guild_id=ONE, user_id=7) == "x"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_those_who_meet_need_one_connection(database_url: str) -> None:
    database = PostgresDatabase(database_url, connections=4)
    await database.open()
    try:
        async with database.read() as reader:
            await asyncio.gather(*(reader.scalar(REASON, guild_id=ONE, user_id=number) for number in range(50)))
        assert len(database._pool.idle) == 1
    finally:
        await database.close()
