"""Listing and searching members."""

import re

from moothall.objects.application import ApplicationFlags
from moothall.resources.guild.join_request import queries as join_requests
from moothall.resources.member import queries
from tests.support.harness import Guild, Platform
from tests.support.query_plans import explained


async def crowd(platform: Platform, *names: str) -> Guild:
    guild = await platform.guild(await platform.person("zz_owner"))
    for name in names:
        await guild.join(await platform.person(name))
    return guild


def ids(members: list[dict[str, dict[str, str]]]) -> list[int]:
    return [int(m["user"]["id"]) for m in members]


def names(members: list[dict[str, dict[str, str]]]) -> list[str]:
    return [m["user"]["username"] for m in members]


async def test_pages_follow_one_another_by_user_id(platform: Platform) -> None:
    guild = await crowd(platform, "a", "b", "c", "d")
    path = f"/guilds/{guild.id}/members"
    assert len((await guild.owner.get(path)).json) == 1
    first = (await guild.owner.get(path, limit=3)).json
    rest = (await guild.owner.get(path, limit=1000, after=first[-1]["user"]["id"])).json
    assert ids(first + rest) == sorted(ids(first + rest))
    assert len(first + rest) == 5
    for limit in (0, 1001, "x"):
        assert (await guild.owner.get(path, limit=limit)).errors_at("limit")


async def test_bots_list_members_only_with_the_privileged_intent(platform: Platform) -> None:
    guild = await crowd(platform, "a")
    plain = await platform.bot(guild.owner)
    await guild.join(plain)
    assert (await plain.get(f"/guilds/{guild.id}/members")).code == 50001
    for flag in (ApplicationFlags.GATEWAY_GUILD_MEMBERS, ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED):
        allowed = await platform.bot(guild.owner, flags=flag)
        await guild.join(allowed)
        assert (await allowed.get(f"/guilds/{guild.id}/members", limit=10)).status == 200
    assert (await plain.get(f"/guilds/{guild.id}/members/search", query="a")).status == 200


async def test_search_is_a_prefix_without_case_or_accents_on_either_name(platform: Platform) -> None:
    guild = await crowd(platform, "anna", "annabel", "hannah", "bert")
    bert = (await guild.owner.get(f"/guilds/{guild.id}/members/search", query="bert")).json[0]["user"]["id"]
    await guild.owner.patch(f"/guilds/{guild.id}/members/{bert}", {"nick": "Ánnika"})
    path = f"/guilds/{guild.id}/members/search"
    assert names((await guild.owner.get(path, query="ANN", limit=10)).json) == ["anna", "annabel", "bert"]
    assert names((await guild.owner.get(path, query="ännÍ", limit=10)).json) == ["bert"]
    assert names((await guild.owner.get(path, query="ann", limit=2)).json) == ["anna", "annabel"]
    assert len((await guild.owner.get(path, query="ann")).json) == 1
    assert (await guild.owner.get(path)).errors_at("query") == ["BASE_TYPE_REQUIRED"]
    assert (await guild.owner.get(path, query="")).errors_at("query")


async def test_wildcards_are_letters_like_any_other(platform: Platform) -> None:
    guild = await crowd(platform, "a_b", "axb")
    path = f"/guilds/{guild.id}/members/search"
    assert names((await guild.owner.get(path, query="a_", limit=10)).json) == ["a_b"]
    assert (await guild.owner.get(path, query="%", limit=10)).json == []


async def test_a_search_walks_the_index_of_each_name_in_its_order(database_url: str) -> None:
    for query, column in ((queries._search_usernames, "username_key"), (queries._search_nicks, "nick_key")):
        plan = await explained(database_url, query, guild_id=1, prefix="ann", maximum=10)
        assert f"ix_members_guild_id_{column}" in plan
        assert re.search(rf"{column}\s*>.*{column}\s*<", plan), plan
        assert "sort" not in plan.lower()
        assert "b-tree" not in plan.lower()


async def test_what_a_leaving_member_leaves_behind_is_found_by_their_id(database_url: str) -> None:
    one, several = {"guild_id": 1, "user_id": 1}, {"guild_id": 1, "user_ids": [1, 2]}
    for plan in (
        await explained(database_url, queries._select_threads, **one),
        await explained(database_url, queries._select_threads_of, **several),
    ):
        assert "ix_thread_members_user_id" in plan, plan
        assert "ix_channels_guild_id" not in plan, plan
    if database_url.startswith("sqlite"):
        # PostgreSQL goes by how many rows there are.
        for query in (join_requests._select_submitted, join_requests._delete_submitted):
            assert "ix_join_requests_guild_id_user_id" in await explained(database_url, query, **several)
