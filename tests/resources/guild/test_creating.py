"""Creating a guild (the public Create Guild)."""

import asyncio
from typing import Any

import msgspec
import pytest

from moothall.objects.permissions import Permissions
from moothall.settings import Settings
from tests.resources.guild.pictures import picture
from tests.support.harness import CATEGORY, TEXT, VOICE, Caller, Platform

GRADIENT = {"primary_color": 1, "secondary_color": 2, "tertiary_color": None}


@pytest.fixture
async def alice(platform: Platform) -> Caller:
    return await platform.person("alice")


async def channels(caller: Caller, guild_id: str) -> dict[str, Any]:
    """A guild's channels by name."""
    return {channel["name"]: channel for channel in (await caller.get(f"/guilds/{guild_id}/channels")).json}


async def test_a_new_guild_has_what_the_operator_gives_to_all_and_can_use_it(platform: Platform, alice: Caller) -> None:
    granted = Settings()
    assert (await alice.post("/guilds", {"name": "Before"})).json["premium_tier"] == 0
    platform.services.limits = msgspec.structs.replace(
        platform.services.limits, guild_features=granted.guild_features, guild_level=granted.guild_level
    )
    guild = (await alice.post("/guilds", {"name": "The Hall", "icon": picture("gif", frames=2)})).json
    assert guild["features"] == sorted(granted.guild_features)
    assert guild["premium_tier"] == 3
    assert guild["icon"].startswith("a_")
    path = f"/guilds/{guild['id']}"
    role = await alice.post(f"{path}/roles", {"name": "ember", "unicode_emoji": "🔥", "colors": GRADIENT})
    assert (role.status, role.json["colors"]["secondary_color"]) == (200, 2)
    assert (await alice.patch(path, {"banner": picture("png", size=(320, 180))})).json["banner"] is not None
    # COMMUNITY comes and goes beside them.
    community = (await alice.patch(path, {"features": ["COMMUNITY"]})).json
    assert community.get("code") == 50035
    assert (await alice.get(path)).json["features"] == sorted(granted.guild_features)


async def test_a_name_is_enough_to_create_a_guild(alice: Caller) -> None:
    reply = await alice.post("/guilds", {"name": "  The   Hall "})
    assert reply.status == 201
    guild = reply.json
    assert (guild["name"], guild["owner_id"], guild["features"]) == ("The Hall", str(int(alice.id)), [])
    assert (guild["afk_timeout"], guild["preferred_locale"], guild["application_id"]) == (300, "en-US", None)
    assert [(role["id"], role["name"], role["position"]) for role in guild["roles"]] == [(guild["id"], "@everyone", 0)]
    assert guild["roles"][0]["permissions"] == str(int(Permissions.DEFAULT))
    made = await channels(alice, guild["id"])
    assert {name: made[name]["type"] for name in made} == {
        "Text Channels": CATEGORY,
        "general": TEXT,
        "Voice Channels": CATEGORY,
        "General": VOICE,
    }
    assert made["general"]["parent_id"] == made["Text Channels"]["id"]
    assert made["General"]["parent_id"] == made["Voice Channels"]["id"]
    assert guild["system_channel_id"] == made["general"]["id"]
    assert (await alice.get(f"/guilds/{guild['id']}")).json == guild
    counted = (await alice.get(f"/guilds/{guild['id']}", with_counts=True)).json
    assert counted["approximate_member_count"] == 1


async def test_the_gateway_receives_guild_open_for_the_owner(platform: Platform, alice: Caller) -> None:
    guild = (await alice.post("/guilds", {"name": "The Hall"})).json
    (envelope,) = platform.heard
    assert (envelope.name, envelope.audience) == ("GUILD_OPEN", 4)
    assert msgspec.json.decode(envelope.data) == {"user_id": int(alice.id), "guild_id": int(guild["id"])}


