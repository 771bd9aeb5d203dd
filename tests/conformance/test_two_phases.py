"""A body is refused in two phases: all errors of its shape together, then all that need settings or the database."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.api.forms import TYPE, form, part
from tests.support.harness import Caller, Guild, Platform, Reply

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="
)
NOT_AN_IMAGE = "data:image/png;base64,AAAA"


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("owner")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def test_a_reserved_name_is_reported_once_the_image_is_one(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    path = f"/channels/{guild.general}/webhooks"
    platform.heard.clear()
    for avatar in (NOT_AN_IMAGE, "nothing", 5):
        reply = await owner.post(path, {"name": "my discord hook", "avatar": avatar})
        assert (reply.status, reply.code) == (400, 50035)
        assert set(reply.json["errors"]) == {"avatar"}
    reply = await owner.post(path, {"name": "my discord hook", "avatar": PIXEL})
    assert set(reply.json["errors"]) == {"name"}
    assert (await owner.get(path)).json == []
    assert platform.heard == []
    assert await guild.audit_log() == []


async def test_an_unknown_role_is_reported_once_the_required_fields_are_right(owner: Caller, guild: Guild) -> None:
    path = f"/guilds/{guild.id}/emojis"
    for image in (None, "nothing"):
        reply = await owner.post(path, {"name": "x", "image": image, "roles": ["1"]})
        assert set(reply.json["errors"]) == {"name", "image"}
    reply = await owner.post(path, {"name": "xy", "image": NOT_AN_IMAGE, "roles": ["1"]})
    assert set(reply.json["errors"]) == {"image"}
    reply = await owner.post(path, {"name": "xy", "image": PIXEL, "roles": ["1"]})
    assert reply.errors_at("roles.0") == ["BASE_TYPE_CHOICES"]
    assert (await owner.get(path)).json == []


async def test_rules_of_several_stages_are_reported_together(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bot = await platform.bot(guild.owner)
    await guild.join(bot, roles=[await guild.role(permissions=Permissions.ALL)])
    path = f"/channels/{guild.general}/messages"
    gallery = {"type": 12, "items": [{"media": {"url": "attachment://missing.png"}}]}
    body: dict[str, Any] = {
        "flags": 1 << 15,
        "components": [gallery, {"type": 10, "content": ""}],
        "allowed_mentions": {"parse": ["nobody"]},
        "nonce": "n" * 40,
    }
    reply = await bot.post(path, body)
    for at in ("components.1.content", "allowed_mentions.parse.0", "nonce"):
        assert reply.errors_at(at), (at, reply.body)
    reply = await bot.post(path, {"flags": 1 << 15, "components": [gallery, gallery]})
    for at in ("components.0.items.0.media.url", "components.1.items.0.media.url"):
        assert reply.errors_at(at), (at, reply.body)
    unknown_reply = {"content": "x", "message_reference": {"message_id": "1"}, "embeds": [{"title": "t" * 300}]}
    assert set((await bot.post(path, unknown_reply)).json["errors"]) == {"embeds"}
    del unknown_reply["embeds"]
    reply = await bot.post(path, unknown_reply)
    assert reply.errors_at("message_reference") == ["REPLIES_UNKNOWN_MESSAGE"]
    assert (await bot.get(path)).json == []


async def test_a_form_reports_all_errors_of_its_shape_then_missing_files(owner: Caller, guild: Guild) -> None:
    async def post(payload: bytes) -> Reply:
        data = form(part("files[0]", b"data", "a.txt"), part("payload_json", payload))
        return await owner.post(f"/channels/{guild.general}/messages", raw=data, content_type=TYPE)

    reply = await post(b'{"attachments": [{"id": 7}], "flags": "x", "embeds": [{"title": 5, "url": "x"}], "nonce": []}')
    assert reply.errors_at("flags")
    assert reply.errors_at("nonce")
    assert reply.errors_at("embeds.0.url")
    reply = await post(b'{"content": "x", "attachments": [{"id": 7}]}')
    assert reply.errors_at("attachments.0.id")


async def test_everything_wrong_with_several_commands_is_reported(platform: Platform) -> None:
    bot = await platform.bot(await platform.person())
    commands = [
        {"name": "ok", "description": 5, "options": [{"type": "x", "name": "a", "description": "d"}]},
        {"name": "ok", "description": "d"},
        {"name": "x" * 33, "description": "d"},
    ]
    reply = await bot.put(f"/applications/{int(bot.id)}/commands", commands)
    for at in ("0.options.0.type", "2.name"):
        assert reply.errors_at(at), (at, reply.body)
    commands = [
        {"name": "Not A Name", "description": "d"},
        {"name": "ok", "description": "d"},
        {"name": "ok", "description": "d", "integration_types": [1, 1]},
    ]
    reply = await bot.put(f"/applications/{int(bot.id)}/commands", commands)
    for at in ("0.name", "2.name", "2.integration_types.1"):
        assert reply.errors_at(at), (at, reply.body)
    assert not reply.errors_at("1.name")


async def test_the_permission_comes_before_all_errors(platform: Platform, guild: Guild) -> None:
    member = await platform.person()
    await guild.join(member)
    reply = await member.post(f"/channels/{guild.general}/webhooks", {"name": "discord", "avatar": NOT_AN_IMAGE})
    assert (reply.status, reply.code) == (403, 50013)


async def test_a_refused_request_leaves_no_trace_of_what_was_right(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    platform.heard.clear()
    reply = await owner.patch(f"/guilds/{guild.id}", {"name": "Renamed", "afk_timeout": 61})
    assert set(reply.json["errors"]) == {"afk_timeout"}
    path = f"/guilds/{guild.id}/channels"
    reply = await owner.post(path, {"name": "new", "topic": "t" * 1025, "parent_id": "7"})
    assert set(reply.json["errors"]) == {"topic"}
    reply = await owner.post(path, {"name": "new", "parent_id": "7"})
    assert set(reply.json["errors"]) == {"parent_id"}
    assert (await owner.get(f"/guilds/{guild.id}")).json["name"] != "Renamed"
    assert len((await owner.get(path)).json) == 1
    assert platform.heard == []
    assert await guild.audit_log() == []


async def test_a_registration_reports_a_name_that_cannot_be_had_with_a_weak_password(platform: Platform) -> None:
    body = {"username": "everyone", "password": "short", "email": "nowhere"}
    reply = await platform.anonymous.post("/auth/register", body)
    assert set(reply.json["errors"]) == {"password", "email"}
    reply = await platform.anonymous.post("/auth/register", {"username": "everyone", "password": "password"})
    assert set(reply.json["errors"]) == {"username", "password"}
