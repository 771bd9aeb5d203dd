"""Voice states: joining, leaving, permissions, stages."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.voice.operations.sessions import clear_voice, leave_voice
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform
from tests.support.voice import go


async def voice_channel_of(guild: Guild, who: Caller) -> str | None:
    reply = await who.get(f"/guilds/{guild.id}/voice-states/@me")
    return reply.json["channel_id"] if reply.status == 200 else None


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def test_joining_changing_and_leaving_are_each_announced_once(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    assert await go(platform, guild, guild.owner, lobby)
    assert await go(platform, guild, guild.owner, lobby)
    assert await go(platform, guild, guild.owner, lobby, self_mute=True)
    assert await go(platform, guild, guild.owner, None)
    assert await go(platform, guild, guild.owner, None)
    states = platform.heard_data("VOICE_STATE_UPDATE")
    assert [(s["channel_id"], s["self_mute"]) for s in states] == [
        (str(int(lobby)), False),
        (str(int(lobby)), True),
        (None, True),
    ]
    first = states[0]
    assert first["guild_id"] == str(int(guild.id))
    assert first["session_id"] == "s1"
    assert first["member"]["user"]["id"] == first["user_id"] == str(int(guild.owner.id))


async def test_joining_requires_a_voice_channel_of_the_guild_and_connect(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    await guild.join(bob)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    locked = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.CONNECT)])
    elsewhere = await (await platform.guild(bob)).channel(type=VOICE)
    for channel in (guild.general, hidden, locked, elsewhere, ChannelId(guild.id)):
        assert not await go(platform, guild, bob, channel)
    outsider = await platform.person()
    assert not await go(platform, guild, outsider, await guild.channel(type=VOICE))
    assert platform.heard_names == []


async def test_members_with_move_members_join_a_full_channel(platform: Platform, guild: Guild) -> None:
    small = await guild.channel(type=VOICE, user_limit=1)
    people = [await platform.person() for _ in range(4)]
    await guild.join(*people)
    got_in = await asyncio.gather(*(go(platform, guild, p, small, session=p.name) for p in people))
    assert sum(got_in) == 1
    assert await go(platform, guild, guild.owner, small)


async def test_a_moved_member_has_one_voice_state(platform: Platform, guild: Guild) -> None:
    one, two = await guild.channel(type=VOICE), await guild.channel(type=VOICE)
    await go(platform, guild, guild.owner, one)
    await go(platform, guild, guild.owner, two)
    assert [s["channel_id"] for s in platform.heard_data("VOICE_STATE_UPDATE")] == [str(int(one)), str(int(two))]
    assert await voice_channel_of(guild, guild.owner) == str(int(two))


async def test_a_member_without_speak_is_suppressed(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    await guild.join(bob)
    quiet = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.SPEAK)])
    await go(platform, guild, bob, quiet)
    assert platform.heard_data("VOICE_STATE_UPDATE")[-1]["suppress"] is True


async def test_the_end_of_a_session_deletes_only_its_own_voice_state(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    await go(platform, guild, guild.owner, lobby, session="old")
    await go(platform, guild, guild.owner, lobby, session="new")
    await leave_voice(platform.services, guild.owner.id, "old")
    assert await voice_channel_of(guild, guild.owner) == str(int(lobby))
    await leave_voice(platform.services, guild.owner.id, "new")
    await leave_voice(platform.services, guild.owner.id, "new")
    assert await voice_channel_of(guild, guild.owner) is None
    assert [s["channel_id"] is None for s in platform.heard_data("VOICE_STATE_UPDATE")] == [False, False, True]


async def test_the_voice_states_of_a_node_are_deleted_when_it_restarts(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    await go(platform, guild, guild.owner, lobby)
    await clear_voice(platform.services, "another")
    assert await voice_channel_of(guild, guild.owner) == str(int(lobby))
    await clear_voice(platform.services, "n1")
    assert await voice_channel_of(guild, guild.owner) is None
    assert platform.heard_data("VOICE_STATE_UPDATE")[-1]["channel_id"] is None


async def test_a_voice_state_is_returned_to_those_who_view_its_channel(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    await guild.join(bob)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    path = f"/guilds/{guild.id}/voice-states/{guild.owner.id}"
    assert (await bob.get(path)).code == 10065
    await go(platform, guild, guild.owner, hidden)
    assert (await bob.get(path)).code == 10065
    await go(platform, guild, guild.owner, await guild.channel(type=VOICE))
    assert (await bob.get(path)).json["user_id"] == str(int(guild.owner.id))


async def test_a_member_who_joins_a_stage_is_suppressed_until_invited(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    await guild.join(bob)
    stage = await guild.channel(type=STAGE)
    await go(platform, guild, bob, stage)
    mine, his = f"/guilds/{guild.id}/voice-states/@me", f"/guilds/{guild.id}/voice-states/{bob.id}"
    assert (await bob.patch(mine, {"channel_id": str(int(stage)), "suppress": False})).code == 50013
    requested_at = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    assert (await bob.patch(mine, {"request_to_speak_timestamp": requested_at})).status == 204
    assert (await guild.owner.patch(his, {"channel_id": str(int(guild.general)), "suppress": False})).status == 400
    assert (await guild.owner.patch(his, {"channel_id": str(int(stage)), "suppress": False})).status == 204
    assert (await guild.owner.patch(his, {"suppress": False})).status == 204
    assert (await bob.patch(mine, {"suppress": True})).status == 204
    states = platform.heard_data("VOICE_STATE_UPDATE")
    assert [s["suppress"] for s in states] == [True, True, False, True]
    assert [s["request_to_speak_timestamp"] is None for s in states] == [True, False, False, True]


async def test_requesting_to_speak_requires_the_permission(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    await guild.join(bob)
    stage = await guild.channel(type=STAGE, overwrites=[(guild.id, 0, 0, Permissions.REQUEST_TO_SPEAK)])
    await go(platform, guild, bob, stage)
    path = f"/guilds/{guild.id}/voice-states/@me"
    now = datetime.now(UTC).isoformat()
    assert (await bob.patch(path, {"request_to_speak_timestamp": now})).code == 50013
    assert (await bob.patch(path, {"request_to_speak_timestamp": None})).status == 204


async def test_voice_states_are_modified_only_on_stages(platform: Platform, guild: Guild) -> None:
    path = f"/guilds/{guild.id}/voice-states/@me"
    assert (await guild.owner.patch(path, {"suppress": True})).code == 10065
    await go(platform, guild, guild.owner, await guild.channel(type=VOICE))
    assert (await guild.owner.patch(path, {"suppress": True})).code == 50024


async def test_there_is_a_voice_region(platform: Platform, guild: Guild) -> None:
    everywhere = (await guild.owner.get("/voice/regions")).json
    assert [r["optimal"] for r in everywhere].count(True) == 1
    assert (await guild.owner.get(f"/guilds/{guild.id}/regions")).json == everywhere
    assert (await platform.anonymous.get("/voice/regions")).status == 401


async def test_vip_regions_are_for_guilds_that_have_them(guild: Guild) -> None:
    bridge = await guild.channel(type=VOICE, rtc_region="local")
    assert (await guild.owner.patch(f"/channels/{bridge}", {"rtc_region": "vip-local"})).errors_at("rtc_region")
    await guild.set(features=["VIP_REGIONS"])
    listed = [region["id"] for region in (await guild.owner.get(f"/guilds/{guild.id}/regions")).json]
    assert listed == ["local", "vip-local"]
    assert [region["id"] for region in (await guild.owner.get("/voice/regions")).json] == ["local"]
    moved = await guild.owner.patch(f"/channels/{bridge}", {"rtc_region": "vip-local"})
    assert (moved.status, moved.json["rtc_region"]) == (200, "vip-local")


async def test_a_state_says_since_when_its_user_is_in_voice(platform: Platform, guild: Guild) -> None:
    lobby, other = await guild.channel(type=VOICE), await guild.channel(type=VOICE)
    bob = await guild.member_with(0)
    began = int(Timestamp.now()) // 1000
    assert await go(platform, guild, bob, lobby)
    entered = platform.heard_data("VOICE_STATE_UPDATE")[-1]["connected_at"]
    assert began <= entered <= int(Timestamp.now()) // 1000
    assert await go(platform, guild, bob, other)
    assert platform.heard_data("VOICE_STATE_UPDATE")[-1]["connected_at"] == entered
    assert (await bob.get(f"/guilds/{guild.id}/voice-states/@me")).json["connected_at"] == entered
    assert await go(platform, guild, bob, None)
    assert "connected_at" not in platform.heard_data("VOICE_STATE_UPDATE")[-1]
