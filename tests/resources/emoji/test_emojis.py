"""The emojis of a guild (resources: emoji)."""

import asyncio
import base64
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import insert

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import emojis
from tests.resources.guild.pictures import picture
from tests.support.harness import Caller, Guild, Platform, Reply

AUDIT, EMOJIS_UPDATE = "GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_EMOJIS_UPDATE"
CREATE, MANAGE = Permissions.CREATE_GUILD_EXPRESSIONS, Permissions.MANAGE_GUILD_EXPRESSIONS
PNG, GIF = picture(), picture("GIF", frames=3)


def heavy() -> str:
    """An image that exceeds the file size of emojis, but not that of icons."""
    file = BytesIO()
    Image.effect_noise((800, 800), 90).save(file, "PNG")
    assert len(file.getvalue()) > 256 << 10
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def make(caller: Caller, guild: Guild, name: str = "moot", image: str = PNG, **fields: Any) -> Reply:
    return await caller.post(f"/guilds/{guild.id}/emojis", {"name": name, "image": image, **fields})


async def test_an_emoji_is_stored_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    role = await guild.role()
    body = {"name": "moot", "image": PNG, "roles": [str(int(role)), None, str(int(role))]}
    reply = await owner.post(f"/guilds/{guild.id}/emojis", body, reason="for feasts")
    assert reply.status == 201
    emoji = reply.json
    creator = emoji.pop("user")
    assert (creator["id"], creator["username"]) == (str(int(owner.id)), "alice")
    assert emoji == {
        "id": emoji["id"],
        "name": "moot",
        "roles": [str(int(role))],
        "require_colons": True,
        "managed": False,
        "animated": False,
        "available": True,
    }
    assert platform.heard_names == [AUDIT, EMOJIS_UPDATE]
    assert platform.heard_data(EMOJIS_UPDATE) == [{"guild_id": str(int(guild.id)), "emojis": [emoji]}]
    assert await guild.audit_log() == [(60, int(emoji["id"]), "for feasts")]
    assert platform.heard_data(AUDIT)[0]["changes"] == [
        {"key": "name", "new_value": "moot"},
        {"key": "roles", "new_value": [str(int(role))]},
    ]
    listed = (await owner.get(f"/guilds/{guild.id}/emojis")).json
    assert listed == [emoji | {"user": creator}]
    assert (await owner.get(f"/guilds/{guild.id}")).json["emojis"] == [emoji]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "AVIF"])
async def test_every_image_format_is_accepted_and_animations_are_marked(owner: Caller, guild: Guild, kind: str) -> None:
    assert (await make(owner, guild, image=picture(kind))).json["animated"] is False
    if kind in {"GIF", "WEBP"}:
        assert (await make(owner, guild, image=picture(kind, frames=2))).json["animated"] is True


@pytest.mark.parametrize(
    ("fields", "at", "code"),
    [
        ({"name": "x"}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": "x" * 33}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": "with space"}, "name", "STRING_TYPE_REGEX"),
        ({"name": "line\n"}, "name", "STRING_TYPE_REGEX"),
        ({"name": "émoji"}, "name", "STRING_TYPE_REGEX"),
        ({"name": None}, "name", "BASE_TYPE_REQUIRED"),
        ({"name": True}, "name", "STRING_TYPE_CONVERT"),
        ({"image": None}, "image", "BASE_TYPE_REQUIRED"),
        ({"image": "moot.png"}, "image", "IMAGE_INVALID"),
        ({"image": "data:image/png;base64,AAAA"}, "image", "IMAGE_INVALID"),
        ({"image": "data:image/svg+xml;base64,AAAA"}, "image", "IMAGE_INVALID"),
        ({"image": heavy()}, "image", "IMAGE_INVALID"),
        ({"roles": "x"}, "roles", "LIST_TYPE_CONVERT"),
        ({"roles": ["x"]}, "roles.0", "NUMBER_TYPE_COERCE"),
        ({"roles": ["1"]}, "roles.0", "BASE_TYPE_CHOICES"),
    ],
)
async def test_a_refused_emoji_names_the_field_and_leaves_nothing(
    platform: Platform, owner: Caller, guild: Guild, fields: dict[str, Any], at: str, code: str
) -> None:
    reply = await owner.post(f"/guilds/{guild.id}/emojis", {"name": "moot", "image": PNG, **fields})
    assert (reply.status, reply.code, reply.errors_at(at)) == (400, 50035, [code])
    assert (platform.heard, await guild.audit_log()) == ([], [])
    assert (await owner.get(f"/guilds/{guild.id}/emojis")).json == []


