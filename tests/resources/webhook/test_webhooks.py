"""Creating, modifying and deleting webhooks."""

import asyncio
import re
from typing import Any

import msgspec
import pytest

from moothall.api.ratelimit import RateLimiter
from moothall.bus import Audience
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.runtime.secrets import SecretBox
from moothall.storage.database import Database
from tests.support.harness import CATEGORY, FORUM, VOICE, Caller, Guild, Platform

GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


async def community(platform: Platform) -> tuple[Guild, Caller]:
    """A guild and a member with only VIEW_CHANNEL and MANAGE_WEBHOOKS."""
    guild = await platform.guild(await platform.person("owner"), everyone=Permissions.VIEW_CHANNEL)
    return guild, await guild.member_with(Permissions.MANAGE_WEBHOOKS, name="wanda")


async def made(caller: Caller, channel_id: int, name: str = "Herald", **options: Any) -> Any:
    reply = await caller.post(f"/channels/{channel_id}/webhooks", {"name": name}, **options)
    assert reply.status == 200
    return reply.json


async def test_a_new_webhook_is_returned_audited_and_announced(platform: Platform) -> None:
    guild, wanda = await community(platform)
    with platform.listening() as heard:
        webhook = await made(wanda, guild.general, "  Town   Herald ", reason="news")
    assert webhook["name"] == "Town Herald"
    assert (webhook["type"], webhook["guild_id"], webhook["channel_id"]) == (1, str(guild.id), str(guild.general))
    assert (webhook["user"]["id"], webhook["application_id"], webhook["avatar"]) == (str(wanda.id), None, None)
    assert re.fullmatch(r"[A-Za-z0-9_-]{68}", webhook["token"])
    assert webhook["url"] == f"http://localhost:3333/api/webhooks/{webhook['id']}/{webhook['token']}"
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "WEBHOOKS_UPDATE"]
    assert await guild.audit_log() == [(50, int(webhook["id"]), "news")]
    assert platform.heard_data("WEBHOOKS_UPDATE") == [{"guild_id": str(guild.id), "channel_id": str(guild.general)}]


