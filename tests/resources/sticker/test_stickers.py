"""The stickers of a guild, and the platform's own (resources: sticker)."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import insert

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import stickers
from tests.resources.sticker.sticker_files import film, lottie, sticker_form, still
from tests.support.harness import Caller, Guild, Platform, Reply

AUDIT, STICKERS_UPDATE = "GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_STICKERS_UPDATE"
CREATE, MANAGE = Permissions.CREATE_GUILD_EXPRESSIONS, Permissions.MANAGE_GUILD_EXPRESSIONS


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def make(caller: Caller, guild: Guild, file: bytes | None = None, **fields: str) -> Reply:
    sent = sticker_form(still() if file is None else file, **fields)
    return await caller.post(f"/guilds/{guild.id}/stickers", **sent)


async def blobs(platform: Platform) -> list[str]:
    return [key async for key in platform.services.blobs.keys("")]


async def test_a_sticker_is_stored_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    reply = await owner.post(f"/guilds/{guild.id}/stickers", **sticker_form(still()), reason="for feasts")
    assert reply.status == 201
    sticker = reply.json
    creator = sticker.pop("user")
    assert creator["id"] == str(int(owner.id))
    assert sticker == {
        "id": sticker["id"],
        "name": "Moot",
        "description": "A hall",
        "tags": "moot, hall",
        "type": 2,
        "format_type": 1,
        "available": True,
        "guild_id": str(int(guild.id)),
    }
    assert platform.heard_names == [AUDIT, STICKERS_UPDATE]
    assert platform.heard_data(STICKERS_UPDATE) == [{"guild_id": str(int(guild.id)), "stickers": [sticker]}]
    assert await guild.audit_log() == [(90, int(sticker["id"]), "for feasts")]
    changes = {change["key"]: change["new_value"] for change in platform.heard_data(AUDIT)[0]["changes"]}
    assert changes == sticker
    path = f"/guilds/{guild.id}/stickers"
    assert (await owner.get(path)).json == [sticker | {"user": creator}]
    assert (await owner.get(f"{path}/{sticker['id']}")).json == sticker | {"user": creator}
    stranger = await platform.person()
    assert (await stranger.get(f"/stickers/{sticker['id']}")).json == sticker
    assert (await owner.get(f"/guilds/{guild.id}")).json["stickers"] == [sticker]
    # What was uploaded is not kept twice.
    assert [key.split("/")[0] for key in await blobs(platform)] == ["images"]


@pytest.mark.parametrize(
    ("file", "kind"), [(still(), 1), (still(16), 1), (film(20), 2), (film(20, "GIF"), 4), (still(32, "GIF"), 4)]
)
async def test_the_format_is_detected_from_the_content(owner: Caller, guild: Guild, file: bytes, kind: int) -> None:
    assert (await make(owner, guild, file)).json["format_type"] == kind


@pytest.mark.parametrize("feature", ["VERIFIED", "PARTNERED"])
async def test_lottie_needs_a_verified_or_partnered_guild(
    platform: Platform, owner: Caller, guild: Guild, feature: str
) -> None:
    refused = await make(owner, guild, lottie())
    assert (refused.status, refused.code, platform.heard) == (400, 50123, [])
    await guild.set(features=[feature])
    assert (await make(owner, guild, lottie())).json["format_type"] == 3


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (b"", 50046),
        (b"no picture", 50046),
        (still(32, "JPEG"), 50046),
        (still(32, "WEBP"), 50046),
        (still(321), 50046),
        (still()[:-40], 50046),
        (film(20)[:-60], 50046),
        (film(51), 170007),
        (film(51, "GIF"), 170007),
        (film(60, "GIF", ms=0), 170007),
        (film(1001, ms=1, side=2), 170004),
        (b"{", 170001),
        (b"{}", 170001),
        (b'{"layers":' + b"[" * 5000, 170001),
        (lottie(fr=0), 170006),
        (lottie(fr="fast"), 170006),
        (lottie(op=10**400), 170004),
        (lottie(assets=5, layers=5), 170001),
        (lottie(layers=[{}] * 50_000), 170001),
        (lottie(assets=5, layers=[[[{"x": "y"}]]]), 170001),
        (lottie(fr=61), 170003),
        (lottie(w=321), 170005),
        (lottie(op=0), 170004),
        (lottie(op=1001), 170004),
        (lottie(op=301), 170007),
        (lottie(assets=[{"p": "data:image/png;base64,AAAA"}]), 170002),
        (lottie(layers=[{"ks": {"o": {"k": 1, "x": "var $bm_rt = alert(1);"}}}]), 170001),
    ],
)
async def test_an_invalid_file_is_refused_and_leaves_no_trace(
    platform: Platform, owner: Caller, guild: Guild, file: bytes, code: int
) -> None:
    await guild.set(features=["VERIFIED"])
    reply = await make(owner, guild, file)
    assert (reply.status, reply.code) == (400, code)
    assert (platform.heard, await guild.audit_log(), await blobs(platform)) == ([], [], [])


async def test_a_large_missing_or_misnamed_file_is_refused(platform: Platform, owner: Caller, guild: Guild) -> None:
    assert (await make(owner, guild, bytes((512 << 10) + 1))).code == 40005
    path = f"/guilds/{guild.id}/stickers"
    assert (await owner.post(path, **sticker_form(None))).errors_at("file") == ["BASE_TYPE_REQUIRED"]
    body = {"name": "Moot", "tags": "moot", "file": "x"}
    assert (await owner.post(path, body)).errors_at("file") == ["BASE_TYPE_REQUIRED"]
    assert (await owner.post(path, **sticker_form(still(), field="files[0]"))).code == 50035
    assert (platform.heard, await blobs(platform)) == ([], [])


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"name": "x"}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "x" * 31}, "name"),
        ({"tags": ""}, "tags"),
        ({"tags": "  "}, "tags"),
        ({"tags": "x" * 201}, "tags"),
        ({"description": "x"}, "description"),
        ({"description": "x" * 101}, "description"),
    ],
)
async def test_a_field_out_of_bounds_is_refused_at_its_path(
    platform: Platform, owner: Caller, guild: Guild, fields: dict[str, str], at: str
) -> None:
    reply = await make(owner, guild, None, **fields)
    assert (reply.status, reply.code, len(reply.errors_at(at))) == (400, 50035, 1)
    assert (platform.heard, await guild.audit_log()) == ([], [])
    sticker = (await make(owner, guild)).json
    changed = await owner.patch(f"/guilds/{guild.id}/stickers/{sticker['id']}", fields)
    assert (changed.code, len(changed.errors_at(at))) == (50035, 1)


async def test_numbers_in_a_form_are_texts_and_a_description_may_be_empty(owner: Caller, guild: Guild) -> None:
    sticker = (await make(owner, guild, name="42", tags="1", description="")).json
    assert (sticker["name"], sticker["tags"], sticker["description"]) == ("42", "1", "")


async def fill(platform: Platform, guild: Guild, count: int) -> None:
    rows = [{"guild_id": guild.id, "id": platform.ids.next(), "name": f"s{n}"} for n in range(count)]
    async with platform.database.transaction() as tx:
        await tx.execute_many(Query(insert(stickers)), rows)
    await guild.set(name="filled")


@pytest.mark.parametrize(
    ("tier", "features", "maximum"), [(0, [], 5), (1, [], 15), (2, [], 30), (3, [], 60), (0, ["MORE_STICKERS"], 60)]
)
async def test_the_boost_tier_limits_the_number_of_stickers(
    platform: Platform, owner: Caller, guild: Guild, tier: int, features: list[str], maximum: int
) -> None:
    await guild.set(premium_tier=tier, features=features)
    await fill(platform, guild, maximum - 1)
    replies = await asyncio.gather(make(owner, guild), make(owner, guild))
    assert sorted(reply.status for reply in replies) == [201, 400]
    assert (await make(owner, guild)).code == 30039
    await guild.set(premium_tier=0, features=[])
    listed = (await owner.get(f"/guilds/{guild.id}/stickers")).json
    assert [sticker["available"] for sticker in listed] == [True] * 5 + [False] * (maximum - 5)


async def test_only_real_changes_are_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    sticker = (await make(owner, guild)).json
    path = f"/guilds/{guild.id}/stickers/{sticker['id']}"
    platform.heard.clear()
    body: dict[str, Any] = {"name": "Hall", "tags": "hall", "description": None}
    reply = await owner.patch(path, body, reason="shorter")
    assert reply.json == sticker | body
    assert platform.heard_names == [AUDIT, STICKERS_UPDATE]
    entry = platform.heard_data(AUDIT)[0]
    assert (entry["action_type"], entry["reason"]) == (91, "shorter")
    assert {"key": "name", "old_value": "Moot", "new_value": "Hall"} in entry["changes"]
    platform.heard.clear()
    for same in ({}, body):
        assert (await owner.patch(path, same)).json == reply.json
    assert platform.heard == []
    assert (await owner.patch(path, {"name": None})).errors_at("name") == ["BASE_TYPE_REQUIRED"]


async def test_a_deleted_sticker_is_removed_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    kept, sticker = (await make(owner, guild)).json["id"], (await make(owner, guild)).json["id"]
    path = f"/guilds/{guild.id}/stickers/{sticker}"
    platform.heard.clear()
    assert (await owner.delete(path, reason="old")).status == 204
    assert platform.heard_names == [AUDIT, STICKERS_UPDATE]
    assert [s["id"] for s in platform.heard_data(STICKERS_UPDATE)[0]["stickers"]] == [kept]
    assert (await guild.audit_log())[-1] == (92, int(sticker), "old")
    replies = (
        await owner.get(path),
        await owner.patch(path, {"name": "xx"}),
        await owner.delete(path),
        await owner.get(f"/stickers/{sticker}"),
    )
    assert {(reply.status, reply.code) for reply in replies} == {(404, 10060)}


async def test_own_stickers_need_the_create_and_others_the_manage_permission(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), everyone=Permissions.VIEW_CHANNEL)
    maker, manager = await guild.member_with(CREATE), await guild.member_with(MANAGE)
    guest = await guild.member_with(0)
    own, theirs = (await make(maker, guild)).json["id"], (await make(guild.owner, guild)).json["id"]
    platform.heard.clear()
    assert (await make(manager, guild)).code == 50013
    path = f"/guilds/{guild.id}/stickers"
    for method, body in (("PATCH", {"name": "mine"}), ("DELETE", None)):
        refused = await maker.request(method, f"{path}/{theirs}", body)
        assert (refused.status, refused.code) == (403, 50013)
    assert platform.heard == []
    assert (await maker.patch(f"{path}/{own}", {"name": "mine"})).status == 200
    assert (await manager.patch(f"{path}/{own}", {"name": "ours"})).status == 200
    for caller, shows_creator in ((maker, True), (manager, True), (guest, False)):
        assert ["user" in s for s in (await caller.get(path)).json] == [shows_creator, shows_creator]
        assert ("user" in (await caller.get(f"{path}/{theirs}")).json) is shows_creator
    assert (await maker.delete(f"{path}/{own}")).status == 204
    assert (await manager.delete(f"{path}/{theirs}")).status == 204


async def test_stickers_of_other_guilds_are_unknown(platform: Platform, owner: Caller, guild: Guild) -> None:
    other = await platform.guild(await platform.person())
    foreign = (await make(other.owner, other)).json["id"]
    platform.heard.clear()
    path = f"/guilds/{guild.id}/stickers/{foreign}"
    for reply in (await owner.get(path), await owner.patch(path, {"name": "xx"}), await owner.delete(path)):
        assert (reply.status, reply.code) == (404, 10060)
    assert platform.heard == []


async def test_every_user_has_the_standard_pack(owner: Caller) -> None:
    (pack,) = (await owner.get("/sticker-packs")).json["sticker_packs"]
    assert (await owner.get(f"/sticker-packs/{pack['id']}")).json == pack
    assert len(pack["stickers"]) == 6
    for sticker in pack["stickers"]:
        assert (sticker["type"], sticker["pack_id"]) == (1, pack["id"])
        assert (await owner.get(f"/stickers/{sticker['id']}")).json == sticker
    assert (await owner.get("/sticker-packs/99")).code == 10061
    assert (await owner.get("/stickers/99")).code == 10060
