"""How the index follows messages, also through failures."""

import asyncio
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest
from sqlalchemy import func, insert, select

from moothall.api.jobs import JobRunner
from moothall.objects.ids import Snowflake
from moothall.resources.message.search import queries, terms
from moothall.resources.message.search.index_query import AllOf
from moothall.resources.message.search.indexing import STEP, Indexer
from moothall.resources.message.search.jobs import JOB_ID
from moothall.resources.message.search.queries import IndexSearch
from moothall.resources.message.search.terms import Phrase
from moothall.runtime import turns
from moothall.storage.database import Query, StorageUnavailable
from moothall.storage.engines import database_at
from moothall.storage.migrations.render import render_upgrade
from moothall.storage.schema import jobs, message_changes, messages
from tests.support.harness import Guild, Platform

_count_changes = Query(select(func.count()).select_from(message_changes))
_insert_job = Query(insert(jobs))
_insert_message = Query(insert(messages))


async def send(guild: Guild, content: str) -> str:
    reply = await guild.owner.post(f"/channels/{guild.general}/messages", {"content": content})
    return str(reply.json["id"])


async def search(guild: Guild, **query: Any) -> Any:
    return await guild.owner.get(f"/guilds/{guild.id}/messages/search", **query)


async def waiting(platform: Platform) -> int:
    async with platform.database.read() as reader:
        return int(await reader.scalar(_count_changes))


