"""Pausing invites and direct messages (api.md, Modify Guild Incident Actions)."""

import pytest

from moothall.objects.wire import Timestamp
from tests.support.harness import Caller, Guild, Platform

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
HOUR = 3_600_000


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


def ahead(hours: float) -> str:
    return Timestamp(Timestamp.now() + int(hours * HOUR)).wire()


async def test_a_pause_is_returned_announced_recorded_and_part_of_the_guild(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    until = ahead(3)
    reply = await owner.put(f"/guilds/{guild.id}/incident-actions", {"invites_disabled_until": until})
    assert reply.status == 200
    assert (reply.json["invites_disabled_until"], reply.json["dms_disabled_until"]) == (until, None)
    assert platform.heard_names == [AUDIT, "GUILD_UPDATE"]
    assert platform.heard_data("GUILD_UPDATE")[0]["incidents_data"] == reply.json
    assert (await owner.get(f"/guilds/{guild.id}")).json["incidents_data"] == reply.json
    assert await guild.audit_log() == [(1, guild.id, None)]


async def test_an_absent_pause_is_kept_and_null_ends_one(owner: Caller, guild: Guild) -> None:
    path, invites, dms = f"/guilds/{guild.id}/incident-actions", ahead(3), ahead(24)
    await owner.put(path, {"invites_disabled_until": invites})
    both = (await owner.put(path, {"dms_disabled_until": dms})).json
    assert (both["invites_disabled_until"], both["dms_disabled_until"]) == (invites, dms)
    one = (await owner.put(path, {"invites_disabled_until": None})).json
    assert (one["invites_disabled_until"], one["dms_disabled_until"]) == (None, dms)
    none = (await owner.put(path, {"dms_disabled_until": ahead(-1)})).json
    assert none["dms_disabled_until"] is None
    # The guild object keeps the incidents data once it is set.
    assert (await owner.patch(f"/guilds/{guild.id}", {})).json["incidents_data"] == none


async def test_a_change_of_nothing_is_neither_recorded_nor_announced(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    for body in ({}, {"invites_disabled_until": None}, {"dms_disabled_until": ahead(-2)}):
        reply = await owner.put(f"/guilds/{guild.id}/incident-actions", body)
        assert reply.json["invites_disabled_until"] is None
    assert platform.heard == []
    assert await guild.audit_log() == []


async def test_a_pause_of_more_than_a_day_refuses_the_whole_request(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    body = {"invites_disabled_until": ahead(1), "dms_disabled_until": ahead(24.1)}
    reply = await owner.put(f"/guilds/{guild.id}/incident-actions", body)
    assert reply.code == 50035
    assert reply.errors_at("dms_disabled_until")
    assert not reply.errors_at("invites_disabled_until")
    assert (await owner.put(f"/guilds/{guild.id}/incident-actions", {"dms_disabled_until": "soon"})).code == 50035
    assert platform.heard == []


async def test_while_invites_are_paused_no_user_joins_and_no_use_is_counted(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    code = (await owner.post(f"/channels/{guild.general}/invites", {"max_uses": 1})).json["code"]
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"invites_disabled_until": ahead(1)})
    bob = await platform.person("bob")
    assert (await bob.post(f"/invites/{code}", {})).status == 403
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"invites_disabled_until": None})
    assert (await bob.post(f"/invites/{code}", {})).status == 200


async def test_a_pause_ends_by_itself(platform: Platform, owner: Caller, guild: Guild) -> None:
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await guild.set(incidents_data={"invites_disabled_until": ahead(-0.1), "dms_disabled_until": ahead(-0.1)})
    bob, carol = await platform.person("bob"), await platform.person("carol")
    await guild.join(carol)
    assert (await bob.post(f"/invites/{code}", {})).status == 200
    assert (await bob.post("/users/@me/channels", {"recipient_id": str(carol.id)})).status == 200


async def test_while_direct_messages_are_paused_a_shared_guild_does_not_permit_one(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    bob, carol = await platform.person("bob"), await platform.person("carol")
    await guild.join(bob, carol)
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"dms_disabled_until": ahead(1)})
    assert (await bob.post("/users/@me/channels", {"recipient_id": str(carol.id)})).status == 403
    other = await platform.guild(bob)
    await other.join(carol)
    assert (await bob.post("/users/@me/channels", {"recipient_id": str(carol.id)})).status == 200


async def test_while_direct_messages_are_paused_nothing_is_written_into_existing_ones(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    bob, carol = await platform.person("bob"), await platform.person("carol")
    await guild.join(bob, carol)
    channel = (await bob.post("/users/@me/channels", {"recipient_id": str(carol.id)})).json["id"]
    path = f"/channels/{channel}/messages"
    said = (await bob.post(path, {"content": "before"})).json
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"dms_disabled_until": ahead(1)})
    platform.heard.clear()
    for caller in (bob, carol):
        assert (await caller.post(path, {"content": "during"})).code == 50007
    assert (await bob.patch(f"{path}/{said['id']}", {"content": "during"})).code == 50007
    assert platform.heard == []
    assert [message["content"] for message in (await carol.get(path)).json] == ["before"]
    assert (await bob.delete(f"{path}/{said['id']}")).status == 204
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"dms_disabled_until": None})
    assert (await carol.post(path, {"content": "after"})).status == 200


async def test_a_pause_of_direct_messages_spares_bots_and_users_who_share_another_guild_or_none(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    bob, carol, dave = [await platform.person(name) for name in ("bob", "carol", "dave")]
    bot = await platform.bot(owner)
    await guild.join(bob, carol, bot)
    paths = {}
    for caller, other in ((bob, carol), (bob, dave), (bot, bob)):
        opened = await caller.post("/users/@me/channels", {"recipient_id": str(other.id)})
        paths[other.id] = f"/channels/{opened.json['id']}/messages"
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"dms_disabled_until": ahead(1)})
    assert (await bot.post(paths[bob.id], {"content": "x"})).status == 200
    assert (await bob.post(paths[bob.id], {"content": "x"})).status == 200
    assert (await bob.post(paths[dave.id], {"content": "x"})).status == 200
    assert (await bob.post(paths[carol.id], {"content": "x"})).code == 50007
    other_guild = await platform.guild(dave)
    await other_guild.join(bob, carol)
    assert (await bob.post(paths[carol.id], {"content": "x"})).status == 200


async def test_while_direct_messages_are_paused_no_group_is_a_way_round(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    bob, carol, dave = [await platform.person(name) for name in ("bob", "carol", "dave")]
    await guild.join(bob, carol)
    await bob.post("/users/@me/channels", {"recipient_id": str(carol.id)})
    opened = await bob.post("/users/@me/channels", {"recipient_id": str(dave.id)})
    await owner.put(f"/guilds/{guild.id}/incident-actions", {"dms_disabled_until": ahead(1)})
    added = await bob.put(f"/channels/{opened.json['id']}/recipients/{carol.id}", {})
    assert added.code == 50033
