"""Vanity URLs (api.md, Get Guild Vanity URL)."""

import asyncio

import pytest

from moothall.resources.guild.vanity_url import queries
from tests.support.harness import Caller, Guild, Platform
from tests.support.query_plans import explained

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner, features=["VANITY_URL"])


async def test_a_guild_without_a_code_has_code_null(owner: Caller, guild: Guild) -> None:
    assert (await owner.get(f"/guilds/{guild.id}/vanity-url")).json == {"code": None, "uses": 0}


async def test_a_new_code_resolves_to_the_guild_and_counts_its_uses(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    reply = await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": "Moot-Hall"}, reason="ours")
    assert (reply.status, reply.json) == (200, {"code": "moot-hall", "uses": 0})
    assert platform.heard_names == [AUDIT, "GUILD_UPDATE"]
    assert platform.heard_data("GUILD_UPDATE")[0]["vanity_url_code"] == "moot-hall"
    assert platform.heard_data(AUDIT)[0]["changes"] == [{"key": "vanity_url_code", "new_value": "moot-hall"}]
    assert await guild.audit_log() == [(1, guild.id, "ours")]
    bob = await platform.person("bob")
    assert (await bob.get("/invites/moot-hall")).json["guild"]["vanity_url_code"] == "moot-hall"
    assert (await bob.post("/invites/Moot-Hall", {})).status == 200
    assert (await owner.get(f"/guilds/{guild.id}/vanity-url")).json == {"code": "moot-hall", "uses": 1}


async def test_another_code_starts_with_no_uses_and_the_old_one_is_free(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    path = f"/guilds/{guild.id}/vanity-url"
    await owner.patch(path, {"code": "first"})
    await (await platform.person()).post("/invites/first", {})
    assert (await owner.patch(path, {"code": "first"})).json == {"code": "first", "uses": 1}
    assert (await owner.patch(path, {"code": "second"})).json == {"code": "second", "uses": 0}
    assert (await owner.get(path)).json == {"code": "second", "uses": 0}
    assert (await owner.get("/invites/first")).code == 10006
    other = await platform.guild(owner, features=["VANITY_URL"])
    assert (await owner.patch(f"/guilds/{other.id}/vanity-url", {"code": "first"})).status == 200


@pytest.mark.parametrize("code", [None, ""])
async def test_a_code_can_be_removed_also_without_the_feature(owner: Caller, guild: Guild, code: str | None) -> None:
    path = f"/guilds/{guild.id}/vanity-url"
    await owner.patch(path, {"code": "mine"})
    await guild.set(features=[])
    assert (await owner.patch(path, {"code": code})).json == {"code": None, "uses": 0}
    assert (await owner.get("/invites/mine")).code == 10006


async def test_the_same_code_again_is_not_announced(platform: Platform, owner: Caller, guild: Guild) -> None:
    await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": "mine"})
    platform.heard.clear()
    assert (await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": "MINE"})).status == 200
    assert platform.heard == []
    assert len(await guild.audit_log()) == 1


async def test_a_code_needs_the_feature(platform: Platform, owner: Caller) -> None:
    plain = await platform.guild(owner)
    reply = await owner.patch(f"/guilds/{plain.id}/vanity-url", {"code": "mine"})
    assert (reply.status, reply.code) == (400, 50101)


@pytest.mark.parametrize("code", ["a", "a" * 26, 5])
async def test_a_code_of_a_wrong_length_or_type_is_a_form_error(owner: Caller, guild: Guild, code: object) -> None:
    reply = await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": code})
    assert reply.code == 50035
    assert reply.errors_at("code")
    assert (await owner.patch(f"/guilds/{guild.id}/vanity-url", {})).errors_at("code") == ["BASE_TYPE_REQUIRED"]


@pytest.mark.parametrize("code", ["-ab", "ab-", "a--b", "a b", "ü-code", "a/b"])
async def test_a_code_of_other_characters_is_refused(owner: Caller, guild: Guild, code: str) -> None:
    assert (await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": code})).code == 50020


async def test_a_code_belongs_to_one_guild_or_invite_only(platform: Platform, owner: Caller, guild: Guild) -> None:
    other = await platform.guild(owner, features=["VANITY_URL"], vanity_url_code="taken")
    assert (await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": "Taken"})).code == 50020
    replies = await asyncio.gather(
        *(owner.patch(f"/guilds/{one.id}/vanity-url", {"code": "wanted"}) for one in (guild, other))
    )
    assert sorted(reply.status for reply in replies) == [200, 400]


async def test_an_invite_code_of_any_guild_is_refused_in_any_case(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    other = await platform.guild(await platform.person())
    code = (await other.owner.post(f"/channels/{other.general}/invites", {})).json["code"]
    for spelling in (code, code.lower(), code.upper()):
        assert (await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": spelling})).code == 50020
    assert (await owner.get(f"/invites/{code}")).json["guild"]["id"] == str(other.id)
    await other.owner.delete(f"/invites/{code}")
    assert (await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": code})).json["code"] == code.lower()


async def test_a_new_invite_never_has_a_vanity_code_in_any_case(
    owner: Caller, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    await owner.patch(f"/guilds/{guild.id}/vanity-url", {"code": "moothall10"})
    codes = iter(("moothall10", "MootHall10", "Other10abc"))
    monkeypatch.setattr("moothall.resources.invite.operations.create.random_code", lambda: next(codes))
    made = await owner.post(f"/channels/{guild.general}/invites", {})
    assert made.json["code"] == "Other10abc"


async def test_the_lookup_of_a_code_walks_an_index(database_url: str) -> None:
    plan = await explained(database_url, queries._select_code, code="moothall10")
    assert "ix_invites_lower_code" in plan
    assert "SCAN invites" not in plan