async def test_a_running_platform_finds_a_new_message(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    indexer = Indexer(platform.services)
    indexer.start()
    message = await send(guild, "lighthouse")
    results: list[Any] = []
    # It takes about half a second; the machine may be busy.
    for _ in range(1_500):
        await asyncio.sleep(0.02)
        results = (await search(guild, content="lighthouse")).json["messages"]
        if results:
            break
    await indexer.stop()
    assert results[0][0]["id"] == message
    assert await waiting(platform) == 0


async def test_a_failed_step_changes_nothing(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    guild = await platform.guild(await platform.person("owner"))
    message = await send(guild, "lighthouse")
    indexer = Indexer(platform.services)

    async def fails(*_: object) -> None:
        raise StorageUnavailable("pulled")

    with monkeypatch.context() as patch:
        patch.setattr(queries, "delete_changes", fails)
        with pytest.raises(StorageUnavailable):
            await indexer.step()
    assert await waiting(platform) == 1
    assert (await search(guild, content="lighthouse")).json["total_results"] == 0
    await Indexer(platform.services).drain()
    assert [hit["id"] for (hit,) in (await search(guild, content="lighthouse")).json["messages"]] == [message]


async def test_an_index_that_waits_says_so_once_until_it_goes_on(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    indexer = Indexer(platform.services, seconds=0.001)
    steps = iter("ff f")
    failed = asyncio.Event()

    async def step() -> int:
        kind = next(steps, "")
        if not kind:
            failed.set()
        if kind in {"f", ""}:
            raise StorageUnavailable("pulled")
        return 0

    monkeypatch.setattr(indexer, "step", step)
    indexer.start()
    async with asyncio.timeout(60):
        await failed.wait()
    await indexer.stop()
    assert [record.message for record in caplog.records].count("the index of messages waits: pulled") == 2


async def test_changes_of_a_message_are_merged_and_many_are_indexed_in_steps(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    message = await send(guild, "one")
    for content in ("two", "three"):
        await guild.owner.patch(f"/channels/{guild.general}/messages/{message}", {"content": content})
    indexer = Indexer(platform.services)
    assert await indexer.step() == 3
    assert (await search(guild, content="three")).json["total_results"] == 1
    assert (await search(guild, content="one")).json["total_results"] == 0
    for n in range(STEP + 5):
        await send(guild, f"number {n}")
    assert [await indexer.step() for _ in range(3)] == [STEP, 5, 0]
    assert (await search(guild, content="number")).json["total_results"] == STEP + 5


async def test_other_tasks_run_while_long_messages_are_indexed(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    guild = await platform.guild(await platform.person("owner"))
    # So that every turn has had its time, however fast the machine is.
    monkeypatch.setattr(turns, "FIRST_SECONDS", 0.0)
    for _ in range(8):
        await send(guild, "fog " * 499)
    taken = 0

    async def others() -> None:
        nonlocal taken
        while True:
            taken += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    assert await Indexer(platform.services).step() == 8
    task.cancel()
    assert taken >= 4


async def test_two_concurrent_indexers_index_a_change_once(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    for n in range(STEP):
        await send(guild, f"number {n}")
    steps = await asyncio.gather(*(Indexer(platform.services).step() for _ in range(3)))
    assert sorted(steps) == [0, 0, STEP]
    assert (await search(guild, content="number")).json["total_results"] == STEP


async def test_the_job_indexes_direct_messages_and_no_message_without_a_guild_beside_them(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    opened = await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})
    path = f"/channels/{opened.json['id']}/messages"
    sent = await alice.post(path, {"content": "secret"})
    async with platform.database.transaction() as tx:
        # As messages of interactions that only one user sees.
        await tx.execute(
            _insert_message,
            channel_id=7,
            id=8,
            author_id=alice.id,
            type=0,
            flags=64,
            pinned=False,
            reacted=False,
            body=b'{"content":"secret"}',
        )
        changes = await queries.select_changes(tx, 100)
        await queries.delete_changes(tx, [change for change, _ in changes])
        await tx.execute(_insert_job, id=JOB_ID, kind="index_messages", state={}, created_at=Snowflake(0))
    await JobRunner(platform.services).drain()
    page = (await bob.get(f"{path}/search", content="secret")).json
    assert [hit["id"] for (hit,) in page["messages"]] == [sent.json["id"]]
    async with platform.database.read() as reader:
        secret = IndexSearch.of(platform.database.dialect, AllOf((Phrase(("secret",)),)), None, None)
        assert await queries.count_hits(reader, secret, at_once=True) == 1


async def test_a_database_from_before_the_index_is_indexed_by_a_job_and_not_searched_until_then(
    platform: Platform,
) -> None:
    guild = await platform.guild(await platform.person("owner"))
    sent = [await send(guild, f"number {n}") for n in range(7)]
    async with platform.database.transaction() as tx:
        changes = await queries.select_changes(tx, 100)
        await queries.delete_changes(tx, [change for change, _ in changes])
        state = {"after_channel": "0", "after": "0", "done": 3}
        await tx.execute(_insert_job, id=JOB_ID, kind="index_messages", state=state, created_at=Snowflake(0))
    reply = await search(guild, content="number")
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (202, 110000, "2")
    assert (reply.json["documents_indexed"], reply.json["retry_after"]) == (3, 2)
    await JobRunner(platform.services).drain()
    results = (await search(guild, content="number")).json
    assert [group[0]["id"] for group in results["messages"]] == sent[::-1]


async def test_the_migration_enqueues_the_job_if_there_are_messages(tmp_path: Path) -> None:
    for count in (0, 1):
        path = tmp_path / f"{count}.db"
        connection = apsw.Connection(str(path))
        connection.execute(render_upgrade("sqlite", None, "0008")).fetchall()
        for n in range(count):
            connection.execute(
                "INSERT INTO messages (channel_id, id, guild_id, author_id, type, flags, pinned, reacted, body)"
                " VALUES (1, ?, 1, 1, 0, 0, 0, 0, x'7b7d')",
                (n,),
            ).fetchall()
        connection.close()
        database = database_at(f"sqlite:///{path}")
        await database.open()
        await database.migrate()
        async with database.read() as reader:
            assert (await queries.select_job_state(reader, JOB_ID)) == ("{}" if count else None)
        await database.close()


async def test_the_job_of_the_migration_can_be_read(platform: Platform) -> None:
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_job, id=JOB_ID, kind="index_messages", state={}, created_at=Snowflake(0))
    await JobRunner(platform.services).drain()
    async with platform.database.read() as reader:
        assert await queries.select_job_state(reader, JOB_ID) is None


async def test_what_the_first_text_needs_is_made_when_the_indexer_starts(platform: Platform) -> None:
    terms._word_pattern.cache_clear()
    indexer = Indexer(platform.services)
    indexer.start()
    async with asyncio.timeout(30):
        while not terms._word_pattern.cache_info().currsize:  # noqa: ASYNC110 a cache announces nothing
            await asyncio.sleep(0.01)
    await indexer.stop()


async def test_postgresql_counts_rare_words_by_the_index_however_often_and_right_after_many_entries_came(
    migrated_postgres: str,
) -> None:
    connection = await asyncpg.connect(migrated_postgres)
    await connection.execute("BEGIN")  # and no end: nothing is left
    await connection.execute(
        "INSERT INTO message_index (message_id, channel_id, document) SELECT each, 1, CAST("
        "'common w' || each || (SELECT string_agg(' x' || each % 97 * word, '') FROM generate_series(1, 40) AS word)"
        " AS TSVECTOR) FROM generate_series(1, 10000) AS each"
    )
    search_of_word = IndexSearch.of("postgresql", AllOf((Phrase(("w77",)),)), None, None)
    plan = queries._counts[search_of_word.shape].plan("postgresql")
    (words,) = plan.bind(search_of_word.values)
    counted = "counted('" + words.replace("'", "''") + "')"
    await connection.execute(f"PREPARE counted AS {plan.text}")
    # From the sixth time on, PostgreSQL may use one plan for all words.
    counts = [await connection.fetchval(f"EXECUTE {counted}") for _ in range(10)]
    lines = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE {counted}")]
    await connection.close()
    assert counts == [1] * 10
    assert "Bitmap Index Scan on ix_message_index_document" in "\n".join(lines)
