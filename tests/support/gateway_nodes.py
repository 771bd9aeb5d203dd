"""Gateway nodes over the database of a test's platform."""

from typing import Any

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from tests.gateway.peer import Peer
from tests.support.harness import Caller, Platform

ACTIVE = {
    "archived": False,
    "auto_archive_duration": 60,
    "archive_timestamp": "2026-01-01T00:00:00+00:00",
    "locked": False,
}


def node_over(platform: Platform, **settings: Any) -> GatewayNode:
    """A node that reads a platform's database and hears its bus."""
    source = DatabaseSource(platform.database, platform.services.states)
    return GatewayNode(GatewaySettings(**settings), platform.bus, source)


async def greeted(node: GatewayNode, caller: Caller, **fields: Any) -> tuple[dict[str, Any], dict[str, Any], Peer]:
    """READY, the one GUILD_CREATE, and the peer."""
    peer = Peer(node)
    ready = await peer.identify(caller.token, **fields)
    created = await peer.receive()
    assert created["t"] == "GUILD_CREATE"
    return ready, created["d"], peer
