"""Backing up and restoring a SQLite database."""

import asyncio
import threading
from pathlib import Path

import apsw
import pytest
from sqlalchemy import insert, select

from moothall.storage.database import Query, StorageError, StorageUnavailable
from moothall.storage.schema import bans
from moothall.storage.sqlite.backup import backup, restore
from moothall.storage.sqlite.engine import SqliteDatabase

BAN = Query(insert(bans))
BANNED = Query(select(bans.c.user_id).order_by(bans.c.user_id))


async def opened(path: Path) -> SqliteDatabase:
    database = SqliteDatabase(path)
    await database.open()
    await database.migrate()
    return database


async def ban_pair(database: SqliteDatabase, number: int) -> None:
    async with database.transaction() as tx:
        for user_id in (2 * number, 2 * number + 1):
            await tx.execute(BAN, guild_id=1, user_id=user_id, reason="x" * 500, created_at=1)


async def banned(database: SqliteDatabase) -> list[int]:
    async with database.read() as reader:
        return [user_id for (user_id,) in await reader.all(BANNED)]


async def test_a_backup_of_a_database_in_use_is_whole_and_has_everything_acknowledged(tmp_path: Path) -> None:
    database = await opened(tmp_path / "moothall.db")
    acknowledged = 0
    stop = threading.Event()

    async def write() -> None:
        nonlocal acknowledged
        while not stop.is_set():
            await ban_pair(database, acknowledged)
            acknowledged += 1

    writing = asyncio.create_task(write())
    while acknowledged < 10:  # noqa: ASYNC110 the writer sets no event
        await asyncio.sleep(0)
    before = acknowledged
    await asyncio.to_thread(backup, database.path, tmp_path / "copy.db")
    stop.set()
    await writing

    copied = apsw.Connection(str(tmp_path / "copy.db"))
    assert copied.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    users = [row[0] for row in copied.execute("SELECT user_id FROM bans ORDER BY user_id")]
    copied.close()
    assert len(users) >= 2 * before
    assert users == list(range(len(users)))
    assert len(users) % 2 == 0  # no half of a pair
    await database.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "moothall.db"]


async def test_restoring_brings_back_what_the_backup_had_and_only_that(tmp_path: Path) -> None:
    path, copy = tmp_path / "moothall.db", tmp_path / "copy.db"
    database = await opened(path)
    await ban_pair(database, 1)
    backup(path, copy)
    await ban_pair(database, 2)
    await database.close()

    restore(copy, path)
    database = await opened(path)
    assert await banned(database) == [2, 3]
    await ban_pair(database, 5)
    assert await banned(database) == [2, 3, 10, 11]
    await database.close()


async def test_a_backup_replaces_an_older_one(tmp_path: Path) -> None:
    database = await opened(tmp_path / "moothall.db")
    backup(database.path, tmp_path / "copy.db")
    await ban_pair(database, 1)
    backup(database.path, tmp_path / "copy.db")
    await database.close()
    restored = await opened(tmp_path / "copy.db")
    assert await banned(restored) == [2, 3]
    await restored.close()


async def test_a_database_in_use_is_not_replaced(tmp_path: Path) -> None:
    database = await opened(tmp_path / "moothall.db")
    backup(database.path, tmp_path / "copy.db")
    await ban_pair(database, 1)
    with pytest.raises(StorageUnavailable, match="in use"):
        restore(tmp_path / "copy.db", database.path)
    await ban_pair(database, 2)
    assert await banned(database) == [2, 3, 4, 5]
    await database.close()


async def test_a_log_left_by_a_crash_does_not_mix_with_what_is_restored(tmp_path: Path) -> None:
    path, copy = tmp_path / "moothall.db", tmp_path / "copy.db"
    database = await opened(path)
    await ban_pair(database, 1)
    backup(path, copy)
    await ban_pair(database, 2)
    crashed = tmp_path / "crashed.db"
    for suffix in ("", "-wal"):
        Path(f"{crashed}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    await database.close()

    restore(copy, crashed)
    database = await opened(crashed)
    assert await banned(database) == [2, 3]
    await database.close()


async def test_a_damaged_database_can_be_replaced(tmp_path: Path) -> None:
    database = await opened(tmp_path / "moothall.db")
    await ban_pair(database, 1)
    backup(database.path, tmp_path / "copy.db")
    await database.close()
    (tmp_path / "moothall.db").write_bytes(b"\xff" * 9_000)
    restore(tmp_path / "copy.db", tmp_path / "moothall.db")
    database = await opened(tmp_path / "moothall.db")
    assert await banned(database) == [2, 3]
    await database.close()


async def test_a_file_that_is_no_backup_is_refused_and_the_database_unchanged(tmp_path: Path) -> None:
    path, copy = tmp_path / "moothall.db", tmp_path / "copy.db"
    database = await opened(path)
    for number in range(200):
        await ban_pair(database, number)
    backup(path, copy)
    await database.close()

    whole = bytearray(copy.read_bytes())
    whole[len(whole) // 2 : len(whole) // 2 + 12_000] = b"\xff" * 12_000
    copy.write_bytes(whole)
    with pytest.raises(StorageError):
        restore(copy, path)
    copy.write_bytes(b"no database at all" * 500)
    with pytest.raises(StorageError, match="not a database"):
        restore(copy, path)
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE other (id)").fetchall()
    with pytest.raises(StorageError, match="not a database of Moothall"):
        restore(tmp_path / "other.db", path)
    with pytest.raises(StorageError, match="there is no file"):
        restore(tmp_path / "missing.db", path)
    with pytest.raises(StorageError, match="there is no file"):
        backup(tmp_path / "missing.db", copy)

    database = await opened(path)
    assert await banned(database) == list(range(400))
    await database.close()
