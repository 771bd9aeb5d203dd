"""Profiles of users: what they say about themselves, and what they share with the caller."""

import pytest

from tests.support.harness import Caller, Platform
from tests.support.relationships import befriend


@pytest.fixture
async def alice(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def bob(platform: Platform) -> Caller:
    return await platform.person("bob")


async def test_a_profile_says_which_guilds_and_friends_are_shared(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    carol, dan = await platform.person("carol"), await platform.person("dan")
    await befriend(alice, bob)
    await befriend(alice, carol)
    await befriend(bob, carol)
    await befriend(bob, dan)
    await bob.patch("/users/@me", {"bio": "I keep bees.", "accent_color": 255})
    where = f"/users/{bob.id}/profile"
    profile = (await alice.get(where, with_mutual_friends=True, with_mutual_friends_count=True)).json
    assert (profile["user"]["username"], profile["user"]["bio"]) == ("bob", "I keep bees.")
    assert profile["user_profile"] == {
        "banner": None, "bio": "I keep bees.", "accent_color": 255, "pronouns": "", "theme_colors": None,
    }  # fmt: skip
    assert [each["username"] for each in profile["mutual_friends"]] == ["carol"]
    assert profile["mutual_friends_count"] == 1
    assert profile["mutual_guilds"] == []
    plain = (await alice.get(where, with_mutual_guilds=False)).json
    assert not {"mutual_guilds", "mutual_friends", "mutual_friends_count"} & set(plain)


async def test_the_profile_of_a_stranger_is_hidden(alice: Caller, bob: Caller) -> None:
    answer = await alice.get(f"/users/{bob.id}/profile")
    assert (answer.status, answer.json["code"]) == (403, 50001)
    assert (await alice.get("/users/1/profile")).status == 404
    assert (await alice.get(f"/users/{alice.id}/profile")).status == 200


async def test_a_user_who_blocked_the_caller_shows_them_nothing(platform: Platform, alice: Caller, bob: Caller) -> None:
    guild = await platform.guild(owner=bob)
    await guild.join(alice)
    await bob.patch("/users/@me", {"bio": "I keep bees."})
    assert [each["id"] for each in (await alice.get(f"/users/{bob.id}/profile")).json["mutual_guilds"]] == [
        str(guild.id)
    ]
    await bob.put(f"/users/@me/relationships/{alice.id}", {"type": 2})
    profile = (await alice.get(f"/users/{bob.id}/profile")).json
    assert profile["user"]["bio"] == ""
    assert not {"user_profile", "mutual_guilds", "badges"} & set(profile)