async def test_all_errors_are_reported_at_once(owner: Caller, guild: Guild) -> None:
    reply = await owner.post(f"/guilds/{guild.id}/emojis", {"name": "-", "image": "x", "roles": 1})
    assert set(reply.json["errors"]) == {"name", "image", "roles"}


async def test_an_avif_is_accepted_as_emoji_but_not_as_icon(owner: Caller, guild: Guild) -> None:
    reply = await owner.patch(f"/guilds/{guild.id}", {"icon": picture("AVIF")})
    assert reply.errors_at("icon") == ["IMAGE_INVALID"]


async def fill(platform: Platform, guild: Guild, static: int, moving: int) -> None:
    rows = [
        {"guild_id": guild.id, "id": platform.ids.next(), "name": f"e{n}", "animated": n >= static, "image": "0" * 32}
        for n in range(static + moving)
    ]
    async with platform.database.transaction() as tx:
        await tx.execute_many(Query(insert(emojis)), rows)
    await guild.set(name=guild.owner.name)


@pytest.mark.parametrize(("tier", "maximum"), [(0, 50), (1, 100), (2, 150), (3, 250)])
async def test_static_and_animated_emojis_have_separate_limits_by_tier(
    platform: Platform, owner: Caller, guild: Guild, tier: int, maximum: int
) -> None:
    await guild.set(premium_tier=tier)
    await fill(platform, guild, maximum - 1, maximum)
    refused = await make(owner, guild, image=GIF)
    assert (refused.status, refused.code) == (400, 30018)
    assert (await make(owner, guild)).status == 201
    refused = await make(owner, guild)
    assert (refused.status, refused.code) == (400, 30008)
    assert len((await owner.get(f"/guilds/{guild.id}/emojis")).json) == 2 * maximum


async def test_concurrent_requests_do_not_exceed_the_limit(platform: Platform, owner: Caller, guild: Guild) -> None:
    await fill(platform, guild, 49, 0)
    replies = await asyncio.gather(*(make(owner, guild, name=f"race{n}") for n in range(3)))
    assert sorted(reply.status for reply in replies) == [201, 400, 400]


