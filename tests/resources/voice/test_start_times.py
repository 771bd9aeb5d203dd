"""When the first of those in a voice channel entered it."""

from typing import Any

import pytest

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import clear_voice, leave_voice
from tests.gateway.peer import Peer
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform
from tests.support.voice import go

UPDATE = "VOICE_CHANNEL_START_TIME_UPDATE"


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


def announced(platform: Platform) -> list[tuple[int, bool]]:
    """The channels whose session started (True) or ended since the last call."""
    updates = [(int(d["id"]), d["voice_start_time"] is not None) for d in platform.heard_data(UPDATE)]
    platform.heard.clear()
    return updates


async def starts_of(platform: Platform, guild: Guild, who: Caller) -> Any:
    """The channels that opcode 43 answers."""
    peer = Peer(
        GatewayNode(GatewaySettings(), platform.bus, DatabaseSource(platform.database, platform.services.states))
    )
    await peer.identify(who.token)
    while (await peer.receive())["t"] != "GUILD_CREATE":
        pass
    peer.send({"op": 43, "d": {"guild_id": str(guild.id), "fields": ["voice_start_time"]}})
    while (frame := await peer.receive())["t"] != "CHANNEL_INFO":
        pass
    return frame["d"]["channels"]


@pytest.mark.parametrize("kind", [VOICE, STAGE])
async def test_the_first_who_enters_starts_it_and_the_last_who_leaves_ends_it(
    platform: Platform, guild: Guild, kind: int
) -> None:
    lobby = await guild.channel(type=kind)
    bob, carol = await guild.member_with(0), await guild.member_with(0)
    assert await go(platform, guild, bob, lobby, session="b")
    (start,) = platform.heard_data(UPDATE)
    assert start.keys() == {"id", "guild_id", "voice_start_time"}
    assert (start["guild_id"], announced(platform)) == (str(guild.id), [(lobby, True)])
    assert await go(platform, guild, carol, lobby, session="c")
    assert await go(platform, guild, bob, lobby, session="b", self_mute=True)
    assert await go(platform, guild, bob, None, session="b")
    assert announced(platform) == []
    assert await starts_of(platform, guild, carol) == [
        {"id": str(lobby), "voice_start_time": start["voice_start_time"]}
    ]
    assert await go(platform, guild, carol, None, session="c")
    assert announced(platform) == [(lobby, False)]
    assert await starts_of(platform, guild, carol) == []


async def test_each_way_out_of_a_channel_ends_it(platform: Platform, guild: Guild) -> None:
    lobby, other = await guild.channel(type=VOICE), await guild.channel(type=VOICE)

    async def enter(who: Caller) -> None:
        assert await go(platform, guild, who, lobby, session="s1")
        assert announced(platform)[-1] == (lobby, True)

    bob, carol = await guild.member_with(0), await guild.member_with(0)
    await enter(bob)
    assert await go(platform, guild, bob, other, session="s1")
    assert announced(platform) == [(other, True), (lobby, False)]
    await guild.owner.patch(f"/guilds/{guild.id}/members/{bob.id}", {"channel_id": str(lobby)})
    assert announced(platform) == [(lobby, True), (other, False)]
    await guild.owner.patch(f"/guilds/{guild.id}/members/{bob.id}", {"channel_id": None})
    assert announced(platform) == [(lobby, False)]
    await enter(bob)
    await leave_voice(platform.services, bob.id, "s1")
    assert announced(platform) == [(lobby, False)]
    await enter(bob)
    await clear_voice(platform.services, "n1")  # the process that had the session starts again
    assert announced(platform) == [(lobby, False)]
    await enter(bob)
    await guild.owner.delete(f"/guilds/{guild.id}/members/{bob.id}")
    assert announced(platform) == [(lobby, False)]
    await enter(carol)
    await guild.owner.post(f"/guilds/{guild.id}/bulk-ban", {"user_ids": [str(carol.id)]})
    assert announced(platform) == [(lobby, False)]


async def test_only_viewers_of_the_channel_learn_of_it(platform: Platform, guild: Guild) -> None:
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    bob = await guild.member_with(0)
    assert await go(platform, guild, guild.owner, hidden)
    (update,) = [event for event in platform.heard if event.name == UPDATE]
    assert update.channel_id == hidden
    assert await starts_of(platform, guild, bob) == []
    assert len(await starts_of(platform, guild, guild.owner)) == 1
