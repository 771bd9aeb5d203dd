"""Tags of guilds, and users who wear them."""

import pytest

from moothall.api.jobs import MAX_TRANSACTION_MS
from moothall.objects.guild_profile import DEFAULT_BADGE_COLORS, Badge
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from tests.support.harness import Caller, Guild, Platform

TAG = {"tag": "BUG", "badge": 6, "badge_color_primary": "#32a070"}
BADGE = Badge(6, "#32a070", DEFAULT_BADGE_COLORS[1]).hash


async def tagged(platform: Platform, owner: Caller, tag: str = "BUG") -> Guild:
    guild = await platform.guild(owner)
    await guild.set(features=["GUILD_TAGS"])
    reply = await owner.patch(f"/guilds/{guild.id}/profile", TAG | {"tag": tag})
    assert reply.status == 200, reply.body
    return guild


async def wear(person: Caller, guild: Guild, **body: object) -> dict[str, object] | None:
    reply = await person.put("/users/@me/clan", {"identity_guild_id": str(guild.id), "identity_enabled": True} | body)
    assert reply.status == 200, reply.body
    return reply.json["primary_guild"]  # type: ignore[no-any-return]  # JSON


async def shown(viewer: Caller, person: Caller) -> dict[str, object] | None:
    return (await viewer.get(f"/users/{person.id}")).json["primary_guild"]  # type: ignore[no-any-return]  # JSON


async def test_a_tag_is_stored_announced_and_recorded(platform: Platform) -> None:
    owner = await platform.person()
    guild = await tagged(platform, owner)
    profile = (await owner.get(f"/guilds/{guild.id}/profile")).json
    assert (profile["tag"], profile["badge"], profile["badge_hash"]) == ("BUG", 6, BADGE)
    assert (profile["badge_color_primary"], profile["badge_color_secondary"]) == ("#32a070", DEFAULT_BADGE_COLORS[1])
    assert (profile["name"], profile["member_count"]) == (guild_name := profile["name"], 1)
    assert guild_name
    identity = {"tag": "BUG", "badge": BADGE}
    assert platform.heard_data("GUILD_UPDATE")[-1]["profile"] == identity
    # Only the gateway sends it.
    assert "profile" not in (await owner.get(f"/guilds/{guild.id}")).json
    (entry,) = (await owner.get(f"/guilds/{guild.id}/audit-logs", action_type=1)).json["audit_log_entries"]
    assert {"key": "tag", "new_value": "BUG"} in entry["changes"]


async def test_a_request_that_changes_nothing_is_neither_announced_nor_recorded(platform: Platform) -> None:
    owner = await platform.person()
    guild = await tagged(platform, owner)
    with platform.listening() as heard:
        assert (await owner.patch(f"/guilds/{guild.id}/profile", TAG)).status == 200
    assert heard == []
    assert len(await guild.audit_log()) == 1


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"tag": "A"}, "tag", "BASE_TYPE_BAD_LENGTH"),
        ({"tag": "  A  "}, "tag", "BASE_TYPE_BAD_LENGTH"),
        ({"tag": "ABCDE"}, "tag", "BASE_TYPE_BAD_LENGTH"),
        ({"badge": 10}, "badge", "BASE_TYPE_CHOICES"),
        ({"badge_color_primary": "red"}, "badge_color_primary", "STRING_TYPE_REGEX"),
        ({"name": "x"}, "name", "BASE_TYPE_BAD_LENGTH"),
    ],
)
async def test_a_wrong_profile_is_refused(platform: Platform, body: object, path: str, code: str) -> None:
    owner = await platform.person()
    guild = await tagged(platform, owner)
    reply = await owner.patch(f"/guilds/{guild.id}/profile", body)
    assert (reply.status, reply.errors_at(path)) == (400, [code])


async def test_a_tag_needs_the_feature_and_names_do_not(platform: Platform) -> None:
    owner = await platform.person()
    guild = await platform.guild(owner)
    assert (await owner.patch(f"/guilds/{guild.id}/profile", TAG)).code == 50101
    reply = await owner.patch(f"/guilds/{guild.id}/profile", {"name": " New name ", "description": "About"})
    assert (reply.json["name"], reply.json["description"], reply.json["tag"]) == ("New name", "About", None)


async def test_a_member_wears_the_tag_and_all_their_guilds_hear_of_it(platform: Platform) -> None:
    owner, bob = await platform.person(), await platform.person("bob")
    guild = await tagged(platform, owner)
    await guild.join(bob)
    with platform.listening() as heard:
        worn = await wear(bob, guild)
    assert worn == {"identity_guild_id": str(guild.id), "identity_enabled": True, "tag": "BUG", "badge": BADGE}
    assert await shown(owner, bob) == worn
    assert heard == ["USER_UPDATE", "GUILD_MEMBER_UPDATE"]
    assert platform.heard_data("GUILD_MEMBER_UPDATE")[-1]["user"]["primary_guild"] == worn
    assert (await owner.get(f"/users/{bob.id}/profile")).json["user"]["primary_guild"] == worn
    message = (await bob.post(f"/channels/{guild.general}/messages", {"content": "hi"})).json
    assert message["author"]["primary_guild"] == worn


