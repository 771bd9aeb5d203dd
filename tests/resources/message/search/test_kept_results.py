"""Counted and kept results, and searches in guilds with many channels."""

import asyncio
from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from moothall.resources.message.search import queries
from moothall.resources.message.search.cache import SearchCache
from moothall.resources.message.search.indexing import Indexer
from tests.support.harness import Caller, Guild, Platform

VIEW = int(Permissions.VIEW_CHANNEL)


async def send(platform: Platform, caller: Caller, channel: object, content: str) -> str:
    reply = await caller.post(f"/channels/{channel}/messages", {"content": content})
    assert reply.status == 200
    await Indexer(platform.services).drain()
    return str(reply.json["id"])


async def ids(guild: Guild, caller: Caller | None = None, **query: Any) -> list[str]:
    page = (await (caller or guild.owner).get(f"/guilds/{guild.id}/messages/search", **query)).json
    assert page["total_results"] >= len(page["messages"])
    return [group[0]["id"] for group in page["messages"]]


async def test_results_are_counted_as_far_as_pages_reach(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "_counts", queries.counts_up_to(3))
    guild = await platform.guild(await platform.person("owner"))
    sent = [await send(platform, guild.owner, guild.general, f"buoy {number}") for number in range(5)]

    page = (await guild.owner.get(f"/guilds/{guild.id}/messages/search", content="buoy", limit=2)).json

    assert page["total_results"] == 3
    assert [group[0]["id"] for group in page["messages"]] == [sent[4], sent[3]]


async def test_a_repeated_search_shows_what_changed_between(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    bob = await platform.person("bob")
    await guild.join(bob)
    first = await send(platform, guild.owner, guild.general, "buoy")
    assert await ids(guild, bob, content="buoy") == [first]

    second = await send(platform, guild.owner, guild.general, "buoy again")
    assert await ids(guild, bob, content="buoy") == [second, first]
    await guild.owner.patch(f"/channels/{guild.general}/messages/{second}", {"content": "beacon"})
    stale = (await bob.get(f"/guilds/{guild.id}/messages/search", content="buoy")).json["messages"]
    assert [group[0]["content"] for group in stale] == ["beacon", "buoy"]  # until it is indexed
    await Indexer(platform.services).drain()
    assert await ids(guild, bob, content="buoy") == [first]
    await guild.owner.delete(f"/channels/{guild.general}/messages/{first}")
    assert (await bob.get(f"/guilds/{guild.id}/messages/search", content="buoy")).json["messages"] == []
    path = f"/channels/{guild.general}/permissions/{guild.id}"
    await guild.owner.put(path, {"type": 0, "deny": str(VIEW)})
    assert await ids(guild, bob, content="beacon") == []
    assert await ids(guild, content="beacon") == [second]


@pytest.mark.parametrize(("readable", "hidden"), [(22, 30), (30, 22), (22, 3), (3, 22)])
async def test_many_hidden_channels_stay_hidden(platform: Platform, readable: int, hidden: int) -> None:
    guild = await platform.guild(await platform.person("owner"))
    bob = await platform.person("bob")
    await guild.join(bob)
    open_channels = [await guild.channel() for _ in range(readable)]
    secret = [await guild.channel(overwrites=[(guild.id, 0, 0, VIEW)]) for _ in range(hidden)]
    # In the hidden ones as well, where only the owner may start one.
    threads = []
    for channel in (open_channels[0], secret[0]):
        reply = await guild.owner.post(f"/channels/{channel}/threads", {"name": "thread", "type": 11})
        threads.append(reply.json["id"])
    private = (await guild.owner.post(f"/channels/{open_channels[0]}/threads", {"name": "own", "type": 12})).json["id"]
    sent = {
        channel: await send(platform, guild.owner, channel, "one buoy")
        for channel in (*open_channels[:3], *secret[:3], *threads, private)
    }
    expected = [sent[channel] for channel in (*open_channels[:3], threads[0])]

    assert await ids(guild, bob, content="buoy") == expected[::-1]
    assert await ids(guild, bob, content="buoy", sort_order="asc") == expected
    assert await ids(guild, bob, content="buoy", min_id=expected[0], limit=1) == expected[-1:]
    assert await ids(guild, bob, content="one buoy", slop=0) == expected[::-1]
    assert len(await ids(guild, content="buoy")) == len(sent)


async def test_a_large_index_answers_simultaneous_searches_as_a_small_one(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    guild = await platform.guild(await platform.person("owner"))
    sent = [await send(platform, guild.owner, guild.general, f"buoy {number}") for number in range(3)]
    monkeypatch.setattr("moothall.resources.message.search.cache._SMALL", 1)
    platform.services.resources.add(SearchCache(platform.database))

    pages = await asyncio.gather(*(ids(guild, content="buoy") for _ in range(4)))

    assert pages == [sent[::-1]] * 4
