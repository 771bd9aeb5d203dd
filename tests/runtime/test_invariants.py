"""What is checked at the doors of storage, gateway and bus (docs/invariants.md), each by breaking it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Raw

from moothall.api.outbox import leave_events
from moothall.bus.batches import BatchNumbers
from moothall.bus.envelope import Audience, Envelope
from moothall.bus.local import LocalBus
from moothall.gateway.sessions.session import Session
from moothall.objects.ids import Snowflake, UserId
from moothall.runtime.invariants import BrokenInvariant
from moothall.storage.database import Database
from moothall.storage.postgres.engine import PostgresDatabase
from moothall.storage.sqlite.engine import SqliteDatabase


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "moothall.db")
    await database.open()
    yield database
    await database.close()


async def test_a_transaction_of_sqlite_ends_once(sqlite: SqliteDatabase) -> None:
    writer = sqlite._writer
    assert writer is not None
    turn = await writer.begin()
    await writer.commit(turn)
    for end in (writer.commit, writer.roll_back):
        with pytest.raises(BrokenInvariant):
            await end(turn)  # type: ignore[misc]  # the other returns nothing that could be awaited


async def test_none_begins_while_the_thread_commits(sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = sqlite._writer
    assert writer is not None
    take = writer._take

    async def take_too_early() -> object:
        turn = await take()
        writer._committing = True
        return turn

    with monkeypatch.context() as patch:
        patch.setattr(writer, "_take", take_too_early)
        with pytest.raises(BrokenInvariant):
            await writer.begin()
    writer._committing = False
    async with sqlite.transaction():
        """It goes on."""


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_no_connection_is_released_in_a_transaction(database: Database) -> None:
    assert isinstance(database, PostgresDatabase)
    connection = await database.begin("BEGIN")
    with pytest.raises(BrokenInvariant):
        database.release(connection)
    assert connection.is_closed()


def test_no_session_that_may_resume_begins_to_count_anew() -> None:
    session = Session(
        user_id=UserId(Snowflake(1)),
        bot=True,
        application_id=None,
        token_hash=b"",
        intents=0,
        shard=None,
        large_threshold=50,
        client="desktop",
    )
    assert session.take_unsent() == []
    session.complete = True
    with pytest.raises(BrokenInvariant):
        session.take_unsent()


@pytest.mark.parametrize("audience", [Audience.GUILD, Audience.CHANNEL])
async def test_no_event_goes_to_a_guild_or_channel_without_its_id(database: Database, audience: Audience) -> None:
    event = Envelope(name="GUILD_UPDATE", data=Raw(b"{}"), audience=audience)
    with pytest.raises(BrokenInvariant):
        LocalBus().publish([event])
    with pytest.raises(BrokenInvariant):
        async with database.transaction() as tx:
            await leave_events(tx, [event])


@pytest.mark.parametrize("previous", [5, 6])
def test_the_numbers_of_batches_rise(previous: int) -> None:
    with pytest.raises(BrokenInvariant):
        BatchNumbers(5, previous)