async def test_emojis_beyond_a_lowered_tier_are_listed_as_unavailable(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await guild.set(premium_tier=1)
    await fill(platform, guild, 51, 0)
    await guild.set(premium_tier=0)
    listed = (await owner.get(f"/guilds/{guild.id}/emojis")).json
    assert [emoji["available"] for emoji in listed] == [True] * 50 + [False]
    sent = (await owner.post(f"/channels/{guild.general}/messages", {"content": "x"})).json["id"]
    react = f"/channels/{guild.general}/messages/{sent}/reactions"
    assert (await owner.put(f"{react}/e:{listed[-1]['id']}/@me")).code == 10014
    # When an older one goes, there is room.
    assert (await owner.delete(f"/guilds/{guild.id}/emojis/{listed[0]['id']}")).status == 204
    assert all(emoji["available"] for emoji in platform.heard_data(EMOJIS_UPDATE)[-1]["emojis"])
    assert (await owner.put(f"{react}/e:{listed[-1]['id']}/@me")).status == 204


async def test_only_real_changes_are_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    role = await guild.role()
    emoji = (await make(owner, guild)).json
    path = f"/guilds/{guild.id}/emojis/{emoji['id']}"
    platform.heard.clear()
    reply = await owner.patch(path, {"name": "hall", "roles": [str(int(role))]}, reason="better")
    assert reply.status == 200
    assert reply.json == emoji | {"name": "hall", "roles": [str(int(role))]}
    assert platform.heard_names == [AUDIT, EMOJIS_UPDATE]
    entry = platform.heard_data(AUDIT)[0]
    assert (entry["action_type"], entry["reason"]) == (61, "better")
    assert entry["changes"][0] == {"key": "name", "old_value": "moot", "new_value": "hall"}
    platform.heard.clear()
    for same in ({}, {"name": "hall"}, {"roles": [str(int(role))]}):
        assert (await owner.patch(path, same)).json["name"] == "hall"
    assert platform.heard == []
    assert (await owner.patch(path, {"roles": None})).json["roles"] == []
    # Whom everyone may use, everyone may use.
    await owner.patch(path, {"roles": [str(int(role))]})
    assert (await owner.patch(path, {"roles": [str(int(guild.id)), str(int(role))]})).json["roles"] == []
    for body, at in (({"name": None}, "name"), ({"name": "-"}, "name"), ({"roles": ["1"]}, "roles.0")):
        assert (await owner.patch(path, body)).errors_at(at), body


async def test_a_deleted_emoji_is_removed_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    kept, emoji = (await make(owner, guild)).json, (await make(owner, guild)).json
    path = f"/guilds/{guild.id}/emojis/{emoji['id']}"
    platform.heard.clear()
    assert (await owner.delete(path, reason="old")).status == 204
    assert platform.heard_names == [AUDIT, EMOJIS_UPDATE]
    assert [e["id"] for e in platform.heard_data(EMOJIS_UPDATE)[0]["emojis"]] == [kept["id"]]
    assert (await guild.audit_log())[-1] == (62, int(emoji["id"]), "old")
    for reply in (await owner.get(path), await owner.patch(path, {"name": "xx"}), await owner.delete(path)):
        assert (reply.status, reply.code) == (404, 10014)


async def test_own_emojis_need_the_create_and_others_the_manage_permission(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await guild.set(name="strict")
    maker = await guild.member_with(CREATE)
    manager = await guild.member_with(MANAGE)
    own = (await make(maker, guild)).json["id"]
    theirs = (await make(owner, guild)).json["id"]
    path = f"/guilds/{guild.id}/emojis"
    platform.heard.clear()
    for method, body in (("PATCH", {"name": "mine"}), ("DELETE", None)):
        refused = await maker.request(method, f"{path}/{theirs}", body)
        assert (refused.status, refused.code) == (403, 50013)
    assert platform.heard == []
    assert (await maker.patch(f"{path}/{own}", {"name": "mine"})).status == 200
    assert (await manager.patch(f"{path}/{own}", {"name": "ours"})).status == 200
    assert (await manager.patch(f"{path}/{theirs}", {"name": "ours"})).status == 200
    assert (await maker.delete(f"{path}/{own}")).status == 204
    assert (await manager.delete(f"{path}/{theirs}")).status == 204


async def test_managing_does_not_allow_creating_and_plain_members_see_no_creator(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), everyone=Permissions.VIEW_CHANNEL)
    maker, manager, guest = (
        await guild.member_with(CREATE),
        await guild.member_with(MANAGE),
        await guild.member_with(0),
    )
    assert (await make(manager, guild)).code == 50013
    own, theirs = (await make(maker, guild)).json["id"], (await make(guild.owner, guild)).json["id"]
    path = f"/guilds/{guild.id}/emojis"
    creators_shown = {
        caller: ["user" in (await caller.get(f"{path}/{emoji}")).json for emoji in (own, theirs)]
        for caller in (maker, manager, guest)
    }
    assert creators_shown == {maker: [True, False], manager: [True, True], guest: [False, False]}
    listed = {
        caller: ["user" in emoji for emoji in (await caller.get(path)).json] for caller in (maker, manager, guest)
    }
    assert listed == {maker: [True, True], manager: [True, True], guest: [False, False]}


async def test_emojis_of_other_guilds_are_unknown(platform: Platform, owner: Caller, guild: Guild) -> None:
    other = await platform.guild(await platform.person())
    foreign, role = (await make(other.owner, other)).json["id"], await other.role()
    platform.heard.clear()
    path = f"/guilds/{guild.id}/emojis/{foreign}"
    for reply in (await owner.get(path), await owner.patch(path, {"name": "xx"}), await owner.delete(path)):
        assert (reply.status, reply.code) == (404, 10014)
    assert (await make(owner, guild, roles=[str(int(role))])).errors_at("roles.0") == ["BASE_TYPE_CHOICES"]
    assert platform.heard == []


async def test_a_deleted_role_is_removed_from_emojis(owner: Caller, guild: Guild) -> None:
    first, second = await guild.role(), await guild.role()
    both = (await make(owner, guild, roles=[str(int(first)), str(int(second))])).json["id"]
    one = (await make(owner, guild, roles=[str(int(first))])).json["id"]
    assert (await owner.delete(f"/guilds/{guild.id}/roles/{first}")).status == 204
    roles = {e["id"]: e["roles"] for e in (await owner.get(f"/guilds/{guild.id}/emojis")).json}
    assert roles == {both: [str(int(second))], one: []}


async def test_reacting_with_an_emoji_needs_its_roles_and_in_other_guilds_a_permission(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    role = await guild.role()
    emoji = (await make(owner, guild, roles=[str(int(role))])).json
    holder, other = await platform.person(), await platform.person()
    await guild.join(holder, roles=[role])
    await guild.join(other)
    permissive = await platform.guild(await platform.person(), everyone=Permissions.DEFAULT)
    strict = await platform.guild(
        await platform.person(), everyone=Permissions.DEFAULT & ~Permissions.USE_EXTERNAL_EMOJIS
    )
    stranger = await platform.person()
    for joined_guild in (permissive, strict):
        await joined_guild.join(holder, stranger)

    async def react(caller: Caller, where: Guild) -> tuple[int, int]:
        sent = (await where.owner.post(f"/channels/{where.general}/messages", {"content": "x"})).json["id"]
        url = f"/channels/{where.general}/messages/{sent}/reactions/anything:{emoji['id']}/@me"
        reply = await caller.put(url)
        return reply.status, 0 if reply.status == 204 else reply.code

    assert await react(holder, guild) == (204, 0)
    assert platform.heard_data("MESSAGE_REACTION_ADD")[-1]["emoji"]["name"] == "moot"
    assert await react(other, guild) == (400, 10014)
    assert await react(holder, permissive) == (204, 0)
    assert await react(holder, strict) == (403, 50013)
    assert await react(stranger, permissive) == (400, 10014)


async def test_previews_show_the_emojis(platform: Platform, owner: Caller, guild: Guild) -> None:
    await guild.set(features=["DISCOVERABLE"])
    emoji = (await make(owner, guild)).json
    preview = (await (await platform.person()).get(f"/guilds/{guild.id}/preview")).json
    assert [e["id"] for e in preview["emojis"]] == [emoji["id"]]
    assert "user" not in preview["emojis"][0]


async def test_moderation_in_a_guild_of_the_elevated_level_needs_two_factors(owner: Caller, guild: Guild) -> None:
    manager, maker = await guild.member_with(MANAGE), await guild.member_with(CREATE)
    emoji, own = (await make(owner, guild)).json["id"], (await make(maker, guild)).json["id"]
    await guild.set(mfa_level=1)
    assert (await manager.patch(f"/guilds/{guild.id}/emojis/{emoji}", {"name": "xx"})).code == 60003
    assert (await maker.patch(f"/guilds/{guild.id}/emojis/{own}", {"name": "xx"})).status == 200
