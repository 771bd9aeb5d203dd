"""The status of a voice channel."""

import pytest

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.permissions import Permissions
from tests.gateway.peer import Peer
from tests.support.harness import CATEGORY, STAGE, VOICE, Guild, Platform
from tests.support.voice import go

AUDIT, UPDATE = "GUILD_AUDIT_LOG_ENTRY_CREATE", "VOICE_CHANNEL_STATUS_UPDATE"


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def test_a_status_is_set_changed_and_removed(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    path = f"/channels/{lobby}/voice-status"
    for body, status in (({"status": " Chess "}, "Chess"), ({"status": "Go"}, "Go"), ({"status": None}, None)):
        with platform.listening() as heard:
            reply = await guild.owner.put(path, body, reason="games")
        assert (reply.status, heard) == (204, [AUDIT, UPDATE])
        expected = {"id": str(lobby), "guild_id": str(guild.id), "status": status}
        assert platform.heard_data(UPDATE)[-1] == expected
    assert platform.heard[-1].channel_id == lobby
    for empty in ({"status": ""}, {}, {"status": None}):
        with platform.listening() as heard:
            assert (await guild.owner.put(path, empty)).status == 204
        assert heard == []
    assert await guild.audit_log() == [(192, lobby, "games"), (192, lobby, "games"), (193, lobby, "games")]
    assert [entry.get("options") for entry in platform.heard_data(AUDIT)] == [
        {"status": "Chess"},
        {"status": "Go"},
        None,
    ]


async def test_who_is_not_connected_needs_manage_channels_too(platform: Platform, guild: Guild) -> None:
    everyone = f"/guilds/{guild.id}/roles/{guild.id}"
    basic = Permissions.VIEW_CHANNEL | Permissions.CONNECT
    await guild.owner.patch(everyone, {"permissions": str(int(basic))})
    lobby = await guild.channel(type=VOICE)
    path, body = f"/channels/{lobby}/voice-status", {"status": "Chess"}
    plain = await guild.member_with(Permissions.MANAGE_CHANNELS)
    setter = await guild.member_with(Permissions.SET_VOICE_CHANNEL_STATUS)
    both = await guild.member_with(Permissions.SET_VOICE_CHANNEL_STATUS | Permissions.MANAGE_CHANNELS)
    for member in (plain, setter):
        assert (await member.put(path, body)).code == 50013
    assert (await both.put(path, body)).status == 204
    assert await go(platform, guild, setter, await guild.channel(type=VOICE))
    assert (await setter.put(path, {"status": "Go"})).code == 50013
    assert await go(platform, guild, setter, lobby)
    assert (await setter.put(path, {"status": "Go"})).status == 204
    assert await go(platform, guild, plain, lobby)
    assert (await plain.put(path, body)).code == 50013


async def test_only_voice_channels_have_a_status_of_at_most_500_characters(guild: Guild) -> None:
    for channel in (guild.general, await guild.channel(type=STAGE), await guild.channel(type=CATEGORY)):
        assert (await guild.owner.put(f"/channels/{channel}/voice-status", {"status": "x"})).code == 50024
    lobby = await guild.channel(type=VOICE)
    path = f"/channels/{lobby}/voice-status"
    assert (await guild.owner.put(path, {"status": "x" * 500})).status == 204
    assert (await guild.owner.put(path, {"status": "x" * 501})).errors_at("status")
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    bob = await guild.member_with(0)
    assert (await bob.put(f"/channels/{hidden}/voice-status", {"status": "x"})).code == 50001


async def test_sessions_request_the_statuses_of_the_channels_that_they_see(platform: Platform, guild: Guild) -> None:
    lobby = await guild.channel(type=VOICE)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    doomed = await guild.channel(type=VOICE)
    for channel in (lobby, hidden, doomed):
        await guild.owner.put(f"/channels/{channel}/voice-status", {"status": "Chess"})
    await guild.owner.delete(f"/channels/{doomed}")
    bob = await guild.member_with(0)
    node = GatewayNode(GatewaySettings(), platform.bus, DatabaseSource(platform.database, platform.services.states))
    other = await platform.guild(await platform.person())
    for caller, seen in ((bob, [lobby]), (guild.owner, [lobby, hidden])):
        peer = Peer(node)
        await peer.identify(caller.token)
        while (await peer.receive())["t"] != "GUILD_CREATE":
            pass
        for guild_id, fields in ((other.id, ["status"]), (guild.id, ["voice_start_time"]), (guild.id, ["status"])):
            peer.send({"op": 43, "d": {"guild_id": str(guild_id), "fields": fields}})
        answers = list[object]()
        while len(answers) < 2:
            frame = await peer.receive()
            if frame["t"] == "CHANNEL_INFO":
                answers.append(frame["d"])
        assert answers == [
            {"guild_id": str(guild.id), "channels": []},
            {"guild_id": str(guild.id), "channels": [{"id": str(each), "status": "Chess"} for each in seen]},
        ]
