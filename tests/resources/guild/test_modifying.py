"""Modifying a guild (api.md, Modify Guild)."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from moothall.resources.member.queries import update_member
from tests.resources.guild.pictures import picture
from tests.support.harness import FORUM, VOICE, Caller, Guild, Platform

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
WIDE = (32, 18)


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner, name="The Hall")


async def test_a_change_is_returned_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    reply = await owner.patch(f"/guilds/{guild.id}", {"name": "  The Moot  ", "description": "We meet."}, reason="new")
    assert reply.status == 200
    assert (reply.json["name"], reply.json["description"]) == ("The Moot", "We meet.")
    assert platform.heard_names == [AUDIT, "GUILD_UPDATE"]
    of_gateway = {"guild_id": reply.json["id"], "hub_type": None, "profile": None}
    assert platform.heard_data("GUILD_UPDATE") == [reply.json | of_gateway]
    assert platform.heard_data(AUDIT)[0]["changes"] == [
        {"key": "name", "old_value": "The Hall", "new_value": "The Moot"},
        {"key": "description", "new_value": "We meet."},
    ]
    assert await guild.audit_log() == [(1, guild.id, "new")]
    assert (await owner.get(f"/guilds/{guild.id}")).json == reply.json


async def test_a_change_of_nothing_is_neither_recorded_nor_announced(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    before = (await owner.get(f"/guilds/{guild.id}")).json
    bodies: list[dict[str, Any]] = [{}, {"name": "The Hall"}, {"features": []}, {"icon": None, "unknown": 1}]
    for body in bodies:
        reply = await owner.patch(f"/guilds/{guild.id}", body)
        assert (reply.status, reply.json) == (200, before)
    assert platform.heard_names == []
    assert await guild.audit_log() == []


async def test_every_field_can_be_set_and_null_restores_its_default(owner: Caller, guild: Guild) -> None:
    voice, text = await guild.channel(type=VOICE), await guild.channel()
    body: dict[str, Any] = {
        "description": "We meet.",
        "region": "local",
        "verification_level": 3,
        "default_message_notifications": 1,
        "explicit_content_filter": 2,
        "afk_channel_id": str(voice),
        "afk_timeout": 900,
        "system_channel_id": str(text),
        "system_channel_flags": 5,
        "rules_channel_id": str(text),
        "public_updates_channel_id": str(guild.general),
        "safety_alerts_channel_id": str(text),
        "preferred_locale": "de",
        "premium_progress_bar_enabled": True,
    }
    changed = (await owner.patch(f"/guilds/{guild.id}", body)).json
    assert {name: changed[name] for name in body} == body
    changed = (await owner.patch(f"/guilds/{guild.id}", dict.fromkeys(body))).json
    assert {name: changed[name] for name in body} == {
        **dict.fromkeys(body),
        "region": "local",
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "afk_timeout": 300,
        "system_channel_flags": 0,
        "preferred_locale": "en-US",
        "premium_progress_bar_enabled": False,
    }
    assert (await owner.patch(f"/guilds/{guild.id}", {"features": None, "owner_id": str(owner.id)})).status == 200


@pytest.mark.parametrize("seconds", [60, 300, 900, 1800, 3600])
async def test_the_afk_timeouts_of_the_spec_are_accepted(owner: Caller, guild: Guild, seconds: int) -> None:
    assert (await owner.patch(f"/guilds/{guild.id}", {"afk_timeout": seconds})).json["afk_timeout"] == seconds


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": None}, "name"),
        ({"name": " x "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": 5}, "name"),
        ({"description": "x" * 301}, "description"),
        ({"verification_level": 5}, "verification_level"),
        ({"verification_level": "high"}, "verification_level"),
        ({"default_message_notifications": 2}, "default_message_notifications"),
        ({"explicit_content_filter": -1}, "explicit_content_filter"),
        ({"afk_timeout": 301}, "afk_timeout"),
        ({"afk_channel_id": "general"}, "afk_channel_id"),
        ({"system_channel_flags": -1}, "system_channel_flags"),
        ({"preferred_locale": "tlh"}, "preferred_locale"),
        ({"features": "COMMUNITY"}, "features"),
        ({"features": [True]}, "features.0"),
        ({"premium_progress_bar_enabled": "yes"}, "premium_progress_bar_enabled"),
        ({"icon": "data:image/png;base64,AAAA"}, "icon"),
        ({"icon": 7}, "icon"),
        ({"owner_id": None}, "owner_id"),
        ({"owner_id": "1"}, "owner_id"),
        ({"rules_channel_id": "1"}, "rules_channel_id"),
    ],
)
async def test_a_bad_field_is_reported_and_refuses_the_whole_request(
    platform: Platform, owner: Caller, guild: Guild, body: dict[str, Any], field: str
) -> None:
    reply = await owner.patch(f"/guilds/{guild.id}", {"name": "The Moot", "afk_timeout": 60, **body})
    assert (reply.status, reply.code, len(reply.errors_at(field))) == (400, 50035, 1)
    data = (await owner.get(f"/guilds/{guild.id}")).json
    assert (data["name"], data["afk_timeout"]) == ("The Hall", 300)
    assert platform.heard_names == []


async def test_a_channel_must_be_this_guilds_and_of_the_right_kind(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    voice, forum = await guild.channel(type=VOICE), await guild.channel(type=FORUM)
    foreign = await platform.guild(owner)
    foreign_voice = await foreign.channel(type=VOICE)
    body = {
        "afk_channel_id": str(guild.general),
        "system_channel_id": str(voice),
        "rules_channel_id": str(forum),
        "public_updates_channel_id": str(foreign.general),
        "safety_alerts_channel_id": str(guild.id),
    }
    reply = await owner.patch(f"/guilds/{guild.id}", body)
    assert reply.status == 400
    assert all(len(reply.errors_at(field)) == 1 for field in body)
    assert (await owner.patch(f"/guilds/{guild.id}", {"afk_channel_id": str(foreign_voice)})).status == 400


async def test_a_community_requires_two_channels_and_gets_the_feature_news(platform: Platform, guild: Guild) -> None:
    administrator = await guild.moderator()
    path = f"/guilds/{guild.id}"
    await guild.set(features=["BANNER"])
    refused = await administrator.patch(path, {"features": ["COMMUNITY"], "rules_channel_id": str(guild.general)})
    assert refused.errors_at("public_updates_channel_id") == ["BASE_TYPE_REQUIRED"]
    channels = {"rules_channel_id": str(guild.general), "public_updates_channel_id": str(guild.general)}
    made = (await administrator.patch(path, {"features": ["COMMUNITY", "VERIFIED", None], **channels})).json
    assert made["features"] == ["BANNER", "COMMUNITY", "NEWS"]
    assert platform.heard_data(AUDIT)[-1]["changes"][0]["key"] == "features"
    cleared = await administrator.patch(path, {"rules_channel_id": None})
    assert cleared.errors_at("rules_channel_id") == ["BASE_TYPE_REQUIRED"]
    ended = (await administrator.patch(path, {"features": [], "rules_channel_id": None})).json
    assert (ended["features"], ended["rules_channel_id"]) == (["BANNER"], None)


async def test_channels_set_before_count_for_a_community(owner: Caller, guild: Guild) -> None:
    channels = {"rules_channel_id": str(guild.general), "public_updates_channel_id": str(guild.general)}
    assert (await owner.patch(f"/guilds/{guild.id}", channels)).status == 200
    assert (await owner.patch(f"/guilds/{guild.id}", {"features": ["COMMUNITY"]})).status == 200


async def test_a_community_made_by_an_operator_can_still_be_changed(owner: Caller, guild: Guild) -> None:
    await guild.set(features=["COMMUNITY"])
    assert (await owner.patch(f"/guilds/{guild.id}", {"name": "The Moot"})).status == 200
    kept = await owner.patch(f"/guilds/{guild.id}", {"features": ["COMMUNITY"], "name": "The Hall"})
    assert (kept.status, kept.json["features"]) == (200, ["COMMUNITY"])


async def test_each_feature_requires_its_own_permission(platform: Platform, guild: Guild) -> None:
    manager = await guild.member_with(Permissions.MANAGE_GUILD)
    path = f"/guilds/{guild.id}"
    channels = {"rules_channel_id": str(guild.general), "public_updates_channel_id": str(guild.general)}
    platform.heard.clear()
    for feature in ("COMMUNITY", "DISCOVERABLE"):
        refused = await manager.patch(path, {"features": [feature], **channels})
        assert (refused.status, refused.code) == (403, 50013)
    assert platform.heard_names == []
    changed = (await manager.patch(path, {"features": ["INVITES_DISABLED", "RAID_ALERTS_DISABLED"]})).json
    assert changed["features"] == ["INVITES_DISABLED", "RAID_ALERTS_DISABLED"]
    await guild.set(features=["COMMUNITY", "NEWS"])
    assert (await manager.patch(path, {"features": []})).code == 50013
    assert (await manager.patch(path, {"features": ["COMMUNITY"], "name": "The Moot"})).status == 200


async def test_discovery_has_requirements_and_ends_with_the_community(owner: Caller, guild: Guild) -> None:
    path = f"/guilds/{guild.id}"
    refused = await owner.patch(path, {"features": ["DISCOVERABLE"]})
    assert (refused.code, len(refused.errors_at("features"))) == (50035, 4)
    channels = {"rules_channel_id": str(guild.general), "public_updates_channel_id": str(guild.general)}
    fit = {"description": "We meet.", "verification_level": 1, "explicit_content_filter": 2, **channels}
    made = (await owner.patch(path, {"features": ["COMMUNITY", "DISCOVERABLE"], **fit})).json
    assert made["features"] == ["COMMUNITY", "DISCOVERABLE", "NEWS"]
    assert (await owner.patch(path, {"features": ["DISCOVERABLE"]})).json["features"] == []


async def test_a_discoverable_guild_must_keep_meeting_the_requirements(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    path = f"/guilds/{guild.id}"
    channels = {"rules_channel_id": str(guild.general), "public_updates_channel_id": str(guild.general)}
    fit = {"description": "We meet.", "verification_level": 1, "explicit_content_filter": 2, **channels}
    await owner.patch(path, {"features": ["COMMUNITY", "DISCOVERABLE"], **fit})
    unfit = {"description": " ", "verification_level": None, "explicit_content_filter": 1}
    platform.heard.clear()

    refused = await owner.patch(path, {"name": "The Moot", **unfit})
    assert (refused.status, sorted(refused.json["errors"])) == (400, sorted(unfit))
    assert platform.heard == []
    assert (await owner.patch(path, {"name": "The Moot"})).status == 200
    assert (await owner.patch(path, {"description": "We meet on Mondays.", "verification_level": 3})).status == 200
    left = await owner.patch(path, {"features": ["COMMUNITY"], **unfit})
    assert (left.status, left.json["features"]) == (200, ["COMMUNITY", "NEWS"])


async def test_a_guild_made_discoverable_by_an_operator_need_not_meet_the_requirements(
    owner: Caller, guild: Guild
) -> None:
    await guild.set(features=["DISCOVERABLE"], description="We meet.")
    assert (await owner.patch(f"/guilds/{guild.id}", {"description": None})).status == 200


@pytest.mark.parametrize(
    ("field", "image", "feature"),
    [
        ("icon", picture(frames=2, kind="GIF"), "ANIMATED_ICON"),
        ("splash", picture(size=WIDE), "INVITE_SPLASH"),
        ("discovery_splash", picture(size=WIDE), "DISCOVERABLE"),
        ("banner", picture(size=WIDE), "BANNER"),
        ("banner", picture(size=WIDE, frames=2, kind="GIF"), "ANIMATED_BANNER"),
    ],
)
async def test_an_image_needs_its_feature(
    platform: Platform, owner: Caller, guild: Guild, field: str, image: str, feature: str
) -> None:
    path = f"/guilds/{guild.id}"
    others = ["BANNER"] if feature == "ANIMATED_BANNER" else []
    await guild.set(features=others)
    refused = await owner.patch(path, {field: image, "name": "The Moot"})
    assert (refused.status, refused.code) == (400, 50101)
    assert platform.heard_names == []
    await guild.set(features=[feature, *others])
    changed = (await owner.patch(path, {field: image})).json
    assert changed[field].startswith("a_") == feature.startswith("ANIMATED")
    assert await platform.services.blobs.exists(f"images/{changed[field]}")
    change = platform.heard_data(AUDIT)[0]["changes"]
    assert change == [{"key": f"{field}_hash", "new_value": changed[field]}]
    assert (await owner.patch(path, {field: None})).json[field] is None


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
async def test_an_icon_that_stands_still_needs_no_feature(owner: Caller, guild: Guild, kind: str) -> None:
    assert (await owner.patch(f"/guilds/{guild.id}", {"icon": picture(kind)})).json["icon"] is not None


@pytest.mark.parametrize("field", ["splash", "discovery_splash", "banner"])
async def test_wide_images_are_wide_and_of_the_right_format(owner: Caller, guild: Guild, field: str) -> None:
    await guild.set(features=["INVITE_SPLASH", "DISCOVERABLE", "BANNER"])
    path = f"/guilds/{guild.id}"
    assert (await owner.patch(path, {field: picture(size=(30, 30))})).errors_at(field) == ["IMAGE_INVALID"]
    assert (await owner.patch(path, {field: picture("JPEG", size=(960, 541))})).status == 200
    if field != "banner":
        assert (await owner.patch(path, {field: picture("GIF", size=WIDE)})).errors_at(field) == ["IMAGE_INVALID"]


async def test_only_the_owner_transfers_the_guild(platform: Platform, owner: Caller, guild: Guild) -> None:
    bob, stranger, administrator = await platform.person(), await platform.person(), await guild.moderator()
    bot = await platform.bot(owner)
    await guild.join(bob, bot)
    path = f"/guilds/{guild.id}"
    platform.heard.clear()
    assert (await administrator.patch(path, {"owner_id": str(bob.id)})).code == 50013
    assert (await owner.patch(path, {"owner_id": str(stranger.id)})).errors_at("owner_id") == ["BASE_TYPE_CHOICES"]
    assert (await owner.patch(path, {"owner_id": str(bot.id)})).code == 50132
    assert platform.heard_names == []
    transferred = await owner.patch(path, {"owner_id": str(bob.id)})
    assert (transferred.status, transferred.json["owner_id"]) == (200, str(int(bob.id)))
    assert (await owner.patch(path, {"name": "Mine"})).code == 50013
    assert (await bob.patch(path, {"name": "Mine"})).status == 200


async def test_a_pending_member_does_not_become_the_owner(platform: Platform, owner: Caller, guild: Guild) -> None:
    bob = await platform.person()
    await guild.join(bob)
    async with platform.database.transaction() as tx:
        await update_member(tx, guild.id, bob.id, pending=True)
    assert (await owner.patch(f"/guilds/{guild.id}", {"owner_id": str(bob.id)})).code == 50131
