"""Building the whole index in one pass."""

from typing import Any

import pytest

from moothall.objects.ids import ChannelId, MessageId, Snowflake
from moothall.resources.message.search import queries
from moothall.resources.message.search.documents import Document
from moothall.resources.message.search.indexing import Indexer
from moothall.resources.message.search.rebuild import rebuild_index
from tests.support.harness import Guild, Platform


async def search(guild: Guild, **query: Any) -> Any:
    return await guild.owner.get(f"/guilds/{guild.id}/messages/search", **query)


async def test_a_rebuilt_index_has_every_message_and_nothing_else(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    for channel in (guild.general, guild.general):
        await guild.owner.post(f"/channels/{channel}/messages", {"content": "the old lighthouse"})
    await Indexer(platform.services).drain()
    removed = Document(ChannelId(Snowflake(int(guild.general))), MessageId(Snowflake(5)), [f"g{guild.id}"], ["ghost"])
    async with platform.database.transaction() as tx:
        await queries.upsert_documents(tx, platform.database.dialect, [removed])
    reports: list[int] = []

    count = await rebuild_index(platform.database, reports.append)

    assert (await search(guild, content="old lighthouse")).json["total_results"] == 2
    assert (await search(guild, content="ghost")).json["total_results"] == 0
    assert reports == [count]


async def test_messages_after_a_rebuild_are_indexed_as_before_it(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    first = (await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "one buoy"})).json["id"]
    await rebuild_index(platform.database)

    await guild.owner.patch(f"/channels/{guild.general}/messages/{first}", {"content": "one beacon"})
    await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "another beacon"})
    await Indexer(platform.services).drain()

    assert (await search(guild, content="beacon")).json["total_results"] == 2
    assert (await search(guild, content="buoy")).json["total_results"] == 0


async def test_searches_are_refused_while_an_interrupted_rebuild_is_completed(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    guild = await platform.guild(await platform.person("owner"))
    await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "lighthouse"})

    class PowerFailure(Exception):
        pass

    def fail(*_arguments: Any) -> None:
        raise PowerFailure

    monkeypatch.setattr("moothall.resources.message.search.rebuild.document_of", fail)
    with pytest.raises(PowerFailure):
        await rebuild_index(platform.database)
    monkeypatch.undo()

    assert (await search(guild, content="lighthouse")).status == 202
    await platform.run_due_jobs()
    assert (await search(guild, content="lighthouse")).json["total_results"] == 1
