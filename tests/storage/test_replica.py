"""An SQLite file that one database writes and another one only reads."""

from pathlib import Path

import pytest
from sqlalchemy import bindparam, insert, select

from moothall.storage.database import Query, WritesElsewhere
from moothall.storage.schema import meta
from moothall.storage.sqlite.commit_counters import CommitCounters
from moothall.storage.sqlite.engine import SqliteDatabase
from moothall.storage.sqlite.replica import SqliteReplica

_insert = Query(insert(meta))
_select = Query(select(meta.c.value).where(meta.c.key == bindparam("key")))


async def insert_and_fail(database: SqliteDatabase) -> None:
    async with database.transaction() as tx:
        await tx.execute(_insert, key="two", value="2")
        raise ZeroDivisionError


async def test_a_replica_sees_each_commit_and_reports_its_table_at_the_next_read(tmp_path: Path) -> None:
    counters = CommitCounters()
    database = SqliteDatabase(tmp_path / "file.sqlite3", counters=counters)
    await database.open()
    await database.migrate()
    replica = SqliteReplica(database.path, counters)
    await replica.open()
    reported: list[str] = []
    assert replica.watch("meta", lambda: reported.append("meta"))
    assert replica.watch("users", lambda: reported.append("users"))
    assert replica.watch_values("meta", lambda values: reported.append(f"values {dict(values)}"))
    assert replica.watch_rows("meta", lambda rows: reported.append(f"rows {rows}"))
    replica.read()
    reported.clear()

    async with database.transaction() as tx:
        await tx.execute(_insert, key="one", value="1")
        async with replica.read() as reader:
            assert await reader.scalar(_select, key="one") is None
    assert reported == []
    async with replica.read() as reader:
        assert await reader.scalar(_select, key="one") == "1"
    assert reported == ["meta", "values {}", "rows None"]
    reported.clear()
    replica.read()
    assert reported == []

    with pytest.raises(ZeroDivisionError):
        await insert_and_fail(database)
    replica.read()
    assert reported == []

    database.count_all()
    replica.read()
    assert "users" in reported
    await replica.close()
    await database.close()


async def test_a_replica_writes_nothing(tmp_path: Path) -> None:
    counters = CommitCounters()
    database = SqliteDatabase(tmp_path / "file.sqlite3", counters=counters)
    await database.open()
    replica = SqliteReplica(database.path, counters)
    await replica.open()
    with pytest.raises(WritesElsewhere):
        replica.transaction()
    await replica.close()
    await database.close()