async def test_roles_and_channels_refer_to_each_other_by_placeholders(alice: Caller) -> None:
    body = {
        "name": "The Hall",
        "verification_level": 2,
        "default_message_notifications": 1,
        "explicit_content_filter": 2,
        "icon": picture(),
        "roles": [
            {"id": 0, "name": "ignored", "permissions": "1024"},
            {"id": 1, "name": "Captain", "permissions": str(Permissions.KICK_MEMBERS), "color": 7, "hoist": True},
        ],
        "channels": [
            {"id": 10, "name": "Deck", "type": CATEGORY},
            {"id": 11, "name": "Bridge Talk", "parent_id": 10, "topic": "orders", "nsfw": True},
            {
                "id": 12,
                "name": "Cabin",
                "type": VOICE,
                "parent_id": "10",
                "bitrate": 96000,
                "user_limit": 5,
                "permission_overwrites": [{"id": 1, "type": 0, "allow": "1024"}, {"id": 0, "deny": "1024"}],
            },
        ],
        "afk_channel_id": 12,
        "afk_timeout": 60,
        "system_channel_id": 11,
        "system_channel_flags": 3,
    }
    reply = await alice.post("/guilds", body)
    assert reply.status == 201
    guild = reply.json
    everyone, captain = guild["roles"]
    assert (everyone["id"], everyone["name"], everyone["permissions"]) == (guild["id"], "@everyone", "1024")
    assert (captain["name"], captain["position"], captain["color"], captain["hoist"]) == ("Captain", 1, 7, True)
    made = await channels(alice, guild["id"])
    assert set(made) == {"Deck", "bridge-talk", "Cabin"}
    assert (made["bridge-talk"]["topic"], made["bridge-talk"]["nsfw"]) == ("orders", True)
    assert (made["Cabin"]["bitrate"], made["Cabin"]["user_limit"]) == (96000, 5)
    assert made["Cabin"]["parent_id"] == made["bridge-talk"]["parent_id"] == made["Deck"]["id"]
    assert made["Cabin"]["permission_overwrites"] == [
        {"id": captain["id"], "type": 0, "allow": "1024", "deny": "0"},
        {"id": guild["id"], "type": 0, "allow": "0", "deny": "1024"},
    ]
    assert (guild["afk_channel_id"], guild["afk_timeout"]) == (made["Cabin"]["id"], 60)
    assert (guild["system_channel_id"], guild["system_channel_flags"]) == (made["bridge-talk"]["id"], 3)
    assert guild["icon"] is not None
    assert (guild["verification_level"], guild["default_message_notifications"]) == (2, 1)


async def test_a_guild_may_be_created_without_any_channel(alice: Caller) -> None:
    guild = (await alice.post("/guilds", {"name": "Empty", "channels": []})).json
    assert await channels(alice, guild["id"]) == {}
    assert guild["system_channel_id"] is None


@pytest.mark.parametrize(
    ("extra", "field"),
    [
        ({"name": "x"}, "name"),
        ({"name": " x "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": None}, "name"),
        ({"verification_level": 5}, "verification_level"),
        ({"afk_timeout": 61}, "afk_timeout"),
        ({"icon": "data:image/png;base64,AAAA"}, "icon"),
        ({"icon": "picture.png"}, "icon"),
        ({"system_channel_id": 5}, "system_channel_id"),
        ({"channels": [{"id": 1, "name": "a", "type": VOICE}], "system_channel_id": 1}, "system_channel_id"),
        ({"channels": [{"id": 1, "name": "a"}], "afk_channel_id": 1}, "afk_channel_id"),
        ({"channels": [{"name": "a", "parent_id": 3}]}, "channels.0.parent_id"),
        ({"channels": [{"id": 1, "name": "a"}, {"name": "b", "parent_id": 1}]}, "channels.1.parent_id"),
        ({"channels": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}, "channels.1.id"),
        ({"channels": [{"name": "a", "type": 15}]}, "channels.0.type"),
        (
            {"channels": [{"name": "a", "permission_overwrites": [{"id": 9}]}]},
            "channels.0.permission_overwrites.0.id",
        ),
        ({"roles": [{"id": 1}, {"id": 1}]}, "roles.1.id"),
        ({"roles": [{}, {"name": " "}]}, "roles.1.name"),
        ({"roles": [{"permissions": "x"}]}, "roles.0.permissions"),
    ],
)
async def test_a_bad_field_is_reported_and_nothing_is_created(
    platform: Platform, alice: Caller, extra: dict[str, Any], field: str
) -> None:
    reply = await alice.post("/guilds", {"name": "The Hall", **extra})
    assert (reply.status, reply.code, len(reply.errors_at(field))) == (400, 50035, 1)
    assert (await alice.get("/users/@me/guilds")).json == []
    assert platform.heard == []


async def test_a_bot_in_ten_guilds_cannot_create_another(platform: Platform, alice: Caller) -> None:
    bot = await platform.bot(alice)
    made = [await bot.post("/guilds", {"name": f"Guild {n}"}) for n in range(11)]
    assert [reply.status for reply in made] == [201] * 10 + [400]
    assert made[-1].code == 30001
    assert bot.application_id is not None
    assert made[0].json["application_id"] == str(int(bot.application_id))


async def test_a_person_is_in_at_most_a_hundred_guilds(platform: Platform, alice: Caller) -> None:
    for _ in range(99):
        await platform.guild(alice)
    made = await asyncio.gather(*(alice.post("/guilds", {"name": "The Hall"}) for _ in range(3)))
    assert sorted(reply.status for reply in made) == [201, 400, 400]


async def test_an_access_token_cannot_create_a_guild(platform: Platform, alice: Caller) -> None:
    bot = await platform.bot(alice)
    bearer = await platform.bearer(alice, int(bot.application_id or 0), "guilds")
    assert (await bearer.post("/guilds", {"name": "The Hall"})).status == 403
