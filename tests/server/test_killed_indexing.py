"""The index of messages after servers were killed while they wrote and indexed."""

import asyncio
import random
import signal
from pathlib import Path

from sqlalchemy import select

from moothall.resources.message.search.indexing import LOCK, follow
from moothall.storage.database import Database, Query
from moothall.storage.engines import database_at
from moothall.storage.schema import message_changes, messages
from moothall.storage.schema.search import message_index_fts, message_index_gin
from moothall.storage.statements.statement import ByDialect
from tests.server.load import Acknowledged, Load
from tests.support.forking import ForkedServer

ROUNDS = 2

_stored = Query(select(messages.c.id).where(messages.c.guild_id.is_not(None)))
_waiting = Query(select(message_changes.c.message_id))
_indexed = Query(
    ByDialect(lambda name: select(message_index_fts.c.rowid if name == "sqlite" else message_index_gin.c.message_id))
)


async def ids(database: Database, query: Query[tuple[int, ...]]) -> set[int]:
    async with database.read() as reader:
        return {row[0] for row in await reader.all(query)}


async def test_no_message_is_lost_to_the_index_and_none_stays_in_it(database_url: str, tmp_path: Path) -> None:
    chance = random.Random(11)
    acknowledged = Acknowledged()
    arguments = ("--no-demo", "--no-rate-limits", "--database-url", database_url)
    database = database_at(database_url)
    for round_number in range(ROUNDS):
        before = len(acknowledged.messages)
        with ForkedServer(tmp_path / "data", *arguments) as server:
            async with Load(server.url, acknowledged) as load:
                await load.register(f"writer{round_number}")
                await load.create_guild()
                writing = asyncio.create_task(load.write())
                await load.acknowledged_more_than(before + 20)
                await asyncio.sleep(chance.uniform(0.2, 0.8))
                assert server.stop(signal.SIGKILL) == -signal.SIGKILL
                await writing
        await database.open()
        stored, waiting, indexed = [await ids(database, query) for query in (_stored, _waiting, _indexed)]
        assert stored
        assert stored ^ indexed <= waiting
        await database.close()
    await database.open()
    while True:
        async with database.transaction(LOCK) as tx:
            if not await follow(tx, database.dialect):
                break
    assert await ids(database, _indexed) == await ids(database, _stored) != set()
    await database.close()
