"""Opcode 31 over the database: the sounds of the guilds that a session has joined."""

from typing import Any

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from tests.gateway.peer import Peer
from tests.resources.soundboard.sound_files import mp3, uri
from tests.support.harness import Platform


async def next_of(peer: Peer, name: str) -> Any:
    """The `d` of the next dispatch of a name."""
    while (heard := await peer.receive())["t"] != name:
        pass
    return heard["d"]


async def test_each_requested_guild_is_answered_and_no_other(platform: Platform) -> None:
    owner = await platform.person()
    loud, still = await platform.guild(owner), await platform.guild(owner)
    other = await platform.guild(await platform.person())
    for guild in (loud, other):
        body = {"name": "gong", "sound": uri(mp3(1))}
        await guild.owner.post(f"/guilds/{guild.id}/soundboard-sounds", body)
    (made,) = platform.heard_data("GUILD_SOUNDBOARD_SOUND_CREATE")[:1]
    node = GatewayNode(GatewaySettings(), platform.bus, DatabaseSource(platform.database, platform.services.states))
    peer = Peer(node)
    await peer.identify(owner.token)
    created = [await next_of(peer, "GUILD_CREATE") for _ in range(2)]
    assert {guild["id"]: guild["soundboard_sounds"] for guild in created} == {
        str(int(loud.id)): [made],
        str(int(still.id)): [],
    }
    guild_ids = [str(int(guild.id)) for guild in (loud, other, still, loud)]
    peer.send({"op": 31, "d": {"guild_ids": guild_ids}})
    assert [await next_of(peer, "SOUNDBOARD_SOUNDS") for _ in range(2)] == [
        {"guild_id": str(int(loud.id)), "soundboard_sounds": [made]},
        {"guild_id": str(int(still.id)), "soundboard_sounds": []},
    ]
    await peer.disconnect(1000)
