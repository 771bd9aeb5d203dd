"""The emojis of an application (resources: emoji, application-owned)."""

from typing import Any

import pytest
from sqlalchemy import func, insert, select

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import application_emojis
from tests.resources.guild.pictures import picture
from tests.support.harness import Caller, Platform

PNG = picture()


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def bot(platform: Platform, owner: Caller) -> Caller:
    return await platform.bot(owner, "robin")


def path_of(bot: Caller, emoji: Any = None) -> str:
    path = f"/applications/{bot.application_id}/emojis"
    return path if emoji is None else f"{path}/{emoji}"


async def test_the_bot_and_its_owner_create_rename_and_delete_emojis(
    platform: Platform, owner: Caller, bot: Caller
) -> None:
    reply = await bot.post(path_of(bot), {"name": "moot", "image": PNG})
    assert reply.status == 201
    made = reply.json
    assert made["user"]["id"] == str(int(bot.id))
    rest = {key: value for key, value in made.items() if key not in {"id", "user"}}
    assert rest == {
        "name": "moot",
        "roles": [],
        "require_colons": True,
        "managed": False,
        "animated": False,
        "available": True,
    }
    other = (await owner.post(path_of(bot), {"name": "hall", "image": picture("GIF", frames=2)})).json
    assert (other["animated"], other["user"]["id"]) == (True, str(int(owner.id)))
    assert (await owner.get(path_of(bot))).json == {"items": [made, other]}
    assert (await bot.get(path_of(bot, other["id"]))).json == other
    renamed = await owner.patch(path_of(bot, made["id"]), {"name": "town"})
    assert renamed.json == made | {"name": "town"}
    assert (await bot.patch(path_of(bot, made["id"]), {})).json == made | {"name": "town"}
    assert (await bot.delete(path_of(bot, made["id"]))).status == 204
    assert (await bot.get(path_of(bot))).json == {"items": [other]}
    assert platform.heard == []


async def test_other_users_cannot_read_or_change_them(platform: Platform, owner: Caller, bot: Caller) -> None:
    made = (await bot.post(path_of(bot), {"name": "moot", "image": PNG})).json["id"]
    stranger = await platform.person()
    for other in (stranger, await platform.bot(stranger)):
        for method, path in (
            ("GET", path_of(bot)),
            ("POST", path_of(bot)),
            ("GET", path_of(bot, made)),
            ("PATCH", path_of(bot, made)),
            ("DELETE", path_of(bot, made)),
        ):
            reply = await other.request(method, path, {"name": "mine", "image": PNG})
            assert (reply.status, reply.code) == (403, 20012)
    second = await platform.bot(owner)
    for method in ("GET", "PATCH", "DELETE"):
        reply = await second.request(method, path_of(second, made), {"name": "mine"})
        assert (reply.status, reply.code) == (404, 10014)
    assert (await bot.get("/applications/1/emojis")).code == 10002


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"image": PNG}, "name"),
        ({"name": "moot"}, "image"),
        ({"name": "m", "image": PNG}, "name"),
        ({"name": "m-m", "image": PNG}, "name"),
        ({"name": "moot", "image": "data:image/png;base64,AAAA"}, "image"),
    ],
)
async def test_invalid_fields_are_refused_at_their_paths(bot: Caller, body: dict[str, Any], at: str) -> None:
    reply = await bot.post(path_of(bot), body)
    assert (reply.code, bool(reply.errors_at(at))) == (50035, True)
    assert (await bot.get(path_of(bot))).json == {"items": []}


async def test_an_application_has_at_most_two_thousand_emojis(platform: Platform, bot: Caller) -> None:
    rows = [
        {"application_id": bot.application_id, "id": platform.ids.next(), "name": f"e{n}", "image": "0" * 32}
        for n in range(1999)
    ]
    async with platform.database.transaction() as tx:
        await tx.execute_many(Query(insert(application_emojis)), rows)
    assert (await bot.post(path_of(bot), {"name": "moot", "image": PNG})).status == 201
    assert (await bot.post(path_of(bot), {"name": "moot", "image": PNG})).code == 30008


async def test_only_the_bot_may_react_with_them_anywhere(platform: Platform, owner: Caller, bot: Caller) -> None:
    made = (await bot.post(path_of(bot), {"name": "moot", "image": PNG})).json["id"]
    strict = Permissions.DEFAULT & ~Permissions.USE_EXTERNAL_EMOJIS
    guild = await platform.guild(await platform.person(), everyone=strict)
    second = await platform.bot(owner)
    await guild.join(bot, owner, second)
    sent = (await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "x"})).json["id"]
    url = f"/channels/{guild.general}/messages/{sent}/reactions/x:{made}/@me"
    for other in (owner, second):
        assert (await other.put(url)).code == 10014
    assert (await bot.put(url)).status == 204
    assert platform.heard_data("MESSAGE_REACTION_ADD")[0]["emoji"] == {"id": made, "name": "moot", "animated": False}


async def test_they_are_deleted_with_the_application(platform: Platform, owner: Caller, bot: Caller) -> None:
    await bot.post(path_of(bot), {"name": "moot", "image": PNG})
    assert (await owner.delete(f"/applications/{bot.application_id}")).status == 204
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(application_emojis))) == 0
