"""The log of operators: the database keeps it, and `verify` finds what was changed nevertheless."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text as sql

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.resources.operator_log.chain import LogBroken, VerifiedLog, verify
from moothall.resources.operator_log.operations import record_act
from moothall.storage.database import Database, Query
from moothall.storage.sqlite.engine import SqliteDatabase
from tests.support.harness import Platform
from tests.support.operators import log_rows


async def record(platform: Platform, act: str, **changes: Any) -> None:
    async def work(ctx: Context) -> None:
        await record_act(ctx, act, changes=changes)

    await unit_of_work.run(platform.services, ANONYMOUS, work, fires=(), reason="why")


async def execute(database: Database, text: str) -> None:
    async with database.transaction() as tx:
        await tx.execute(Query(sql(text)))


async def verified(platform: Platform, *known: tuple[int, str]) -> VerifiedLog:
    async with platform.database.read() as reader:
        return await verify(reader, known)


async def test_rows_are_neither_changed_nor_deleted(platform: Platform) -> None:
    await record(platform, "user.suspend", state=("active", "suspended"))
    for statement in (
        "UPDATE operator_log SET actor = 'mallory'",
        "UPDATE operator_log SET reason = NULL WHERE number = 1",
        "DELETE FROM operator_log",
    ):
        with pytest.raises(Exception, match="neither changed nor deleted"):
            await execute(platform.database, statement)
    (row,) = await log_rows(platform)
    assert (row.act, row.reason, row.origin) == ("user.suspend", "why", "command")
    assert (await verified(platform)).rows == 1


async def test_acts_at_the_same_time_follow_each_other(platform: Platform) -> None:
    await asyncio.gather(*(record(platform, f"user.act{n}") for n in range(8)))
    rows = await log_rows(platform)
    assert [int(row.number) for row in rows] == list(range(1, 9))
    assert (await verified(platform)).head == rows[-1].hash.hex()


async def test_a_refused_act_leaves_no_row(platform: Platform) -> None:
    async def work(ctx: Context) -> None:
        await record_act(ctx, "user.suspend")
        raise Refusal(errors.UNKNOWN_USER)

    with pytest.raises(Refusal):
        await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())
    assert await log_rows(platform) == []


TAMPERED = (
    ("UPDATE operator_log SET actor = 'mallory' WHERE number = 2", "row 2 of .* is not as it was written"),
    ("UPDATE operator_log SET created_at = created_at + 1 WHERE number = 3", "row 3 of .* is not as it was written"),
    ("UPDATE operator_log SET changes = '{}' WHERE number = 1", "row 1 of .* is not as it was written"),
    ("DELETE FROM operator_log WHERE number = 2", "row 2 is missing"),
    ("DELETE FROM operator_log WHERE number = 4", "row 4 is missing: the log ends with 3"),
)


@pytest.mark.parametrize(("statement", "finding"), TAMPERED, ids=[each[0].split(" WHERE ")[0] for each in TAMPERED])
async def test_a_row_that_the_owner_of_the_database_has_changed_is_named(
    platform: Platform, statement: str, finding: str
) -> None:
    for n in range(4):
        await record(platform, "setting.change", value=(n, n + 1))
    head = await verified(platform)
    sqlite = isinstance(platform.database, SqliteDatabase)
    if sqlite:
        for name in ("changed", "deleted"):
            await execute(platform.database, f"DROP TRIGGER operator_log_{name}")
    else:
        await execute(platform.database, "ALTER TABLE operator_log DISABLE TRIGGER USER")
    try:
        await execute(platform.database, statement)
        with pytest.raises(LogBroken, match=finding):
            await verified(platform, (head.rows, head.head))
    finally:
        if not sqlite:  # an SQLite file with other triggers is not used again
            await execute(platform.database, "ALTER TABLE operator_log ENABLE TRIGGER USER")