async def test_a_token_is_in_no_event_and_in_no_audit_log_entry(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    await wanda.patch(f"/webhooks/{webhook['id']}", {"name": "Crier"})
    await wanda.delete(f"/webhooks/{webhook['id']}")
    assert len(await guild.audit_log()) == 3
    assert platform.heard_names.count("WEBHOOKS_UPDATE") == 3
    assert not any(webhook["token"].encode() in bytes(envelope.data) for envelope in platform.heard)


async def test_a_bots_webhook_belongs_to_its_application(platform: Platform) -> None:
    guild, wanda = await community(platform)
    bot = await platform.bot(wanda)
    await guild.join(bot, roles=[await guild.role(permissions=Permissions.MANAGE_WEBHOOKS)])
    webhook = await made(bot, guild.general)
    assert (webhook["user"]["id"], webhook["application_id"]) == (str(bot.id), str(bot.application_id))


async def test_the_token_of_an_applications_webhook_is_for_that_application_alone(platform: Platform) -> None:
    guild, wanda = await community(platform)
    bot, other = await platform.bot(wanda), await platform.bot(wanda)
    await guild.join(bot, other, roles=[await guild.role(permissions=Permissions.MANAGE_WEBHOOKS)])
    webhook = await made(bot, guild.general)
    assert webhook["url"].endswith(webhook["token"])
    own = await made(wanda, guild.general)
    path = f"/webhooks/{webhook['id']}"
    lists = [f"/channels/{guild.general}/webhooks", f"/guilds/{guild.id}/webhooks"]
    for caller in (wanda, guild.owner, other):
        shown = [(await caller.get(path)).json, (await caller.patch(path, {"name": "Crier"})).json]
        for each in lists:
            listed = {item["id"]: item for item in (await caller.get(each)).json}
            assert listed[own["id"]]["token"] == own["token"]
            shown.append(listed[webhook["id"]])
        assert all("token" not in each and "url" not in each for each in shown), caller.name
    for each in lists:
        assert webhook["token"] in [item.get("token") for item in (await bot.get(each)).json]
    assert (await bot.get(path)).json["token"] == webhook["token"]
    by_token = f"{path}/{webhook['token']}"
    assert (await platform.anonymous.get(by_token)).json["token"] == webhook["token"]
    assert (await platform.anonymous.patch(by_token, {"name": "Bell"})).json["token"] == webhook["token"]


async def test_its_application_reads_a_webhook_without_permission_and_changes_nothing(platform: Platform) -> None:
    guild, _ = await community(platform)
    bot = await platform.bot(guild.owner)
    role = await guild.role(permissions=Permissions.MANAGE_WEBHOOKS)
    await guild.join(bot, roles=[role])
    other = await platform.bot(guild.owner)
    await guild.join(other)
    webhook = await made(bot, guild.general)
    await guild.owner.patch(f"/guilds/{guild.id}/roles/{role}", {"permissions": "0"})
    path = f"/webhooks/{webhook['id']}"
    assert (await bot.get(path)).json["token"] == webhook["token"]
    assert (await bot.patch(path, {"name": "Crier"})).code == 50013
    assert (await bot.delete(path)).code == 50013
    assert (await other.get(path)).code == 50013


@pytest.mark.parametrize(
    "name",
    ["", "   ", "x" * 81, "my Discord friend", "CLYDE", "a MootHall hook"],
)
async def test_an_invalid_name_is_refused_at_its_field(platform: Platform, name: str) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    refused = await wanda.post(f"/channels/{guild.general}/webhooks", {"name": name})
    assert (refused.status, refused.code, bool(refused.errors_at("name"))) == (400, 50035, True)
    for path in (f"/webhooks/{webhook['id']}", f"/webhooks/{webhook['id']}/{webhook['token']}"):
        assert (await wanda.patch(path, {"name": name})).errors_at("name")
    assert len(await guild.audit_log()) == 1


@pytest.mark.parametrize("name", ["x", "x" * 80, "a@b", "#general", "CI: build", "a```b", "everyone"])
async def test_a_name_has_no_other_rules_than_its_length_and_reserved_words(platform: Platform, name: str) -> None:
    guild, wanda = await community(platform)
    assert (await made(wanda, guild.general, name))["name"] == name


async def test_only_channels_that_webhooks_can_post_into_have_webhooks(platform: Platform) -> None:
    guild, wanda = await community(platform)
    for kind in (VOICE, FORUM):
        await made(wanda, await guild.channel(type=kind))
    category = await guild.channel(type=CATEGORY)
    assert (await wanda.post(f"/channels/{category}/webhooks", {"name": "x"})).code == 50024


async def test_a_channel_has_fifteen_webhooks_even_with_concurrent_requests(platform: Platform) -> None:
    guild, wanda = await community(platform)
    body = {"name": "Herald"}
    replies = await asyncio.gather(*(wanda.post(f"/channels/{guild.general}/webhooks", body) for _ in range(18)))
    assert sorted(reply.status for reply in replies) == [200] * 15 + [400] * 3
    assert {reply.code for reply in replies if reply.status == 400} == {30007}
    assert len((await wanda.get(f"/channels/{guild.general}/webhooks")).json) == 15


async def test_lists_show_only_webhooks_that_the_caller_manages(platform: Platform) -> None:
    guild, wanda = await community(platform)
    kept = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    here, there = await made(guild.owner, guild.general), await made(guild.owner, kept)
    assert (await wanda.get(f"/channels/{guild.general}/webhooks")).json == [here]
    assert (await wanda.get(f"/guilds/{guild.id}/webhooks")).json == [here]
    assert (await guild.owner.get(f"/guilds/{guild.id}/webhooks")).json == [here, there]
    assert (await wanda.get(f"/webhooks/{there['id']}")).code == 50001


async def test_name_avatar_and_channel_of_a_webhook_are_modified(platform: Platform) -> None:
    guild, wanda = await community(platform)
    other = await guild.channel()
    webhook = await made(wanda, guild.general)
    with platform.listening() as heard:
        body = {"name": "Crier", "avatar": GIF, "channel_id": str(other)}
        reply = await wanda.patch(f"/webhooks/{webhook['id']}", body, reason="moved")
    assert (reply.json["name"], reply.json["channel_id"]) == ("Crier", str(other))
    assert await platform.services.blobs.exists(f"images/{reply.json['avatar']}")
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "WEBHOOKS_UPDATE", "WEBHOOKS_UPDATE"]
    assert {d["channel_id"] for d in platform.heard_data("WEBHOOKS_UPDATE")} == {str(guild.general), str(other)}
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]
    assert entry["action_type"] == 51
    assert {change["key"] for change in entry["changes"]} == {"name", "avatar_hash", "channel_id"}
    assert (await wanda.patch(f"/webhooks/{webhook['id']}", {"avatar": None})).json["avatar"] is None


async def test_a_request_that_changes_nothing_is_neither_audited_nor_announced(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    with platform.listening() as heard:
        for body in ({}, {"name": "Herald"}, {"channel_id": str(guild.general)}, {"channel_id": None}):
            assert (await wanda.patch(f"/webhooks/{webhook['id']}", body)).json == webhook
    assert heard == []
    assert len(await guild.audit_log()) == 1


async def test_moving_a_webhook_requires_manage_webhooks_in_the_new_channel(platform: Platform) -> None:
    guild, wanda = await community(platform)
    elsewhere = await platform.guild(wanda)
    webhook = await made(wanda, guild.general)
    full = await guild.channel()
    for _ in range(15):
        await made(wanda, full)
    cases = {
        await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)]): 50001,
        await guild.channel(overwrites=[(wanda.id, 1, 0, Permissions.MANAGE_WEBHOOKS)]): 50013,
        await guild.channel(type=CATEGORY): 50024,
        elsewhere.general: 10003,
        full: 30007,
    }
    for channel_id, code in cases.items():
        assert (await wanda.patch(f"/webhooks/{webhook['id']}", {"channel_id": str(channel_id)})).code == code
    assert (await wanda.get(f"/webhooks/{webhook['id']}")).json["channel_id"] == str(guild.general)


