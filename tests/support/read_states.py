"""Read states and mention counts, as a client receives them."""

from typing import Any

from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller

EVERYTHING = 1 << 2 | 1 << 7
"""Capabilities: a versioned `read_state`, with those of guilds and the user."""


async def ready_of(caller: Caller, capabilities: int = 0) -> dict[str, Any]:
    """READY of a new session."""
    return await Peer(node_over(caller.platform)).identify(caller.token, capabilities=capabilities)


async def mentions_of(caller: Caller) -> dict[str, int]:
    """The mention count of each channel with one, by id."""
    entries = (await ready_of(caller))["read_state"]
    return {entry["id"]: entry["mention_count"] for entry in entries if entry["mention_count"]}


async def say(caller: Caller, channel_id: object, content: str, **fields: Any) -> dict[str, Any]:
    """Send a message and return it."""
    reply = await caller.post(f"/channels/{channel_id}/messages", {"content": content, **fields})
    assert reply.status == 200, reply.json
    message: dict[str, Any] = reply.json
    return message
