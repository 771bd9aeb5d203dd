"""Adding a bot to a guild by consent."""

import asyncio
from typing import Any

from sqlalchemy import bindparam, update

import moothall.oauth2.endpoints  # noqa: F401 its rows
from moothall.api.authenticate import TokenKind
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import tokens
from tests.support.harness import Caller, Guild, Platform, Reply

_end_tokens = Query(update(tokens).where(tokens.c.kind == int(TokenKind.BEARER)).values(expires_at=bindparam("moment")))

REQUESTED = Permissions.SEND_MESSAGES | Permissions.MANAGE_WEBHOOKS


async def community(platform: Platform, everyone: int = Permissions.VIEW_CHANNEL) -> tuple[Guild, Caller]:
    """A guild, and its owner's bot, which is not in it."""
    guild = await platform.guild(await platform.person("owner"), everyone=everyone)
    return guild, await platform.bot(guild.owner, "crier")


async def add(caller: Caller, bot: Caller, guild_id: int, permissions: int = REQUESTED, **query: Any) -> Reply:
    """Consent with the scope bot."""
    body = {"authorize": True, "guild_id": str(int(guild_id)), "permissions": str(int(permissions))}
    options = {"client_id": int(bot.application_id or 0), "scope": "bot applications.commands"} | query
    return await caller.post("/oauth2/authorize", body, **options)


async def own_role(guild: Guild, bot: Caller) -> dict[str, Any] | None:
    roles = (await guild.owner.get(f"/guilds/{guild.id}/roles")).json
    return next((r for r in roles if r.get("tags", {}).get("bot_id") == str(bot.id)), None)


async def member_roles(guild: Guild, bot: Caller) -> list[str]:
    return list((await guild.owner.get(f"/guilds/{guild.id}/members/{bot.id}")).json["roles"])


