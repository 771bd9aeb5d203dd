"""Create Guild Channel: the fields of each type, and permission checks."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.support.harness import ANNOUNCEMENT, CATEGORY, FORUM, MEDIA, STAGE, TEXT, VOICE, Caller, Guild, Platform

P = Permissions


async def _guild(platform: Platform, **values: Any) -> tuple[Caller, Guild]:
    owner = await platform.person()
    return owner, await platform.guild(owner, **values)


async def test_a_channel_created_with_only_a_name_is_a_text_channel_at_the_end(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    with platform.listening() as heard:
        reply = await owner.post(f"/guilds/{guild.id}/channels", {"name": "Off Topic!"}, reason="more room")
    assert reply.status == 201
    channel = reply.json
    assert (channel["type"], channel["name"], channel["position"]) == (TEXT, "off-topic", 1)
    assert channel["guild_id"] == str(guild.id)
    assert channel["permission_overwrites"] == []
    assert channel["last_message_id"] is None
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "CHANNEL_CREATE"]
    assert platform.heard_data("CHANNEL_CREATE") == [channel]
    assert await guild.audit_log() == [(10, int(channel["id"]), "more room")]
    assert (await owner.get(f"/channels/{channel['id']}")).json == channel


async def test_every_field_but_the_name_may_be_null(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    nulls = dict.fromkeys(
        (
            "type", "topic", "bitrate", "user_limit", "rate_limit_per_user", "position", "permission_overwrites",
            "parent_id", "nsfw", "rtc_region", "video_quality_mode", "default_auto_archive_duration",
            "default_reaction_emoji", "available_tags", "default_sort_order", "default_forum_layout",
            "default_thread_rate_limit_per_user", "flags",
        )
    )  # fmt: skip
    assert (await owner.post(f"/guilds/{guild.id}/channels", {"name": "plain", **nulls})).status == 201
    refused = await owner.post(f"/guilds/{guild.id}/channels", {"name": None})
    assert refused.status == 400
    assert refused.errors_at("name") == ["BASE_TYPE_REQUIRED"]


async def test_a_field_applies_only_to_its_types(platform: Platform) -> None:
    owner, guild = await _guild(platform, features=["COMMUNITY", "NEWS"])
    everything = {
        "topic": "about",
        "bitrate": 32_000,
        "user_limit": 7,
        "rate_limit_per_user": 5,
        "nsfw": True,
        "rtc_region": "local",
        "video_quality_mode": 2,
        "default_auto_archive_duration": 60,
        "default_reaction_emoji": {"emoji_name": "👍"},
        "available_tags": [{"name": "Bug", "emoji_name": "🐛"}],
        "default_sort_order": 1,
        "default_forum_layout": 2,
        "default_thread_rate_limit_per_user": 9,
    }
    shown: dict[int, Any] = {}
    for kind in (TEXT, VOICE, CATEGORY, ANNOUNCEMENT, STAGE, FORUM, MEDIA):
        reply = await owner.post(f"/guilds/{guild.id}/channels", {"name": "x", "type": kind, **everything})
        assert reply.status == 201, reply.json
        shown[kind] = reply.json
    stored = {key for key in everything if key in shown[TEXT] and shown[TEXT][key] == everything[key]}
    assert stored == {
        "topic", "rate_limit_per_user", "nsfw", "default_auto_archive_duration", "default_thread_rate_limit_per_user",
    }  # fmt: skip
    assert "rate_limit_per_user" in shown[ANNOUNCEMENT]
    assert shown[ANNOUNCEMENT]["rate_limit_per_user"] == 0
    assert {"topic", "bitrate", "nsfw", "available_tags"}.isdisjoint(shown[CATEGORY])
    for kind in (VOICE, STAGE):
        assert {k: shown[kind][k] for k in ("bitrate", "user_limit", "rtc_region", "video_quality_mode")} == {
            "bitrate": 32_000,
            "user_limit": 7,
            "rtc_region": "local",
            "video_quality_mode": 2,
        }
    for kind in (FORUM, MEDIA):
        [tag] = shown[kind]["available_tags"]
        assert int(tag.pop("id"))
        assert tag == {"name": "Bug", "moderated": False, "emoji_id": None, "emoji_name": "🐛"}
        assert shown[kind]["default_reaction_emoji"] == {"emoji_id": None, "emoji_name": "👍"}
        assert shown[kind]["default_sort_order"] == 1
    assert shown[FORUM]["default_forum_layout"] == 2
    assert "default_forum_layout" not in shown[MEDIA]
    assert shown[MEDIA]["nsfw"] is False


async def test_announcement_stage_forum_and_media_channels_require_a_community(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    for kind in (ANNOUNCEMENT, STAGE, FORUM, MEDIA):
        reply = await owner.post(f"/guilds/{guild.id}/channels", {"name": "x", "type": kind})
        assert reply.status == 400
        assert reply.errors_at("type")


@pytest.mark.parametrize(
    ("values", "highest"),
    [
        ({}, 96_000),
        ({"premium_tier": 1}, 128_000),
        ({"premium_tier": 2}, 256_000),
        ({"premium_tier": 3}, 384_000),
        ({"features": ["VIP_REGIONS"]}, 384_000),
    ],
)
async def test_the_maximum_bitrate_depends_on_the_boost_level(
    platform: Platform, values: dict[str, Any], highest: int
) -> None:
    owner, guild = await _guild(platform, **values)
    path = f"/guilds/{guild.id}/channels"
    assert (await owner.post(path, {"name": "v", "type": VOICE, "bitrate": highest})).status == 201
    refused = await owner.post(path, {"name": "v", "type": VOICE, "bitrate": highest + 1})
    assert refused.status == 400
    assert refused.errors_at("bitrate") == ["NUMBER_TYPE_MAX"]


async def test_a_stage_has_at_most_64_kilobits_and_ten_thousand_members(platform: Platform) -> None:
    owner, guild = await _guild(platform, features=["COMMUNITY"], premium_tier=3)
    path, stage = f"/guilds/{guild.id}/channels", {"name": "s", "type": STAGE}
    assert (await owner.post(path, {**stage, "bitrate": 64_000, "user_limit": 10_000})).status == 201
    refused = await owner.post(path, {**stage, "bitrate": 64_001})
    assert refused.errors_at("bitrate")
    assert (await owner.post(path, {"name": "v", "type": VOICE, "user_limit": 100})).errors_at("user_limit")


async def test_every_invalid_field_is_reported_at_once_and_no_channel_is_created(platform: Platform) -> None:
    owner, guild = await _guild(platform, features=["COMMUNITY"])
    reply = await owner.post(
        f"/guilds/{guild.id}/channels",
        {
            "name": "",
            "type": 1,
            "topic": "x" * 1025,
            "bitrate": 7999,
            "user_limit": -1,
            "rate_limit_per_user": 21_601,
            "position": "first",
            "nsfw": "yes",
            "video_quality_mode": 3,
            "default_auto_archive_duration": 61,
            "default_sort_order": 2,
            "default_forum_layout": 3,
            "default_thread_rate_limit_per_user": -1,
            "available_tags": [{"name": "x" * 21}, {}],
            "permission_overwrites": [{"id": "no"}, {"id": "1", "type": 2}],
        },
    )
    assert reply.status == 400
    assert reply.code == 50035
    for path in (
        "name", "type", "topic", "bitrate", "user_limit", "rate_limit_per_user", "position", "nsfw",
        "video_quality_mode", "default_auto_archive_duration", "default_sort_order", "default_forum_layout",
        "default_thread_rate_limit_per_user", "available_tags.0.name", "available_tags.1.name",
        "permission_overwrites.0.id", "permission_overwrites.1.type",
    ):  # fmt: skip
        assert reply.errors_at(path), path
    assert len((await owner.get(f"/guilds/{guild.id}/channels")).json) == 1
    assert platform.heard_names == []


async def test_errors_that_depend_on_the_guild_are_reported_by_field_too(platform: Platform) -> None:
    owner, guild = await _guild(platform, features=["COMMUNITY"])
    stranger = await platform.person()
    other = await platform.guild(stranger)
    foreign_category = await other.channel(type=CATEGORY)
    reply = await owner.post(
        f"/guilds/{guild.id}/channels",
        {
            "name": "!!",
            "type": FORUM,
            "parent_id": str(foreign_category),
            "default_reaction_emoji": {"emoji_id": "123"},
            "available_tags": [
                {"name": "a"},
                {"name": "a"},
                {"name": "b", "id": "5"},
                {"name": "c", "emoji_name": "c"},
            ],
            "permission_overwrites": [{"id": str(other.id), "type": 0}, {"id": str(stranger.id), "type": 1}],
        },
    )
    assert reply.status == 400
    for path in (
        "name", "parent_id", "default_reaction_emoji.emoji_id", "available_tags.1.name", "available_tags.2.id",
        "available_tags.3.emoji_name", "permission_overwrites.0.id", "permission_overwrites.1.id",
    ):  # fmt: skip
        assert reply.errors_at(path), path


async def test_overwrites_allow_and_deny_only_permissions_of_the_caller(platform: Platform) -> None:
    _, guild = await _guild(platform)
    bob = await guild.member_with(P.MANAGE_CHANNELS | P.VIEW_CHANNEL)
    path = f"/guilds/{guild.id}/channels"

    def naming(**sets: Any) -> dict[str, Any]:
        return {"name": "x", "permission_overwrites": [{"id": str(guild.id), "type": 0, **sets}]}

    assert (await bob.post(path, naming(deny=str(int(P.VIEW_CHANNEL))))).status == 201
    for sets in ({"allow": str(int(P.MANAGE_MESSAGES))}, {"deny": str(int(P.MANAGE_MESSAGES))}):
        refused = await bob.post(path, naming(**sets))
        assert (refused.status, refused.code) == (403, 50013)


async def test_only_administrators_put_manage_roles_into_an_overwrite(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    holder = await guild.member_with(P.MANAGE_CHANNELS | P.MANAGE_ROLES)
    body = {"name": "x", "permission_overwrites": [{"id": str(guild.id), "allow": int(P.MANAGE_ROLES)}]}
    path = f"/guilds/{guild.id}/channels"
    assert (await holder.post(path, body)).code == 50013
    assert (await (await guild.moderator()).post(path, body)).status == 201
    assert (await owner.post(path, body)).status == 201


async def test_the_permissions_of_an_overwrite_default_to_none(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(0)
    reply = await owner.post(
        f"/guilds/{guild.id}/channels",
        {
            "name": "x",
            "permission_overwrites": [
                {"id": str(guild.id), "type": 0, "allow": None},
                {"id": str(bob.id), "deny": "1024", "allow": None},
            ],
        },
    )
    assert reply.json["permission_overwrites"] == [
        {"id": str(guild.id), "type": 0, "allow": "0", "deny": "0"},
        {"id": str(bob.id), "type": 1, "allow": "0", "deny": "1024"},
    ]


async def test_a_channel_created_without_overwrites_copies_those_of_its_category(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category = await guild.channel(type=CATEGORY, overwrites=[(guild.id, 0, 0, P.VIEW_CHANNEL)])
    reply = await owner.post(f"/guilds/{guild.id}/channels", {"name": "x", "parent_id": str(category)})
    assert reply.json["parent_id"] == str(category)
    assert reply.json["permission_overwrites"] == [{"id": str(guild.id), "type": 0, "allow": "0", "deny": "1024"}]


async def test_a_category_has_at_most_fifty_channels_and_no_category(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category = await guild.channel(type=CATEGORY)
    for _ in range(50):
        await guild.channel(parent_id=category)
    path = f"/guilds/{guild.id}/channels"
    full = await owner.post(path, {"name": "x", "parent_id": str(category)})
    assert full.errors_at("parent_id") == ["CHANNEL_PARENT_MAX_CHANNELS"]
    wrong = await owner.post(path, {"name": "x", "parent_id": str(guild.general)})
    assert wrong.errors_at("parent_id") == ["CHANNEL_PARENT_INVALID_TYPE"]
    inside = await owner.post(path, {"name": "x", "type": CATEGORY, "parent_id": str(category)})
    assert inside.json["parent_id"] is None


async def test_a_guild_has_at_most_five_hundred_channels(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    for _ in range(499):
        await guild.channel()
    refused = await owner.post(f"/guilds/{guild.id}/channels", {"name": "x"})
    assert (refused.status, refused.code) == (400, 30013)


async def test_a_position_is_stored_as_requested(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    reply = await owner.post(f"/guilds/{guild.id}/channels", {"name": "x", "position": 0})
    assert reply.json["position"] == 0
    listed = (await owner.get(f"/guilds/{guild.id}/channels")).json
    assert [c["id"] for c in listed] == [str(guild.general), reply.json["id"]]
