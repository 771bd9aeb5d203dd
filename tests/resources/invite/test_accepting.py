"""Accepting invites to guilds."""

import asyncio
from typing import Any

from msgspec import structs
from sqlalchemy import bindparam, insert, select

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import get_member
from moothall.storage.database import Query
from moothall.storage.schema import bans, guilds
from tests.support.harness import Caller, Guild, Platform

_select_uses = Query(select(guilds.c.vanity_url_uses).where(guilds.c.id == bindparam("guild_id")))
_insert_ban = Query(insert(bans))


async def _invited(platform: Platform, body: dict[str, Any] | None = None, **values: Any) -> tuple[Caller, Guild, str]:
    owner = await platform.person()
    guild = await platform.guild(owner, **values)
    code = (await owner.post(f"/channels/{guild.general}/invites", body or {})).json["code"]
    platform.heard.clear()
    return owner, guild, code


async def _uses(owner: Caller, guild: Guild) -> list[int]:
    return [invite["uses"] for invite in (await owner.get(f"/guilds/{guild.id}/invites")).json]


async def test_accepting_an_invite_joins_the_guild_and_counts_a_use(platform: Platform) -> None:
    owner, guild, code = await _invited(platform)
    bob = await platform.person()
    reply = await bob.post(f"/invites/{code}")
    assert (reply.status, reply.json["guild"]["id"]) == (200, str(guild.id))
    assert platform.heard_names == ["GUILD_MEMBER_ADD"]
    assert (await bob.get(f"/channels/{guild.general}")).status == 200
    assert await _uses(owner, guild) == [1]


async def test_a_member_who_accepts_counts_no_use(platform: Platform) -> None:
    owner, guild, code = await _invited(platform, {"max_uses": 1})
    bob = await platform.person()
    await guild.join(bob)
    assert (await bob.post(f"/invites/{code}")).status == 200
    assert platform.heard_names == []
    assert await _uses(owner, guild) == [0]


async def test_the_last_use_deletes_the_invite(platform: Platform) -> None:
    owner, guild, code = await _invited(platform, {"max_uses": 2})
    first, second, third = [await platform.person() for _ in range(3)]
    assert (await first.post(f"/invites/{code}")).status == 200
    assert (await second.post(f"/invites/{code}")).status == 200
    assert platform.heard_names == ["GUILD_MEMBER_ADD", "GUILD_MEMBER_ADD", "INVITE_DELETE"]
    assert (await third.post(f"/invites/{code}")).code == 10006
    assert await _uses(owner, guild) == []


async def test_concurrent_requests_count_no_more_uses_than_there_are(platform: Platform) -> None:
    _, guild, code = await _invited(platform, {"max_uses": 3})
    people = [await platform.person() for _ in range(8)]
    replies = await asyncio.gather(*(person.post(f"/invites/{code}") for person in people))
    assert sorted(reply.status for reply in replies) == [200] * 3 + [404] * 5
    joined = [p for p in people if (await p.get(f"/channels/{guild.general}")).status == 200]
    assert len(joined) == 3


async def test_bots_do_not_accept_invites(platform: Platform) -> None:
    owner, guild, code = await _invited(platform)
    bot = await platform.bot(owner)
    reply = await bot.post(f"/invites/{code}")
    assert (reply.status, reply.code) == (403, 20001)
    assert await _uses(owner, guild) == [0]


async def test_no_user_joins_while_invites_are_paused(platform: Platform) -> None:
    owner, guild, code = await _invited(platform)
    bob = await platform.person()
    await guild.set(features=["INVITES_DISABLED"])
    assert (await bob.post(f"/invites/{code}")).status == 403
    soon, past = Timestamp(Timestamp.now() + 60_000).wire(), Timestamp(Timestamp.now() - 1).wire()
    await guild.set(features=[], incidents_data={"invites_disabled_until": soon})
    assert (await bob.post(f"/invites/{code}")).status == 403
    assert await _uses(owner, guild) == [0]
    assert platform.heard_names == []
    await guild.set(incidents_data={"invites_disabled_until": past})
    assert (await bob.post(f"/invites/{code}")).status == 200


async def test_a_vanity_code_in_any_case_joins_the_guild_and_counts_a_use(platform: Platform) -> None:
    owner = await platform.person()
    guild = await platform.guild(owner, vanity_url_code="moot", features=["VANITY_URL"])
    bob, carol = await platform.person(), await platform.person()
    shown = (await platform.anonymous.get("/invites/moot", with_counts=True)).json
    assert (shown["code"], shown["expires_at"], shown["approximate_member_count"]) == ("moot", None, 1)
    assert shown["channel"]["id"] == str(guild.general)
    assert "inviter" not in shown
    assert (await bob.post("/invites/moot")).status == 200
    assert (await carol.post("/invites/MOOT")).status == 200
    assert (await owner.delete("/invites/moot")).code == 10006
    async with platform.database.read() as reader:
        assert await reader.scalar(_select_uses, guild_id=guild.id) == 2


async def test_a_banned_user_cannot_join_and_counts_no_use(platform: Platform) -> None:
    owner, guild, code = await _invited(platform)
    bob = await platform.person()
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_ban, guild_id=guild.id, user_id=bob.id, created_at=Timestamp.now())
    reply = await bob.post(f"/invites/{code}")
    assert (reply.status, reply.code) == (403, 40007)
    assert await _uses(owner, guild) == [0]
    assert platform.heard_names == []


async def test_a_temporary_invite_adds_temporary_members(platform: Platform) -> None:
    _, guild, code = await _invited(platform, {"temporary": True})
    bob = await platform.person()
    assert (await bob.post(f"/invites/{code}")).status == 200
    async with platform.database.read() as reader:
        row = await get_member(reader, guild.id, bob.id)
    assert row is not None
    assert row.temporary is True


async def test_an_invite_adds_the_roles_that_its_creator_could_assign(platform: Platform) -> None:
    owner = await platform.person()
    guild = await platform.guild(owner)
    low = await guild.role(name="low")
    managed = await guild.role(position=1, managed=True)
    keeper = await guild.member_with(Permissions.MANAGE_ROLES)
    high = await guild.role(name="high")
    path = f"/channels/{guild.general}/invites"
    assert (await keeper.post(path, {"role_ids": [str(high)]})).code == 50013
    assert (await keeper.post(path, {"role_ids": [str(managed)]})).errors_at("role_ids.0")
    assert (await keeper.post(path, {"role_ids": ["5"]})).errors_at("role_ids.0")
    assert (await (await guild.member_with(0)).post(path, {"role_ids": [str(low)]})).code == 50013
    invite = (await keeper.post(path, {"role_ids": [str(low), str(low)]})).json
    assert [(role["id"], role["name"]) for role in invite["roles"]] == [(str(low), "low")]
    assert platform.heard_data("INVITE_CREATE")[0]["role_ids"] == [str(low)]
    bob = await platform.person()
    assert (await bob.post(f"/invites/{invite['code']}")).status == 200
    assert platform.heard_data("GUILD_MEMBER_ADD")[0]["roles"] == [str(low)]


async def test_simultaneous_requests_do_not_exceed_the_limit_of_guilds(platform: Platform) -> None:
    platform.services.limits = structs.replace(platform.services.limits, guilds_per_user=2)
    bob, codes = await platform.person(), list[str]()
    for _ in range(5):
        guild = await platform.guild(await platform.person())
        codes.append((await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"])
    replies = await asyncio.gather(*(bob.post(f"/invites/{code}", {}) for code in codes))
    assert sorted(reply.status for reply in replies) == [200, 200, 400, 400, 400]
