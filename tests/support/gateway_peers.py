"""Peers that have identified, and what they receive where their session is invalid."""

from moothall.gateway.node import GatewayNode
from tests.gateway.peer import Peer

INVALID = {"op": 9, "d": False, "s": None, "t": None}


async def identified(node: GatewayNode, token: str = "alice", query: str = "v=10&encoding=json") -> tuple[Peer, str]:
    """A client with its guild, and the id of its session."""
    peer = Peer(node, query)
    ready = await peer.identify(token)
    await peer.receive_all()
    return peer, ready["session_id"]
