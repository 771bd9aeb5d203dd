"""The sounds of a guild (resources: soundboard)."""

import asyncio
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert

from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.unit_of_work import run
from moothall.objects.permissions import Permissions
from moothall.resources.guild.operations import change_guild
from moothall.resources.soundboard.operations import announce_sound_availability
from moothall.storage.database import Query
from moothall.storage.schema import sounds
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, opus, uri, vorbis
from tests.support.harness import Caller, Guild, Platform, Reply

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
CREATED, CHANGED, DELETED, SEVERAL = (
    f"GUILD_SOUNDBOARD_{what}" for what in ("SOUND_CREATE", "SOUND_UPDATE", "SOUND_DELETE", "SOUNDS_UPDATE")
)
CREATE, MANAGE = Permissions.CREATE_GUILD_EXPRESSIONS, Permissions.MANAGE_GUILD_EXPRESSIONS
SOUND = uri(mp3(1))


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def make(caller: Caller, guild: Guild, **fields: Any) -> Reply:
    return await caller.post(f"/guilds/{guild.id}/soundboard-sounds", {"name": "gong", "sound": SOUND, **fields})


async def test_a_sound_is_stored_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    body = {"name": " gong ", "sound": SOUND, "volume": 0.3, "emoji_name": "🔔"}
    reply = await owner.post(f"/guilds/{guild.id}/soundboard-sounds", body, reason="dinner")
    assert reply.status == 201
    sound = reply.json
    creator = sound.pop("user")
    assert creator["id"] == str(int(owner.id))
    assert sound == {
        "name": "gong",
        "sound_id": sound["sound_id"],
        "volume": 0.3,
        "emoji_id": None,
        "emoji_name": "🔔",
        "guild_id": str(int(guild.id)),
        "available": True,
    }
    assert platform.heard_names == [AUDIT, CREATED]
    assert platform.heard_data(CREATED) == [sound]
    assert await guild.audit_log() == [(130, int(sound["sound_id"]), "dinner")]
    changes = {change["key"]: change["new_value"] for change in platform.heard_data(AUDIT)[0]["changes"]}
    assert changes == {"name": "gong", "volume": 0.3, "emoji_name": "🔔", "sound_id": sound["sound_id"]}
    path = f"/guilds/{guild.id}/soundboard-sounds"
    assert (await owner.get(path)).json == {"items": [sound | {"user": creator}]}
    assert (await owner.get(f"{path}/{sound['sound_id']}")).json == sound | {"user": creator}


@pytest.mark.parametrize("data", [uri(mp3(5)), uri(opus(5), "audio/ogg"), uri(vorbis(), "audio/ogg")])
async def test_mp3_opus_and_vorbis_are_accepted_with_default_fields(owner: Caller, guild: Guild, data: str) -> None:
    for more in ({}, {"volume": None, "emoji_id": None, "emoji_name": None}):
        sound = (await make(owner, guild, sound=data, **more)).json
        assert (sound["volume"], sound["emoji_id"], sound["emoji_name"]) == (1, None, None)


@pytest.mark.parametrize(
    ("fields", "at", "code"),
    [
        ({"name": "x"}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": "    "}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": "x" * 33}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": None}, "name", "BASE_TYPE_REQUIRED"),
        ({"sound": None}, "sound", "BASE_TYPE_REQUIRED"),
        ({"sound": "gong.mp3"}, "sound", "BASE_TYPE_BAD_TYPE"),
        ({"sound": uri(b"no music")}, "sound", "BASE_TYPE_BAD_TYPE"),
        ({"sound": uri(bytes((512 << 10) + 1))}, "sound", "BASE_TYPE_BAD_TYPE"),
        ({"volume": 1.1}, "volume", "NUMBER_TYPE_MAX"),
        ({"volume": -0.1}, "volume", "NUMBER_TYPE_MIN"),
        ({"volume": "loud"}, "volume", "NUMBER_TYPE_COERCE"),
        ({"emoji_id": "1"}, "emoji_id", "EMOJI_INVALID"),
        ({"emoji_id": "x"}, "emoji_id", "NUMBER_TYPE_COERCE"),
        ({"emoji_name": "bell"}, "emoji_name", "EMOJI_INVALID"),
    ],
)
async def test_a_refused_sound_names_the_field_and_leaves_nothing(
    platform: Platform, owner: Caller, guild: Guild, fields: dict[str, Any], at: str, code: str
) -> None:
    reply = await make(owner, guild, **fields)
    assert (reply.status, reply.code, reply.errors_at(at)) == (400, 50035, [code])
    assert (platform.heard, await guild.audit_log()) == ([], [])
    assert (await owner.get(f"/guilds/{guild.id}/soundboard-sounds")).json == {"items": []}


