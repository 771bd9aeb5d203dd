"""Discoverable guilds: who is listed, how they are found, and joining without an invitation."""

from typing import Any

import pytest
from msgspec import structs

from moothall.objects.guild import NsfwLevel
from tests.support.harness import Caller, Guild, Platform

LIST = "/discoverable-guilds"


@pytest.fixture
async def listing(platform: Platform) -> Platform:
    """A platform whose operator lists discoverable guilds."""
    platform.services.limits = structs.replace(platform.services.limits, discovery=True)
    return platform


async def discoverable(platform: Platform, owner: Caller, name: str, **columns: Any) -> Guild:
    """A guild that is listed."""
    return await platform.guild(owner, name=name, features=["COMMUNITY", "DISCOVERABLE"], **columns)


async def names(caller: Caller, **params: Any) -> list[str]:
    """The names of listed guilds."""
    reply = await caller.get(LIST, **params)
    assert reply.status == 200, reply.body
    return [guild["name"] for guild in reply.json["guilds"]]


async def test_only_discoverable_guilds_are_listed_and_only_where_the_setting_says_so(platform: Platform) -> None:
    owner = await platform.person()
    await discoverable(platform, owner, "Open")
    await platform.guild(owner, name="Closed", features=["COMMUNITY"])
    await discoverable(platform, owner, "Adults", nsfw_level=NsfwLevel.AGE_RESTRICTED)
    assert await names(platform.anonymous) == []
    platform.services.limits = structs.replace(platform.services.limits, discovery=True)
    assert await names(platform.anonymous) == ["Open"]


async def test_the_largest_come_first_page_by_page(listing: Platform) -> None:
    owner = await listing.person()
    guilds = [await discoverable(listing, owner, name) for name in ("One", "Two", "Three")]
    for guild in guilds[1:]:
        await guild.join(await listing.person())
    await guilds[2].join(await listing.person())
    assert await names(owner) == ["Three", "Two", "One"]
    reply = (await owner.get(LIST, limit=1, offset=1)).json
    assert ([guild["name"] for guild in reply["guilds"]], reply["total"]) == (["Two"], 3)
    assert await names(owner, guild_ids=[str(guilds[0].id), str(guilds[1].id)]) == ["Two", "One"]


async def test_words_are_looked_for_in_names_descriptions_and_keywords_ignoring_case_and_accents(
    listing: Platform,
) -> None:
    owner = await listing.person()
    bikes = await discoverable(listing, owner, "Fahrräder", description="Wir reparieren")
    await discoverable(listing, owner, "Привет", description="100% chess")
    path = f"/guilds/{bikes.id}/discovery-metadata"
    reply = await owner.patch(path, {"keywords": ["Bicycle", " bicycle ", "DIY"], "primary_category_id": 7})
    assert reply.json["keywords"] == ["bicycle", "DIY"]
    for query in ("fahrrader", "BICYCLE", "diy repar"):
        assert await names(owner, query=query) == ["Fahrräder"], query
    assert await names(owner, query="привет") == ["Привет"]
    assert await names(owner, query="bicycle chess") == []
    assert await names(owner, query="%") == ["Привет"]
    assert await names(owner, categories=7) == ["Fahrräder"]
    assert await names(owner, categories=0) == ["Привет"]


async def test_what_a_guild_is_listed_by_is_stored_once_and_audited(platform: Platform) -> None:
    owner, member = await platform.person(), await platform.person()
    guild = await platform.guild(owner)
    await guild.join(member)
    path = f"/guilds/{guild.id}/discovery-metadata"
    assert (await owner.get(path)).json == {
        "guild_id": str(guild.id),
        "primary_category_id": 0,
        "keywords": [],
        "is_published": False,
    }
    for _ in range(2):
        assert (await owner.patch(path, {"primary_category_id": 2}, reason="music")).status == 200
    entries = (await owner.get(f"/guilds/{guild.id}/audit-logs")).json["audit_log_entries"]
    assert [(entry["reason"], entry["changes"]) for entry in entries] == [
        ("music", [{"key": "primary_category_id", "old_value": 0, "new_value": 2}])
    ]
    assert (await owner.patch(path, {"primary_category_id": 99})).code == 10059
    assert (await owner.patch(path, {"keywords": ["x" * 31]})).code == 50035
    assert (await member.patch(path, {"keywords": []})).code == 50013
    known = {category["id"] for category in (await owner.get("/discovery/categories")).json}
    assert 2 in known
    assert 99 not in known


async def test_people_join_a_listed_guild_once(listing: Platform) -> None:
    owner, alice = await listing.person(), await listing.person()
    guild = await discoverable(listing, owner, "Open")
    path = f"/guilds/{guild.id}/members/@me"
    for _ in range(2):
        reply = await alice.put(path)
        assert (reply.status, reply.json["id"]) == (200, str(guild.id))
    assert len(listing.heard_data("GUILD_MEMBER_ADD")) == 1
    assert (await owner.get(f"/guilds/{guild.id}/preview")).json["approximate_member_count"] == 2


async def test_a_guild_that_is_not_listed_cannot_be_joined(platform: Platform) -> None:
    owner, alice = await platform.person(), await platform.person()
    unlisted = await platform.guild(owner, features=["COMMUNITY"])
    listed = await discoverable(platform, owner, "Open")
    assert (await alice.put(f"/guilds/{listed.id}/members/@me")).code == 10004
    platform.services.limits = structs.replace(platform.services.limits, discovery=True)
    assert (await alice.put(f"/guilds/{unlisted.id}/members/@me")).code == 10004
    assert joins(platform) == []


async def test_neither_the_banned_nor_bots_join_and_none_while_invites_are_paused(listing: Platform) -> None:
    owner, alice, banned = await listing.person(), await listing.person(), await listing.person()
    guild = await discoverable(listing, owner, "Open")
    await owner.put(f"/guilds/{guild.id}/bans/{banned.id}", {})
    path = f"/guilds/{guild.id}/members/@me"
    assert (await banned.put(path)).code == 40007
    assert (await (await listing.bot(owner)).put(path)).code in {20001, 50001}
    features = ["COMMUNITY", "DISCOVERABLE", "INVITES_DISABLED"]
    paused = await listing.guild(owner, features=features)
    assert (await alice.put(f"/guilds/{paused.id}/members/@me")).code == 40006
    assert joins(listing) == []


def joins(platform: Platform) -> list[Any]:
    """The announced joins."""
    return platform.heard_data("GUILD_MEMBER_ADD")
