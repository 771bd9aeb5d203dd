"""Rows of kept queries: transactions read what they would without, and read it once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from moothall.storage.database import Query, StorageError, Transaction, in_list
from moothall.storage.sql import bindparam, delete, insert, select, text, update
from moothall.storage.sqlite.engine import SqliteDatabase
from moothall.storage.tables import bans, guild_counters

_of_user = bans.c.user_id == bindparam("user_id")
_reasons = select(bans.c.reason).where(bans.c.guild_id == 1, _of_user)
_times = select(bans.c.created_at).where(bans.c.guild_id == 1, _of_user)
KEPT_REASON, REASON = Query(_reasons, key=("user_id",)), Query(_reasons)
KEPT_TIME, TIME = Query(_times, key=("user_id",)), Query(_times)
BAN = Query(insert(bans))
UNBAN = Query(delete(bans).where(bans.c.guild_id == 1, _of_user))
SET_REASON = Query(update(bans).where(bans.c.guild_id == 1, _of_user).values(reason=bindparam("new")))
SET_TIME = Query(update(bans).where(bans.c.guild_id == 1, _of_user).values(created_at=bindparam("new")))
BY_TEXT = Query(text("UPDATE bans SET reason = 'by text'"))
COUNT = Query(insert(guild_counters))


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "moothall.db")
    await database.open()
    await database.migrate()
    async with database.transaction() as tx:
        await tx.execute(BAN, guild_id=1, user_id=2, reason="spam", created_at=5)
    yield database
    await database.close()


async def reason(database: SqliteDatabase) -> Any:
    async with database.transaction() as tx:
        return await tx.one(KEPT_REASON, user_id=2)


def statements(database: SqliteDatabase) -> list[str]:
    """The statements that transactions run from now on."""
    seen: list[str] = []

    def trace(_cursor: object, sql: str, _bindings: object) -> bool:
        seen.append(sql)
        return True

    assert database._writer is not None
    database._writer.connection.set_exec_trace(trace)
    return seen


async def test_rows_are_read_once(sqlite: SqliteDatabase) -> None:
    assert await reason(sqlite) == ("spam",)
    seen = statements(sqlite)
    assert await reason(sqlite) == ("spam",)
    assert not [sql for sql in seen if sql.startswith("SELECT")]


async def test_that_there_is_no_row_is_kept_too(sqlite: SqliteDatabase) -> None:
    async with sqlite.transaction() as tx:
        assert await tx.one(KEPT_REASON, user_id=3) is None
        seen = statements(sqlite)
        assert await tx.one(KEPT_REASON, user_id=3) is None
    assert not [sql for sql in seen if sql.startswith("SELECT")]
    async with sqlite.transaction() as tx:
        await tx.execute(BAN, guild_id=1, user_id=3, reason="new", created_at=5)
        assert await tx.one(KEPT_REASON, user_id=3) == ("new",)


async def test_only_what_changes_a_column_that_was_read_makes_it_read_again(sqlite: SqliteDatabase) -> None:
    await reason(sqlite)
    async with sqlite.transaction() as tx:
        await tx.execute(SET_TIME, user_id=2, new=7)
        await tx.execute(COUNT, guild_id=1, member_count=3)
    seen = statements(sqlite)
    assert await reason(sqlite) == ("spam",)
    assert not [sql for sql in seen if sql.startswith("SELECT")]
    async with sqlite.transaction() as tx:
        await tx.execute(SET_REASON, user_id=2, new="flood")
    assert await reason(sqlite) == ("flood",)


async def test_what_is_rolled_back_was_never_kept(sqlite: SqliteDatabase) -> None:
    for query in (KEPT_REASON, Query(_reasons, key=("user_id",))):
        with suppress(KeyError):
            async with sqlite.transaction() as tx:
                await tx.execute(SET_REASON, user_id=2, new="flood")
                assert await tx.one(query, user_id=2) == ("flood",)
                raise KeyError
        assert await reason(sqlite) == ("spam",)
        async with sqlite.transaction() as tx:
            assert await tx.one(query, user_id=2) == ("spam",)


async def test_what_a_failed_commit_has_lost_is_not_kept(
    sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sqlite._writer
    assert writer is not None
    real = writer.connection

    class Failing:
        def execute(self, sql: str, *bindings: Any) -> object:
            if sql == "COMMIT":
                raise apsw.IOError("the disk fails")
            return real.execute(sql, *bindings)

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

    async def change() -> None:
        async with sqlite.transaction() as tx:
            await tx.execute(SET_REASON, user_id=2, new="flood")

    with monkeypatch.context() as patch:
        patch.setattr(writer, "connection", Failing())
        outcomes = await asyncio.gather(change(), reason(sqlite), return_exceptions=True)
        assert all(isinstance(outcome, StorageError) for outcome in outcomes)
    assert await reason(sqlite) == ("spam",)


async def test_the_commit_of_another_process_is_noticed(sqlite: SqliteDatabase) -> None:
    await reason(sqlite)
    other = apsw.Connection(str(sqlite.path))
    other.execute("UPDATE bans SET reason = 'by an operator'").fetchall()
    assert await reason(sqlite) == ("by an operator",)
    other.close()


async def test_a_statement_that_is_only_text_may_change_anything(sqlite: SqliteDatabase) -> None:
    await reason(sqlite)
    async with sqlite.transaction() as tx:
        await tx.execute(BY_TEXT)
    assert await reason(sqlite) == ("by text",)


async def test_what_is_kept_is_bounded(sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moothall.storage.sqlite.kept_rows._MAX_KEPT", 10)
    assert sqlite._writer is not None
    async with sqlite.transaction() as tx:
        for user_id in range(100):
            await tx.one(KEPT_REASON, user_id=user_id)
            assert sum(map(len, sqlite._writer.kept._rows.values())) <= 10


async def test_what_is_made_of_a_row_is_made_once(sqlite: SqliteDatabase) -> None:
    made: list[str] = []

    def make(row: Mutable) -> str:
        made.append(row.reason)
        return row.reason.upper()

    query = Query(select(bans.c.reason).where(_of_user), Mutable, then=make, key=("user_id",))
    for _ in range(3):
        async with sqlite.transaction() as tx:
            assert await tx.one(query, user_id=2) == "SPAM"
    assert made == ["spam"]
    async with sqlite.read() as reader:
        assert await reader.all(query, user_id=2) == ["SPAM"]


class Mutable(Struct):
    """A row whose fields can be set."""

    reason: str


def test_only_rows_of_a_key_that_no_reader_can_change_are_kept() -> None:
    others = bans.alias()
    listed = select(bans.c.reason).where(in_list(bans.c.user_id, "user_ids"))
    for query in (
        Query(select(bans.c.reason).where(_of_user)),
        Query(select(bans.c.reason).where(_of_user), Mutable, key=("user_id",)),
        Query(listed, key=("user_ids",)),
        Query(select(others.c.reason).where(others.c.user_id == bindparam("user_id")), key=("user_id",)),
        Query(update(bans).where(_of_user).values(reason="new"), key=("user_id",)),
    ):
        assert query.plan("sqlite").reads is None
    assert KEPT_REASON.plan("sqlite").reads is not None


def test_a_key_names_every_parameter_of_a_select() -> None:
    for query in (
        Query(_reasons, key=("guild_id",)),
        Query(_reasons.where(bans.c.reason == bindparam("reason")), key=("user_id",)),
    ):
        with pytest.raises(TypeError, match="do not fit the key"):
            query.plan("sqlite")


WRITES = st.tuples(st.sampled_from(["ban", "unban", "reason", "time", "many", "nothing"]), st.integers(2, 3))
TRANSACTION = st.tuples(st.lists(WRITES, max_size=5), st.sampled_from(["commit", "commit", "roll back", "operator"]))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(transactions=st.lists(TRANSACTION, max_size=8))
async def test_transactions_read_the_same_as_without_kept_rows(
    sqlite: SqliteDatabase, transactions: Sequence[tuple[Sequence[tuple[str, int]], str]]
) -> None:
    for number, (writes, end) in enumerate(transactions):
        with suppress(KeyError):
            async with sqlite.transaction() as tx:
                for write, user_id in (("nothing", 2), *writes):
                    await _write(tx, write, number, user_id)
                    for kept, plain in ((KEPT_REASON, REASON), (KEPT_TIME, TIME)):
                        for one in (2, 3):
                            assert await tx.all(kept, user_id=one) == await tx.all(plain, user_id=one)
                if end == "roll back":
                    raise KeyError
        if end == "operator":
            other = apsw.Connection(str(sqlite.path))
            other.execute("UPDATE bans SET reason = ?, created_at = ?", (f"operator {number}", number)).fetchall()
            other.close()


async def _write(tx: Transaction, write: str, number: int, user_id: int) -> None:
    if write == "ban" and await tx.one(REASON, user_id=user_id) is None:
        await tx.execute(BAN, guild_id=1, user_id=user_id, reason=f"ban {number}", created_at=number)
    elif write == "unban":
        await tx.execute(UNBAN, user_id=user_id)
    elif write == "reason":
        await tx.execute(SET_REASON, user_id=user_id, new=f"reason {number}")
    elif write == "time":
        await tx.execute(SET_TIME, user_id=user_id, new=number)
    elif write == "many":
        await tx.execute_many(SET_REASON, [{"user_id": 2, "new": f"many {number}"}, {"user_id": 3, "new": "many"}])
