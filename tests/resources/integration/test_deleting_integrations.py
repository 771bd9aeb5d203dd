"""Deleting integrations, and what is deleted with them."""

from typing import Any

import pytest
from sqlalchemy import insert

import moothall.oauth2.endpoints  # noqa: F401 its rows
from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import voice_states
from tests.resources.auto_moderation.rules import create_rule
from tests.support.harness import VOICE, Caller, Guild, Platform

_insert_voice = Query(insert(voice_states))


async def installed(platform: Platform) -> tuple[Guild, Caller, Any]:
    """A guild with a bot that has a role, an integration and two webhooks in different channels."""
    guild = await platform.guild(await platform.person("owner"))
    bot = await platform.bot(guild.owner, "crier")
    body = {"guild_id": str(guild.id), "permissions": str(int(Permissions.MANAGE_WEBHOOKS))}
    await guild.owner.post("/oauth2/authorize", body, client_id=int(bot.id), scope="bot")
    for channel_id in (guild.general, await guild.channel()):
        assert (await bot.post(f"/channels/{channel_id}/webhooks", {"name": "Herald"})).status == 200
    (integration,) = (await guild.owner.get(f"/guilds/{guild.id}/integrations")).json
    platform.heard.clear()
    return guild, bot, integration


async def nothing_left(guild: Guild, bot: Caller) -> None:
    assert (await guild.owner.get(f"/guilds/{guild.id}/integrations")).json == []
    assert (await guild.owner.get(f"/guilds/{guild.id}/webhooks")).json == []
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{bot.id}")).code == 10007
    assert [role["name"] for role in (await guild.owner.get(f"/guilds/{guild.id}/roles")).json] == ["@everyone"]


async def test_deleting_an_integration_removes_its_bot_role_and_webhooks(platform: Platform) -> None:
    guild, bot, integration = await installed(platform)
    kept = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "Mine"})).json
    with platform.listening() as heard:
        path = f"/guilds/{guild.id}/integrations/{integration['id']}"
        assert (await guild.owner.delete(path, reason="quiet")).status == 204
    names = [name for name in heard if name != "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert names == [
        "GUILD_MEMBER_REMOVE",
        "GUILD_ROLE_DELETE",
        "WEBHOOKS_UPDATE",
        "WEBHOOKS_UPDATE",
        "INTEGRATION_DELETE",
        "GUILD_INTEGRATIONS_UPDATE",
    ]
    deleted = platform.heard_data("INTEGRATION_DELETE")[0]
    assert deleted == {"id": integration["id"], "guild_id": str(guild.id), "application_id": str(bot.id)}
    assert [item["id"] for item in (await guild.owner.get(f"/guilds/{guild.id}/webhooks")).json] == [kept["id"]]
    assert (82, int(integration["id"]), "quiet") in await guild.audit_log()
    assert (await guild.owner.delete(f"/webhooks/{kept['id']}")).status == 204
    await nothing_left(guild, bot)


async def test_a_deleted_integration_is_unknown(platform: Platform) -> None:
    guild, _, integration = await installed(platform)
    path = f"/guilds/{guild.id}/integrations/{integration['id']}"
    assert (await guild.owner.delete(path)).status == 204
    assert (await guild.owner.delete(path)).code == 10005


async def test_the_bot_leaves_voice_and_its_role_is_removed_from_overwrites_and_rules(platform: Platform) -> None:
    guild, bot, integration = await installed(platform)
    role = next(r for r in (await guild.owner.get(f"/guilds/{guild.id}/roles")).json if r["managed"])
    voice = await guild.channel(type=VOICE, overwrites=[(int(role["id"]), 0, Permissions.SPEAK, 0)])
    await create_rule(guild, exempt_roles=[role["id"]])
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_voice, guild_id=guild.id, user_id=bot.id, channel_id=voice, session_id="x")
    with platform.listening() as heard:
        await guild.owner.delete(f"/guilds/{guild.id}/integrations/{integration['id']}")
    assert {"VOICE_STATE_UPDATE", "CHANNEL_UPDATE", "AUTO_MODERATION_RULE_UPDATE"} <= set(heard)
    assert platform.heard_data("AUTO_MODERATION_RULE_UPDATE")[0]["exempt_roles"] == []
    assert platform.heard_data("VOICE_STATE_UPDATE")[0]["channel_id"] is None
    assert platform.heard_data("CHANNEL_UPDATE")[0]["permission_overwrites"] == []