@pytest.mark.parametrize("data", [uri(mp3(5.3)), uri(opus(5.3), "audio/ogg"), uri(opus(30, says=1), "audio/ogg")])
async def test_a_sound_lasts_at_most_five_and_a_fifth_seconds(
    platform: Platform, owner: Caller, guild: Guild, data: str
) -> None:
    reply = await make(owner, guild, sound=data)
    assert (reply.status, reply.code) == (400, 50124)
    assert (platform.heard, await guild.audit_log()) == ([], [])


async def fill(platform: Platform, guild: Guild, count: int) -> None:
    rows = [
        {"guild_id": guild.id, "id": platform.ids.next(), "name": f"s{n}", "file": "0" * 32, "format": "mp3"}
        for n in range(count)
    ]
    async with platform.database.transaction() as tx:
        await tx.execute_many(Query(insert(sounds)), rows)
    await guild.set(name="filled")


@pytest.mark.parametrize(
    ("tier", "features", "maximum"),
    [(0, [], 8), (1, [], 24), (2, [], 36), (3, [], 48), (0, ["MORE_SOUNDBOARD"], 96)],
)
async def test_the_boost_tier_limits_the_number_of_sounds(
    platform: Platform, owner: Caller, guild: Guild, tier: int, features: list[str], maximum: int
) -> None:
    await guild.set(premium_tier=tier, features=features)
    await fill(platform, guild, maximum - 1)
    replies = await asyncio.gather(make(owner, guild), make(owner, guild))
    assert sorted(reply.status for reply in replies) == [201, 400]
    assert (await make(owner, guild)).code == 30045
    await guild.set(premium_tier=0, features=[])
    listed = (await owner.get(f"/guilds/{guild.id}/soundboard-sounds")).json["items"]
    assert [sound["available"] for sound in listed] == [True] * 8 + [False] * (maximum - 8)


async def test_only_real_changes_are_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    emoji = (await owner.post(f"/guilds/{guild.id}/emojis", {"name": "moot", "image": picture()})).json["id"]
    sound = (await make(owner, guild, emoji_name="🔔")).json
    path = f"/guilds/{guild.id}/soundboard-sounds/{sound['sound_id']}"
    platform.heard.clear()
    reply = await owner.patch(path, {"name": "bell", "volume": 0.5, "emoji_id": emoji}, reason="softer")
    assert reply.json == sound | {"name": "bell", "volume": 0.5, "emoji_id": emoji, "emoji_name": None}
    assert platform.heard_names == [AUDIT, CHANGED]
    event = platform.heard_data(CHANGED)[0]
    assert event == {key: value for key, value in reply.json.items() if key != "user"}
    entry = platform.heard_data(AUDIT)[0]
    assert (entry["action_type"], entry["reason"]) == (131, "softer")
    assert {"key": "volume", "old_value": 1.0, "new_value": 0.5} in entry["changes"]
    platform.heard.clear()
    for body in ({}, {"name": "bell"}, {"volume": 0.5}, {"emoji_id": emoji}):
        assert (await owner.patch(path, body)).json == reply.json
    assert platform.heard == []
    plain = (await owner.patch(path, {"volume": None, "emoji_id": None})).json
    assert (plain["volume"], plain["emoji_id"], plain["emoji_name"]) == (1, None, None)
    assert (await owner.patch(path, {"emoji_name": "🥁"})).json["emoji_name"] == "🥁"
    for body, at in (({"name": None}, "name"), ({"volume": 2}, "volume"), ({"emoji_name": "x"}, "emoji_name")):
        assert (await owner.patch(path, body)).errors_at(at), body


async def test_a_deleted_sound_is_removed_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    sound = (await make(owner, guild)).json["sound_id"]
    path = f"/guilds/{guild.id}/soundboard-sounds/{sound}"
    platform.heard.clear()
    assert (await owner.delete(path, reason="enough")).status == 204
    assert platform.heard_names == [AUDIT, DELETED]
    assert platform.heard_data(DELETED) == [{"guild_id": str(int(guild.id)), "sound_id": sound}]
    assert (await guild.audit_log())[-1] == (132, int(sound), "enough")
    for reply in (await owner.get(path), await owner.patch(path, {"name": "xx"}), await owner.delete(path)):
        assert (reply.status, reply.code) == (404, 10097)


