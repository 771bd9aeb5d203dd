"""Add Guild Member: a bot adds the user of an access token (api.md)."""

from typing import Any

from moothall.objects.permissions import Permissions
from tests.oauth2.flow import App, application, bearer, tokens_of
from tests.support.harness import Caller, Guild, Platform, Reply

EVERYTHING = (
    Permissions.CREATE_INSTANT_INVITE
    | Permissions.MANAGE_NICKNAMES
    | Permissions.MANAGE_ROLES
    | Permissions.MUTE_MEMBERS
    | Permissions.DEAFEN_MEMBERS
)


async def arrange(platform: Platform, permissions: int = EVERYTHING) -> tuple[Guild, App, Caller, str]:
    """A guild with an application's bot in it, and a person's access token with guilds.join."""
    guild = await platform.guild(await platform.person(), everyone=Permissions.VIEW_CHANNEL)
    app, person = await application(platform), await platform.person()
    await guild.join(app.bot, roles=[await guild.role(permissions=permissions)])
    token = (await tokens_of(person, app, "identify guilds.join"))["access_token"]
    return guild, app, person, token


async def add(guild: Guild, bot: Caller, person: Caller, token: str, **body: Any) -> Reply:
    return await bot.put(f"/guilds/{guild.id}/members/{person.id}", {"access_token": token} | body)


async def test_a_user_joins_with_the_fields_of_the_request(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    role = await guild.role(position=1)
    await guild.role(position=9, permissions=EVERYTHING)
    with platform.listening() as heard:
        reply = await add(guild, app.bot, person, token, nick="Wanda", roles=[str(role)], mute=True, deaf=True)
    assert reply.status == 201, reply.body
    member = reply.json
    assert (member["user"]["id"], member["nick"], member["roles"]) == (str(person.id), "Wanda", [str(role)])
    assert (member["mute"], member["deaf"], member["pending"]) == (True, True, False)
    assert heard == ["GUILD_MEMBER_ADD"]
    assert (await person.get(f"/guilds/{guild.id}")).status == 200


async def test_a_member_is_not_changed(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    assert (await add(guild, app.bot, person, token)).status == 201
    with platform.listening() as heard:
        again = await add(guild, app.bot, person, token, nick="Other")
    assert (again.status, again.body, heard) == (204, b"", [])
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{person.id}")).json["nick"] is None


async def test_a_member_is_pending_where_membership_is_screened(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    await guild.set(features=["COMMUNITY", "MEMBER_VERIFICATION_GATE_ENABLED"])
    assert (await add(guild, app.bot, person, token)).json["pending"] is True


async def test_the_token_must_be_the_persons_the_applications_and_for_joining(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    other_person, other_app = await platform.person(), await application(platform)
    plain = (await tokens_of(person, app, "identify"))["access_token"]
    elsewhere = (await tokens_of(person, other_app, "guilds.join"))["access_token"]
    refresh = (await tokens_of(person, app, "guilds.join"))["refresh_token"]
    for wrong in ("", "nothing", plain, elsewhere, refresh, person.token, app.bot.token):
        assert (await add(guild, app.bot, person, wrong)).code == 50025
    assert (await add(guild, app.bot, other_person, token)).code == 50025
    assert (await add(guild, app.bot, Caller(platform, guild.id, None), token)).code == 50025
    assert platform.heard_names == []


async def test_only_the_bot_may_and_only_with_the_permission_of_each_field(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform, Permissions.CREATE_INSTANT_INVITE)
    role = await guild.role(position=0)
    for field, value in (("nick", "x"), ("roles", [str(role)]), ("mute", True), ("deaf", True)):
        assert (await add(guild, app.bot, person, token, **{field: value})).code == 50013
    assert (await add(guild, guild.owner, person, token)).code == 20002
    assert (await add(guild, bearer(platform, person, token), person, token)).code == 10004
    without = await arrange(platform, 0)
    assert (await add(without[0], without[1].bot, without[2], without[3])).code == 50013
    assert (await add(guild, app.bot, person, token, nick=None, roles=None, mute=None, deaf=False)).status == 201


async def test_a_role_above_the_bots_own_is_refused(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    high = await guild.role()
    assert (await add(guild, app.bot, person, token, roles=[str(high)])).code == 50013
    other = await platform.guild(await platform.person())
    foreign = await other.role()
    reply = await add(guild, app.bot, person, token, roles=[str(foreign)])
    assert reply.errors_at("roles.0") == ["BASE_TYPE_CHOICES"]
    assert (await person.get(f"/guilds/{guild.id}")).code == 10004


async def test_a_banned_user_cannot_be_added(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    await guild.owner.put(f"/guilds/{guild.id}/bans/{person.id}", {})
    platform.heard.clear()
    assert (await add(guild, app.bot, person, token)).code == 40007
    assert platform.heard_names == []


async def test_an_access_token_reads_its_users_member_in_a_guild(platform: Platform) -> None:
    guild, app, person, token = await arrange(platform)
    await add(guild, app.bot, person, token, nick="Wanda")
    reader = bearer(platform, person, (await tokens_of(person, app, "guilds.members.read"))["access_token"])
    path = f"/users/@me/guilds/{guild.id}/member"
    assert (await reader.get(path)).json["nick"] == "Wanda"
    assert (await bearer(platform, person, token).get(path)).code == 50026
    assert (await person.get(path)).json["user"]["id"] == str(person.id)
    outside = await platform.guild(await platform.person())
    assert (await reader.get(f"/users/@me/guilds/{outside.id}/member")).code == 10004
