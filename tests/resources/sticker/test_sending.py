"""Stickers in messages (resources: message, create message)."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.sticker.sticker_files import film, sticker_form, still
from tests.support.harness import Caller, Guild, Platform, Reply

STRICT = Permissions.DEFAULT & ~Permissions.USE_EXTERNAL_STICKERS


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def sticker_in(guild: Guild, file: bytes | None = None) -> str:
    sent = sticker_form(still() if file is None else file)
    reply = await guild.owner.post(f"/guilds/{guild.id}/stickers", **sent)
    return str(reply.json["id"])


async def send(who: Caller, channel: int, *stickers: Any, **fields: Any) -> Reply:
    return await who.post(f"/channels/{channel}/messages", {"sticker_ids": list(stickers), **fields})


async def test_a_message_of_stickers_alone_keeps_them(platform: Platform, guild: Guild) -> None:
    ids = [await sticker_in(guild), await sticker_in(guild, film(3, "GIF"))]
    platform.heard.clear()
    reply = await send(guild.owner, guild.general, *ids, "1")
    assert reply.status == 200
    items = [
        {"id": ids[0], "name": "Moot", "format_type": 1},
        {"id": ids[1], "name": "Moot", "format_type": 4},
        {"id": "1", "name": "Smile", "format_type": 1},
    ]
    assert (reply.json["sticker_items"], reply.json["content"]) == (items, "")
    assert platform.heard_data("MESSAGE_CREATE")[0]["sticker_items"] == items
    # Those who may not read what is written see the stickers all the same.
    bot = await platform.bot(guild.owner)
    await guild.join(bot)
    url = f"/channels/{guild.general}/messages/{reply.json['id']}"
    assert (await bot.get(url)).json["sticker_items"] == items
    # A sticker that is deleted goes on being named.
    assert (await guild.owner.delete(f"/guilds/{guild.id}/stickers/{ids[0]}")).status == 204
    assert (await guild.owner.get(url)).json["sticker_items"] == items


async def test_a_message_without_stickers_has_no_key_for_them(guild: Guild) -> None:
    nothing: list[Any] = [[], None]
    for none in nothing:
        reply = await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "x", "sticker_ids": none})
        assert "sticker_items" not in reply.json
    assert (await send(guild.owner, guild.general)).code == 50006


async def test_the_same_sticker_twice_is_sent_once(guild: Guild) -> None:
    assert len((await send(guild.owner, guild.general, "1", "2", "1")).json["sticker_items"]) == 2


@pytest.mark.parametrize(
    ("sticker_ids", "at", "code"),
    [
        ("x", "sticker_ids", "LIST_TYPE_CONVERT"),
        (["x"], "sticker_ids.0", "NUMBER_TYPE_COERCE"),
        ([None], "sticker_ids.0", "BASE_TYPE_REQUIRED"),
        (["1", "2", "3", "4"], "sticker_ids", "BASE_TYPE_MAX_LENGTH"),
    ],
)
async def test_an_invalid_list_of_stickers_is_refused_at_its_path(
    platform: Platform, guild: Guild, sticker_ids: Any, at: str, code: str
) -> None:
    reply = await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "x", "sticker_ids": sticker_ids})
    assert (reply.code, reply.errors_at(at), platform.heard) == (50035, [code], [])


async def test_sending_a_sticker_needs_membership_and_in_other_guilds_a_permission(platform: Platform) -> None:
    home = await platform.guild(await platform.person(), everyone=STRICT)
    away = await platform.guild(await platform.person())
    strict = await platform.guild(await platform.person(), everyone=STRICT)
    resident, stranger = await platform.person(), await platform.person()
    await home.join(resident)
    for guild in (away, strict):
        await guild.join(resident, stranger)
    sticker = await sticker_in(home)
    platform.heard.clear()
    assert (await send(stranger, away.general, sticker)).code == 50081
    refused = await send(resident, strict.general, sticker, content="x")
    assert (refused.status, refused.code) == (403, 50600)
    assert platform.heard == []
    assert (await send(resident, home.general, sticker)).status == 200
    assert (await send(resident, away.general, sticker)).status == 200
    assert (await send(resident, strict.general, "1")).status == 200
    direct = (await resident.post("/users/@me/channels", {"recipient_id": str(int(stranger.id))})).json["id"]
    assert (await send(resident, direct, sticker)).status == 200
    assert (await send(stranger, direct, sticker)).code == 50081


async def test_an_unknown_or_unavailable_sticker_refuses_the_message(platform: Platform, guild: Guild) -> None:
    await guild.set(premium_tier=1)
    ids = [await sticker_in(guild) for _ in range(6)]
    await guild.set(premium_tier=0)
    platform.heard.clear()
    for wrong in ("99", ids[5]):
        reply = await send(guild.owner, guild.general, ids[0], wrong, content="x")
        assert (reply.status, reply.code) == (400, 50081)
    assert platform.heard == []
    assert (await guild.owner.get(f"/channels/{guild.general}/messages")).json == []


async def test_an_edit_keeps_the_stickers_and_may_remove_the_text(guild: Guild) -> None:
    sent = (await send(guild.owner, guild.general, "1", content="x")).json
    url = f"/channels/{guild.general}/messages/{sent['id']}"
    reply = await guild.owner.patch(url, {"sticker_ids": ["2"]})
    assert (reply.status, reply.code) == (400, 50080)
    edited = (await guild.owner.patch(url, {"content": "", "sticker_ids": []})).json
    assert (edited["content"], edited["sticker_items"]) == ("", sent["sticker_items"])


async def test_webhooks_drop_stickers(guild: Guild) -> None:
    hook = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "hook"})).json
    url = f"/webhooks/{hook['id']}/{hook['token']}"
    reply = await guild.owner.post(url, {"content": "x", "sticker_ids": ["1"]}, wait=True)
    assert "sticker_items" not in reply.json
    assert (await guild.owner.post(url, {"sticker_ids": ["1"]}, wait=True)).code == 50006