async def test_a_deleted_emoji_is_removed_from_sounds(platform: Platform, owner: Caller, guild: Guild) -> None:
    emoji = (await owner.post(f"/guilds/{guild.id}/emojis", {"name": "moot", "image": picture()})).json["id"]
    named = [(await make(owner, guild, emoji_id=emoji)).json["sound_id"] for _ in range(2)]
    other = (await make(owner, guild, emoji_name="🔔")).json["sound_id"]
    platform.heard.clear()
    assert (await owner.delete(f"/guilds/{guild.id}/emojis/{emoji}")).status == 204
    assert platform.heard_names == [AUDIT, "GUILD_EMOJIS_UPDATE", SEVERAL]
    event = platform.heard_data(SEVERAL)[0]
    assert event["guild_id"] == str(int(guild.id))
    assert {s["sound_id"]: (s["emoji_id"], s["emoji_name"]) for s in event["soundboard_sounds"]} == {
        **dict.fromkeys(named, (None, None)),
        other: (None, "🔔"),
    }
    listed = (await owner.get(f"/guilds/{guild.id}/soundboard-sounds")).json["items"]
    assert [{k: v for k, v in s.items() if k != "user"} for s in listed] == event["soundboard_sounds"]


async def test_own_sounds_need_the_create_and_others_the_manage_permission(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), everyone=Permissions.VIEW_CHANNEL)
    maker, manager = await guild.member_with(CREATE), await guild.member_with(MANAGE)
    guest = await guild.member_with(0)
    own, theirs = (await make(maker, guild)).json["sound_id"], (await make(guild.owner, guild)).json["sound_id"]
    assert (await make(manager, guild)).code == 50013
    path = f"/guilds/{guild.id}/soundboard-sounds"
    platform.heard.clear()
    for method, body in (("PATCH", {"name": "mine"}), ("DELETE", None)):
        refused = await maker.request(method, f"{path}/{theirs}", body)
        assert (refused.status, refused.code) == (403, 50013)
    assert platform.heard == []
    assert (await maker.patch(f"{path}/{own}", {"name": "mine"})).status == 200
    assert (await manager.patch(f"{path}/{own}", {"name": "ours"})).status == 200
    for caller, shows_creator in ((maker, True), (manager, True), (guest, False)):
        assert ["user" in s for s in (await caller.get(path)).json["items"]] == [shows_creator, shows_creator]
        assert ("user" in (await caller.get(f"{path}/{theirs}")).json) is shows_creator
    assert (await maker.delete(f"{path}/{own}")).status == 204
    assert (await manager.delete(f"{path}/{theirs}")).status == 204


async def test_sounds_of_other_guilds_are_unknown(platform: Platform, owner: Caller, guild: Guild) -> None:
    other = await platform.guild(await platform.person())
    foreign = (await make(other.owner, other)).json["sound_id"]
    emoji = (await other.owner.post(f"/guilds/{other.id}/emojis", {"name": "moot", "image": picture()})).json["id"]
    platform.heard.clear()
    path = f"/guilds/{guild.id}/soundboard-sounds/{foreign}"
    for reply in (await owner.get(path), await owner.patch(path, {"name": "xx"}), await owner.delete(path)):
        assert (reply.status, reply.code) == (404, 10097)
    assert (await make(owner, guild, emoji_id=emoji)).errors_at("emoji_id") == ["EMOJI_INVALID"]
    assert platform.heard == []


async def test_every_user_may_list_the_default_sounds(platform: Platform) -> None:
    listed = (await (await platform.person()).get("/soundboard-default-sounds")).json
    assert [sound["sound_id"] for sound in listed] == [str(n) for n in range(1, 7)]
    assert all("guild_id" not in sound and sound["emoji_name"] for sound in listed)


async def test_a_lowered_tier_that_disables_sounds_is_announced(platform: Platform, guild: Guild) -> None:
    await guild.set(premium_tier=1)
    await fill(platform, guild, 9)

    async def set_tier(ctx: Context, tier: int) -> None:
        await ctx.visit_guild(guild.id)
        await announce_sound_availability(ctx, await change_guild(ctx, premium_tier=tier))

    for tier, available in ((0, 8), (1, 9)):
        platform.heard.clear()
        await run(platform.services, ANONYMOUS, partial(set_tier, tier=tier), lock=guild.id)
        assert platform.heard_names == [AUDIT, "GUILD_UPDATE", SEVERAL]
        listed = platform.heard_data(SEVERAL)[0]["soundboard_sounds"]
        assert sum(sound["available"] for sound in listed) == available
    platform.heard.clear()
    await run(platform.services, ANONYMOUS, partial(set_tier, tier=2), lock=guild.id)
    assert platform.heard_names == [AUDIT, "GUILD_UPDATE"]