@pytest.mark.parametrize("way", ["kick", "ban", "bulk ban", "leave"])
async def test_a_bot_removed_in_another_way_leaves_nothing_behind_either(platform: Platform, way: str) -> None:
    guild, bot, _ = await installed(platform)
    if way == "kick":
        reply = await guild.owner.delete(f"/guilds/{guild.id}/members/{bot.id}")
    elif way == "ban":
        reply = await guild.owner.put(f"/guilds/{guild.id}/bans/{bot.id}", {})
    elif way == "bulk ban":
        reply = await guild.owner.post(f"/guilds/{guild.id}/bulk-ban", {"user_ids": [str(bot.id)]})
    else:
        reply = await bot.delete(f"/users/@me/guilds/{guild.id}")
    assert reply.status in {200, 204}
    assert platform.heard_names.count("WEBHOOKS_UPDATE") == 2
    assert platform.heard_names.count("INTEGRATION_DELETE") == 1
    await nothing_left(guild, bot)


async def test_it_can_be_added_again_afterwards(platform: Platform) -> None:
    guild, bot, integration = await installed(platform)
    await guild.owner.delete(f"/guilds/{guild.id}/integrations/{integration['id']}")
    body = {"guild_id": str(guild.id), "permissions": "0"}
    assert (await guild.owner.post("/oauth2/authorize", body, client_id=int(bot.id), scope="bot")).status == 200
    (again,) = (await guild.owner.get(f"/guilds/{guild.id}/integrations")).json
    assert again["id"] != integration["id"]


async def test_a_bot_that_owns_the_guild_stays(platform: Platform) -> None:
    guild, bot, integration = await installed(platform)
    admin = await guild.moderator()
    await guild.set(owner_id=bot.id)
    reply = await admin.delete(f"/guilds/{guild.id}/integrations/{integration['id']}")
    assert (reply.status, reply.code) == (403, 50013)
    assert platform.heard == []


async def test_a_deleted_application_is_removed_from_all_guilds(platform: Platform) -> None:
    guild, bot, _ = await installed(platform)
    other = await platform.guild(guild.owner)
    await other.join(bot)
    role = next(r for r in (await guild.owner.get(f"/guilds/{guild.id}/roles")).json if r["managed"])
    voice = await guild.channel(type=VOICE, overwrites=[(int(role["id"]), 0, Permissions.SPEAK, 0)])
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_voice, guild_id=guild.id, user_id=bot.id, channel_id=voice, session_id="x")
    await create_rule(guild, exempt_roles=[role["id"]])
    platform.heard.clear()
    bearer = await platform.bearer(guild.owner, int(bot.id), "identify")
    path = f"/applications/{bot.application_id}"
    assert (await bot.delete(path)).code == 20012
    assert (await guild.owner.delete(path)).status == 204
    assert [e.name for e in platform.heard if e.name in {"SESSIONS_CLOSE", "GUILD_MEMBER_REMOVE"}] == [
        "SESSIONS_CLOSE",
        "GUILD_MEMBER_REMOVE",
        "GUILD_MEMBER_REMOVE",
    ]
    assert (await bot.get("/users/@me")).status == 401
    assert (await bearer.get("/users/@me")).status == 401
    assert [rule["exempt_roles"] for rule in platform.heard_data("AUTO_MODERATION_RULE_UPDATE")] == [[]]
    assert (await guild.owner.get(f"/guilds/{other.id}/members/{bot.id}")).code == 10007
    await nothing_left(guild, bot)
    assert (await guild.owner.get("/applications")).json == []
    assert (await guild.owner.delete(path)).code == 10002
    assert (await guild.owner.get(f"/users/{bot.id}")).json["username"] == "Deleted User"
    body = {"guild_id": str(guild.id)}
    assert (await guild.owner.post("/oauth2/authorize", body, client_id=int(bot.id), scope="bot")).code == 10002


async def test_an_application_stays_while_its_bot_owns_a_guild(platform: Platform) -> None:
    guild, bot, _ = await installed(platform)
    owner = guild.owner
    await guild.set(owner_id=bot.id)
    assert (await owner.delete(f"/applications/{bot.application_id}")).code == 50055
    assert (await bot.get("/users/@me")).status == 200
