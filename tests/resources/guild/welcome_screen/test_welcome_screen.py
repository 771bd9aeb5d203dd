"""Welcome screens (api.md, Welcome screen objects)."""

from typing import Any

import pytest
from sqlalchemy import insert

from moothall.objects.ids import EmojiId
from moothall.storage.database import Query
from moothall.storage.schema import emojis
from tests.support.harness import CATEGORY, Caller, Guild, Platform

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def emoji(guild: Guild, name: str = "wave") -> EmojiId:
    emoji_id = EmojiId(guild.platform.ids.next())
    async with guild.platform.database.transaction() as tx:
        await tx.execute(Query(insert(emojis)), guild_id=guild.id, id=emoji_id, name=name)
    await guild.set(name="Guild")
    return emoji_id


def shown(channel_id: int, description: str = "Say hello", **more: Any) -> dict[str, Any]:
    return {"channel_id": str(channel_id), "description": description, **more}


async def test_a_screen_that_was_never_set_is_not_found(platform: Platform, owner: Caller, guild: Guild) -> None:
    reply = await owner.get(f"/guilds/{guild.id}/welcome-screen")
    assert (reply.status, reply.code) == (404, 10069)
    assert (await owner.patch(f"/guilds/{guild.id}/welcome-screen", {})).json == {
        "description": None,
        "welcome_channels": [],
    }
    assert platform.heard == []
    assert (await owner.get(f"/guilds/{guild.id}/welcome-screen")).code == 10069


async def test_a_screen_is_stored_announced_recorded_and_shown_by_invites(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    platform.heard.clear()
    own = await emoji(guild)
    rules = await guild.channel(name="rules")
    body = {
        "enabled": True,
        "description": " Be welcome. ",
        "welcome_channels": [
            shown(guild.general, emoji_name="👋"),
            shown(rules, "Read these", emoji_id=str(own), emoji_name="ignored"),
        ],
    }
    reply = await owner.patch(f"/guilds/{guild.id}/welcome-screen", body, reason="friendly")
    assert reply.status == 200
    assert reply.json == {
        "description": "Be welcome.",
        "welcome_channels": [
            shown(guild.general, emoji_id=None, emoji_name="👋"),
            shown(rules, "Read these", emoji_id=str(own), emoji_name="wave"),
        ],
    }
    assert platform.heard_names == [AUDIT, "GUILD_UPDATE"]
    assert "WELCOME_SCREEN_ENABLED" in platform.heard_data("GUILD_UPDATE")[0]["features"]
    assert [change["key"] for change in platform.heard_data(AUDIT)[0]["changes"]] == ["features", "welcome_screen"]
    assert (await guild.audit_log())[-1] == (1, guild.id, "friendly")
    member = await guild.member_with(0)
    assert (await member.get(f"/guilds/{guild.id}/welcome-screen")).json == reply.json
    assert (await platform.anonymous.get(f"/invites/{code}")).json["guild"]["welcome_screen"] == reply.json


async def test_a_disabled_screen_is_shown_to_members_with_manage_guild(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    path = f"/guilds/{guild.id}/welcome-screen"
    made = (await owner.patch(path, {"description": "Hi", "enabled": True})).json
    assert (await owner.patch(path, {"enabled": False})).json == made
    member = await guild.member_with(0)
    assert (await member.get(path)).code == 50013
    assert (await owner.get(path)).json == made
    assert "WELCOME_SCREEN_ENABLED" not in (await owner.get(f"/guilds/{guild.id}")).json["features"]
    assert "welcome_screen" not in (await platform.anonymous.get(f"/invites/{code}")).json["guild"]


async def test_an_absent_field_stays_and_null_clears(owner: Caller, guild: Guild) -> None:
    path = f"/guilds/{guild.id}/welcome-screen"
    await owner.patch(path, {"description": "Hi", "welcome_channels": [shown(guild.general)]})
    one = (await owner.patch(path, {"description": None})).json
    assert one == {
        "description": None,
        "welcome_channels": [shown(guild.general, emoji_id=None, emoji_name=None)],
    }
    assert (await owner.patch(path, {"welcome_channels": None})).json == {"description": None, "welcome_channels": []}


async def test_the_same_body_again_is_not_announced(platform: Platform, owner: Caller, guild: Guild) -> None:
    body = {"enabled": True, "description": "Hi", "welcome_channels": [shown(guild.general)]}
    await owner.patch(f"/guilds/{guild.id}/welcome-screen", body)
    platform.heard.clear()
    assert (await owner.patch(f"/guilds/{guild.id}/welcome-screen", body)).status == 200
    assert platform.heard == []


async def test_all_errors_are_reported_at_once_and_nothing_is_changed(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    other = await platform.guild(await platform.person())
    category = await guild.channel(type=CATEGORY)
    listed = [
        shown(other.general, "  "),
        shown(category, emoji_id=str(await emoji(other))),
        shown(guild.general, emoji_name="wave"),
        shown(guild.general),
    ]
    reply = await owner.patch(f"/guilds/{guild.id}/welcome-screen", {"description": "x", "welcome_channels": listed})
    assert reply.code == 50035
    for path in ("0.channel_id", "0.description", "1.channel_id", "1.emoji_id", "2.emoji_name", "3.channel_id"):
        assert reply.errors_at(f"welcome_channels.{path}"), path
    assert (await owner.get(f"/guilds/{guild.id}/welcome-screen")).code == 10069
    assert platform.heard == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"description": "d" * 141}, "description"),
        ({"welcome_channels": [shown(1)] * 6}, "welcome_channels"),
        ({"welcome_channels": [shown(1, "d" * 51)]}, "welcome_channels.0.description"),
        ({"welcome_channels": [shown(1, "")]}, "welcome_channels.0.description"),
        ({"welcome_channels": [{"description": "d"}]}, "welcome_channels.0.channel_id"),
        ({"enabled": "yes"}, "enabled"),
    ],
)
async def test_values_out_of_bounds_are_reported_at_their_field(
    owner: Caller, guild: Guild, body: dict[str, Any], path: str
) -> None:
    assert (await owner.patch(f"/guilds/{guild.id}/welcome-screen", body)).errors_at(path)


async def test_a_deleted_channel_is_not_shown(owner: Caller, guild: Guild) -> None:
    path, deleted = f"/guilds/{guild.id}/welcome-screen", await guild.channel()
    await owner.patch(path, {"welcome_channels": [shown(deleted), shown(guild.general)]})
    await owner.delete(f"/channels/{deleted}")
    left = (await owner.get(path)).json["welcome_channels"]
    assert [channel["channel_id"] for channel in left] == [str(guild.general)]
