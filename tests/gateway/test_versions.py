"""What sessions of version 9 of the API receive otherwise than those of version 10."""

import pytest

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.application import ApplicationFlags
from moothall.objects.intents import Intent
from tests.gateway.peer import Peer
from tests.support.harness import Platform

READS = int(ApplicationFlags.GATEWAY_MESSAGE_CONTENT_LIMITED)
STATED = int(Intent.GUILDS | Intent.GUILD_MESSAGES)


@pytest.mark.parametrize(
    ("query", "flags", "content"),
    [("v=9", READS, "bread"), ("v=9", 0, ""), ("v=10", READS, ""), ("", READS, "")],
)
async def test_a_bot_of_version_9_that_may_read_content_need_not_state_the_intent(
    platform: Platform, query: str, flags: int, content: str
) -> None:
    guild = await platform.guild(await platform.person())
    bot = await platform.bot(guild.owner, flags=flags)
    await guild.join(bot)
    node = GatewayNode(GatewaySettings(), platform.bus, DatabaseSource(platform.database, platform.services.states))
    peer = Peer(node, f"{query}&encoding=json")
    await peer.identify(bot.token, intents=STATED)
    while (await peer.receive())["t"] != "GUILD_CREATE":
        pass
    await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "bread"})
    while (frame := await peer.receive())["t"] != "MESSAGE_CREATE":
        pass
    assert frame["d"]["content"] == content