async def test_requests_with_the_token_need_no_authentication_and_see_no_creator(platform: Platform) -> None:
    guild, wanda = await community(platform)
    other = await guild.channel()
    webhook = await made(wanda, guild.general)
    path = f"/webhooks/{webhook['id']}/{webhook['token']}"
    shown = {key: value for key, value in webhook.items() if key != "user"}
    assert (await platform.anonymous.get(path)).json == shown
    changed = await platform.anonymous.patch(path, {"name": "Crier", "channel_id": str(other)}, reason="why not")
    assert changed.json == shown | {"name": "Crier"}
    with platform.listening() as heard:
        assert (await platform.anonymous.delete(path, reason="enough")).status == 204
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "WEBHOOKS_UPDATE"]
    target = int(webhook["id"])
    assert await guild.audit_log() == [(50, target, None), (51, target, "why not"), (52, target, "enough")]
    assert platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]["user_id"] is None


async def test_an_unknown_webhook_is_404_and_another_token_401_on_every_row(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook, other = await made(wanda, guild.general), await made(wanda, guild.general)
    for method, more in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", ""), ("GET", "/messages/1")):
        body = {"content": "x"} if method == "POST" else {} if method == "PATCH" else msgspec.UNSET
        unknown = await platform.anonymous.request(method, f"/webhooks/1/{webhook['token']}{more}", body)
        assert (unknown.status, unknown.code) == (404, 10015)
        wrong = await platform.anonymous.request(method, f"/webhooks/{webhook['id']}/{other['token']}{more}", body)
        assert (wrong.status, wrong.code) == (401, 50027)
    for method in ("GET", "PATCH", "DELETE"):
        reply = await wanda.request(method, "/webhooks/1", {} if method == "PATCH" else msgspec.UNSET)
        assert (reply.status, reply.code) == (404, 10015)
    assert len(await guild.audit_log()) == 2


async def test_the_token_of_a_deleted_webhook_is_invalid(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    assert (await wanda.delete(f"/webhooks/{webhook['id']}", reason="enough")).status == 204
    assert (await wanda.delete(f"/webhooks/{webhook['id']}")).code == 10015
    assert (await platform.anonymous.get(f"/webhooks/{webhook['id']}/{webhook['token']}")).code == 10015
    assert (await guild.audit_log())[1:] == [(52, int(webhook["id"]), "enough")]


async def test_a_stranger_cannot_read_a_webhook(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    stranger = await platform.person()
    for method in ("GET", "PATCH", "DELETE"):
        reply = await stranger.request(method, f"/webhooks/{webhook['id']}", {} if method == "PATCH" else msgspec.UNSET)
        assert (reply.status, reply.code) == (403, 50001)


async def test_webhook_events_go_only_to_those_who_view_the_channel(platform: Platform) -> None:
    guild, wanda = await community(platform)
    await made(wanda, guild.general)
    event = next(envelope for envelope in platform.heard if envelope.name == "WEBHOOKS_UPDATE")
    assert (event.audience, event.channel_id, event.intent) == (Audience.CHANNEL, guild.general, Intent.GUILD_WEBHOOKS)


async def test_webhooks_require_two_factors_in_guilds_with_an_mfa_level(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    await guild.set(mfa_level=1)
    assert (await wanda.post(f"/channels/{guild.general}/webhooks", {"name": "x"})).code == 60003
    assert (await wanda.patch(f"/webhooks/{webhook['id']}", {"name": "x"})).code == 60003
    assert (await wanda.delete(f"/webhooks/{webhook['id']}")).code == 60003


async def test_a_webhook_whose_token_cannot_be_decrypted_works_but_has_no_token_field(platform: Platform) -> None:
    guild, wanda = await community(platform)
    webhook = await made(wanda, guild.general)
    platform.services.box = SecretBox(b"another key of thirty-two bytes!")
    shown = (await wanda.get(f"/webhooks/{webhook['id']}")).json
    assert not {"token", "url"} & shown.keys()
    assert (await platform.anonymous.get(f"/webhooks/{webhook['id']}/{webhook['token']}")).status == 200


async def test_each_webhook_has_a_rate_limit_of_its_own(database: Database) -> None:
    platform = Platform(database, limiter=RateLimiter(loopback_multiplier=1, clock=lambda: 1_000_000.0))
    guild, wanda = await community(platform)
    first, second = await made(wanda, guild.general), await made(wanda, guild.general)
    body = {"content": "x"}
    spent = [
        await platform.anonymous.post(f"/webhooks/{first['id']}/{first['token']}", body, client="192.0.2.1")
        for _ in range(6)
    ]
    assert [reply.status for reply in spent] == [204] * 5 + [429]
    assert (spent[0].headers["x-ratelimit-limit"], spent[5].headers["via"]) == ("5", "1.1 moothall")
    other = await platform.anonymous.post(f"/webhooks/{second['id']}/{second['token']}", body, client="192.0.2.1")
    assert other.status == 204
