"""Sessions that record the events of threads."""

import asyncio
from collections.abc import Sequence
from typing import Any

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from tests.gateway.peer import Peer, run_pending
from tests.resources.thread.thread_guild import ThreadGuild
from tests.support.harness import Caller


class Listener:
    """A session, and the dispatches received."""

    def __init__(self, node: GatewayNode, caller: Caller, intents: int | None) -> None:
        self._node = node
        self._peer = Peer(node)
        identify: dict[str, Any] = {"token": caller.token, "properties": {}}
        self._peer.send({"op": 2, "d": identify | ({} if intents is None else {"intents": int(intents)})})

    def send(self, payload: Any) -> None:
        """Send a payload."""
        self._peer.send(payload)

    async def dispatches(self) -> list[tuple[str, Any]]:
        """Every dispatch since the last call, without presences."""
        await run_pending()
        hub = self._node.hub
        while hub._inbox or hub._tasks or any(view.buffered is not None or view.joining for view in hub.views.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        self._peer.send({"op": 1, "d": None})
        dispatches = []
        while (frame := await self._peer.receive())["op"] != 11:
            if frame["op"] == 0 and frame["t"] != "PRESENCE_UPDATE":
                dispatches.append((frame["t"], frame["d"]))
        return dispatches

    async def names(self) -> list[str]:
        """The names of those dispatches."""
        return [name for name, _ in await self.dispatches()]


async def listening(at: ThreadGuild, callers: Sequence[Caller], intents: int | None = None) -> list[Listener]:
    """Sessions of some callers that have received everything until now."""
    source = DatabaseSource(at.platform.database, at.platform.services.states)
    limits = GatewaySettings(identifies_per_window=0, commands_per_minute=0, presences_per_window=0)
    node = GatewayNode(limits, at.platform.bus, source)
    listeners = [Listener(node, caller, intents) for caller in callers]
    for listener in listeners:
        await listener.dispatches()
    for listener in listeners:
        await listener.dispatches()
    return listeners