async def test_a_bot_joins_with_its_role_and_its_integration_and_events_announce_them(platform: Platform) -> None:
    guild, bot = await community(platform)
    with platform.listening() as heard:
        reply = await add(guild.owner, bot, guild.id)
    assert (reply.status, list(reply.json)) == (200, ["location"])
    events = [name for name in heard if name != "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert events == ["GUILD_ROLE_CREATE", "GUILD_MEMBER_ADD", "INTEGRATION_CREATE", "GUILD_INTEGRATIONS_UPDATE"]
    role = await own_role(guild, bot)
    assert role is not None
    assert (role["name"], role["managed"], role["permissions"]) == ("crier", True, str(int(REQUESTED)))
    assert await member_roles(guild, bot) == [role["id"]]
    assert [action for action, _, _ in await guild.audit_log()] == [30, 28, 80]
    assert platform.heard_data("GUILD_MEMBER_ADD")[0]["user"]["bot"] is True


async def test_a_bot_gets_a_join_message_where_new_members_do(platform: Platform) -> None:
    guild, bot = await community(platform)
    await guild.set(system_channel_id=guild.general)
    with platform.listening() as heard:
        await add(guild.owner, bot, guild.id)
    assert "MESSAGE_CREATE" in heard


async def test_the_integration_shows_the_application_its_bot_and_who_added_it(platform: Platform) -> None:
    guild, bot = await community(platform)
    await add(guild.owner, bot, guild.id)
    created = platform.heard_data("INTEGRATION_CREATE")[0]
    (integration,) = (await guild.owner.get(f"/guilds/{guild.id}/integrations")).json
    assert integration["type"] == "discord"
    assert integration["account"] == {"id": str(bot.application_id), "name": "crier"}
    assert integration["application"]["summary"] == ""
    assert integration["application"]["bot"]["id"] == str(bot.id)
    assert integration["user"]["id"] == str(guild.owner.id)
    assert integration["scopes"] == ["bot", "applications.commands"]
    assert created == {k: v for k, v in integration.items() if k != "user"} | {"guild_id": str(guild.id)}


async def test_no_role_is_made_for_no_permissions(platform: Platform) -> None:
    guild, bot = await community(platform)
    assert (await add(guild.owner, bot, guild.id, 0)).status == 200
    assert await own_role(guild, bot) is None
    assert await member_roles(guild, bot) == []


async def test_permissions_of_the_consent_override_those_of_the_link(platform: Platform) -> None:
    guild, bot = await community(platform)
    options = {"client_id": int(bot.id), "scope": "bot", "guild_id": guild.id, "permissions": int(REQUESTED)}
    assert (await guild.owner.post("/oauth2/authorize", {"authorize": True}, **options)).status == 200
    role = await own_role(guild, bot)
    assert role is not None
    assert role["permissions"] == str(int(REQUESTED))
    body = {"authorize": True, "permissions": "1024"}
    assert (await guild.owner.post("/oauth2/authorize", body, **options)).status == 200
    assert (await own_role(guild, bot) or {})["permissions"] == "1024"


async def test_adding_again_changes_the_permissions_and_nothing_else(platform: Platform) -> None:
    guild, bot = await community(platform)
    await add(guild.owner, bot, guild.id, 0)
    with platform.listening() as heard:
        await add(guild.owner, bot, guild.id, 0)
    assert heard == []
    with platform.listening() as heard:
        await add(guild.owner, bot, guild.id, 1024)
    events = [name for name in heard if name != "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert events == ["GUILD_ROLE_CREATE", "GUILD_MEMBER_UPDATE"]
    with platform.listening() as heard:
        await add(guild.owner, bot, guild.id, 2048)
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_ROLE_UPDATE"]
    role = await own_role(guild, bot)
    assert role is not None
    assert role["permissions"] == "2048"
    assert await member_roles(guild, bot) == [role["id"]]
    assert len((await guild.owner.get(f"/guilds/{guild.id}/integrations")).json) == 1


async def test_a_new_scope_and_a_new_name_update_the_integration(platform: Platform) -> None:
    guild, bot = await community(platform)
    await add(guild.owner, bot, guild.id, 0, scope="bot")
    await guild.owner.patch(f"/applications/{bot.application_id}", {"name": "herald"})
    with platform.listening() as heard:
        await add(guild.owner, bot, guild.id, 0)
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "INTEGRATION_UPDATE", "GUILD_INTEGRATIONS_UPDATE"]
    changed = platform.heard_data("INTEGRATION_UPDATE")[0]
    assert (changed["name"], changed["scopes"]) == ("herald", ["bot", "applications.commands"])
    assert (await guild.audit_log())[-1][0] == 81


async def test_two_concurrent_consents_create_one_integration_and_one_role(platform: Platform) -> None:
    guild, bot = await community(platform)
    replies = await asyncio.gather(*(add(guild.owner, bot, guild.id) for _ in range(4)))
    assert [reply.status for reply in replies] == [200] * 4
    assert len((await guild.owner.get(f"/guilds/{guild.id}/integrations")).json) == 1
    assert len((await guild.owner.get(f"/guilds/{guild.id}/roles")).json) == 2


async def test_only_those_who_manage_the_guild_add_bots_with_no_more_than_they_may_do(platform: Platform) -> None:
    guild, bot = await community(platform)
    manager = await guild.member_with(Permissions.MANAGE_GUILD | Permissions.SEND_MESSAGES)
    other = await guild.member_with(Permissions.MANAGE_ROLES)
    outsider = await platform.person()
    assert (await add(outsider, bot, guild.id, 0)).code == 10004
    assert (await add(other, bot, guild.id, 0)).code == 50013
    assert (await add(manager, bot, guild.id, Permissions.BAN_MEMBERS)).code == 50013
    assert (await add(manager, bot, guild.id, Permissions.ADMINISTRATOR)).code == 50013
    assert platform.heard == []
    assert await guild.audit_log() == []
    assert (await add(manager, bot, guild.id, Permissions.SEND_MESSAGES)).status == 200


async def test_a_private_bot_is_added_by_its_owner_only(platform: Platform) -> None:
    guild, bot = await community(platform)
    admin = await guild.moderator()
    await guild.owner.patch(f"/applications/{bot.application_id}", {"bot_public": False})
    assert (await add(admin, bot, guild.id)).code == 20012
    assert (await admin.get("/oauth2/authorize", client_id=int(bot.id))).code == 20012
    assert (await add(guild.owner, bot, guild.id)).status == 200


async def test_a_banned_bot_is_not_added_and_leaves_no_role(platform: Platform) -> None:
    guild, bot = await community(platform)
    await guild.owner.put(f"/guilds/{guild.id}/bans/{bot.id}", {})
    platform.heard.clear()
    assert (await add(guild.owner, bot, guild.id)).code == 40007
    assert platform.heard == []
    assert await own_role(guild, bot) is None


async def test_an_invalid_parameter_is_refused_at_its_field(platform: Platform) -> None:
    guild, bot = await community(platform)
    for scope in ("", "everything", "bot rpc"):
        assert (await add(guild.owner, bot, guild.id, scope=scope)).errors_at("scope")
    assert (await add(guild.owner, bot, guild.id, scope="identify bot")).errors_at("response_type")
    assert (await add(guild.owner, bot, guild.id, response_type="words")).errors_at("response_type")
    nowhere = await guild.owner.post("/oauth2/authorize", {}, client_id=int(bot.id), scope="bot")
    assert nowhere.errors_at("guild_id") == ["BASE_TYPE_REQUIRED"]
    assert (await guild.owner.post("/oauth2/authorize", {}, client_id=1, scope="bot")).code == 10002
    await guild.owner.patch(f"/applications/{bot.application_id}", {"bot_require_code_grant": True})
    assert (await add(guild.owner, bot, guild.id)).errors_at("response_type")
    assert platform.heard == []


async def test_bots_and_access_tokens_consent_to_nothing(platform: Platform) -> None:
    guild, bot = await community(platform)
    bearer = await platform.bearer(guild.owner, int(bot.id), "bot", "guilds")
    assert (await add(bot, bot, guild.id)).code == 20001
    assert (await add(bearer, bot, guild.id)).code == 50026


async def test_a_refusal_changes_nothing(platform: Platform) -> None:
    guild, bot = await community(platform)
    body = {"authorize": False, "guild_id": str(guild.id)}
    reply = await guild.owner.post("/oauth2/authorize", body, client_id=int(bot.id), scope="bot")
    assert "error=access_denied" in reply.json["location"]
    assert platform.heard == []
    assert await own_role(guild, bot) is None


async def test_before_consent_a_client_sees_the_bot_and_where_it_may_be_added(platform: Platform) -> None:
    guild, bot = await community(platform)
    manager = await guild.member_with(Permissions.MANAGE_GUILD)
    other = await platform.guild(await platform.person())
    await other.join(manager)
    shown = (await manager.get("/oauth2/authorize", client_id=int(bot.id), scope="bot")).json
    assert shown["application"]["id"] == shown["bot"]["id"] == str(bot.id)
    assert shown["user"]["id"] == str(manager.id)
    assert [item["id"] for item in shown["guilds"]] == [str(guild.id)]
    assert not {"owner", "redirect_uris"} & shown["application"].keys()
    assert (await manager.get("/oauth2/authorize", client_id=1)).code == 10002
    assert (await bot.get("/oauth2/authorize", client_id=int(bot.id))).code == 20001


async def test_an_access_token_reads_its_application_scopes_and_user(platform: Platform) -> None:
    guild, bot = await community(platform)
    known = await platform.bearer(guild.owner, int(bot.id), "identify", "guilds")
    hidden = await platform.bearer(guild.owner, int(bot.id), "guilds")
    async with platform.database.transaction() as tx:
        await tx.execute(_end_tokens, moment=Timestamp.now() + 60_000)
    shown = (await known.get("/oauth2/@me")).json
    assert (shown["application"]["id"], shown["scopes"]) == (str(bot.id), ["guilds", "identify"])
    assert shown["user"]["id"] == str(guild.owner.id)
    assert "user" not in (await hidden.get("/oauth2/@me")).json
    for caller in (guild.owner, bot, platform.anonymous):
        assert (await caller.get("/oauth2/@me")).status == 401


async def test_where_moderation_takes_two_factors_so_does_adding_a_bot(platform: Platform) -> None:
    guild, bot = await community(platform)
    await guild.set(mfa_level=1)
    assert (await add(guild.owner, bot, guild.id)).code == 60003
    assert platform.heard == []


async def test_a_bot_added_with_permissions_has_them_at_once(platform: Platform) -> None:
    guild, bot = await community(platform)
    await add(guild.owner, bot, guild.id, Permissions.SEND_MESSAGES)
    assert (await bot.post(f"/channels/{guild.general}/messages", {"content": "Hear!"})).status == 200
    await add(guild.owner, bot, guild.id, 0)
    assert (await bot.post(f"/channels/{guild.general}/messages", {"content": "Hear!"})).code == 50013