@pytest.mark.parametrize("body", [{"identity_enabled": False}, {"identity_guild_id": None}])
async def test_a_tag_is_taken_off(platform: Platform, body: dict[str, object]) -> None:
    owner = await platform.person()
    guild = await tagged(platform, owner)
    await wear(owner, guild)
    assert await wear(owner, guild, **body) is None
    assert await shown(owner, owner) is None


async def test_only_members_wear_a_tag_and_only_of_a_guild_that_has_one(platform: Platform) -> None:
    owner, stranger = await platform.person(), await platform.person()
    guild, plain = await tagged(platform, owner), await platform.guild(owner)
    body = {"identity_guild_id": str(guild.id), "identity_enabled": True}
    assert (await stranger.put("/users/@me/clan", body)).code == 10004
    reply = await owner.put("/users/@me/clan", {"identity_guild_id": str(plain.id)})
    assert reply.errors_at("identity_guild_id") == ["BASE_TYPE_CHOICES"]
    assert (await owner.put("/users/@me/clan", {"identity_enabled": True})).errors_at("identity_guild_id") == [
        "BASE_TYPE_REQUIRED"
    ]
    assert await shown(owner, owner) is None


async def test_a_changed_tag_is_worn_only_once_its_wearers_say_so_again(platform: Platform) -> None:
    owner, bob = await platform.person(), await platform.person()
    guild = await tagged(platform, owner)
    await guild.join(bob)
    await wear(bob, guild)
    await owner.patch(f"/guilds/{guild.id}/profile", {"tag": "ANT"})
    await platform.run_due_jobs()
    forgotten = {"identity_guild_id": str(guild.id), "identity_enabled": None, "tag": None, "badge": None}
    assert await shown(owner, bob) == forgotten
    assert platform.heard_data("USER_UPDATE")[-1]["primary_guild"] == forgotten
    again = (await bob.put("/users/@me/clan", {"identity_enabled": True})).json["primary_guild"]
    assert (again["tag"], again["identity_enabled"]) == ("ANT", True)
    await platform.run_jobs_at(Timestamp(Timestamp.now() + 2 * MAX_TRANSACTION_MS))
    assert await shown(owner, bob) == again


async def test_who_leaves_takes_the_tag_off_and_other_members_keep_it(platform: Platform) -> None:
    owner, bob, carol = await platform.person(), await platform.person(), await platform.person()
    guild = await tagged(platform, owner)
    await guild.join(bob, carol)
    await wear(bob, guild)
    await wear(carol, guild)
    assert (await owner.delete(f"/guilds/{guild.id}/members/{bob.id}")).status == 204
    await platform.run_due_jobs()
    assert await shown(owner, bob) is None
    assert (await shown(owner, carol) or {})["tag"] == "BUG"


async def test_the_tag_of_a_deleted_guild_is_taken_off(platform: Platform) -> None:
    owner, bob = await platform.person(), await platform.person()
    guild = await tagged(platform, owner)
    await guild.join(bob)
    await wear(bob, guild)
    assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    await platform.run_due_jobs()
    assert await shown(owner, bob) is None


async def test_a_member_without_manage_guild_reads_the_profile_and_does_not_change_it(platform: Platform) -> None:
    owner = await platform.person()
    guild = await tagged(platform, owner)
    plain, moderator = await guild.member_with(0), await guild.member_with(int(Permissions.MANAGE_GUILD))
    assert (await plain.get(f"/guilds/{guild.id}/profile")).json["tag"] == "BUG"
    assert (await plain.patch(f"/guilds/{guild.id}/profile", {"tag": "ANT"})).code == 50013
    assert (await moderator.patch(f"/guilds/{guild.id}/profile", {"tag": None})).json["tag"] is None


async def test_what_people_say_about_themselves_is_changed_and_shown_to_others(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    guild = await platform.guild(alice)
    await guild.join(bob)
    body = {"pronouns": " they/them ", "bio": "Hello", "accent_color": 255}
    with platform.listening() as heard:
        reply = await alice.patch("/users/@me/profile", body)
    said = {"pronouns": "they/them", "bio": "Hello", "accent_color": 255, "banner": None, "theme_colors": None}
    assert reply.json == said
    assert heard == ["USER_UPDATE", "GUILD_MEMBER_UPDATE"]
    assert (await bob.get(f"/users/{alice.id}/profile")).json["user_profile"] == said
    cleared = (await alice.patch("/users/@me/profile", {"pronouns": None, "bio": None, "accent_color": None})).json
    assert (cleared["pronouns"], cleared["bio"], cleared["accent_color"]) == ("", "", None)
    reply = await alice.patch("/users/@me/profile", {"pronouns": "x" * 41})
    assert reply.errors_at("pronouns") == ["BASE_TYPE_MAX_LENGTH"]
