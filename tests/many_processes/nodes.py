"""Several whole platforms in this process, on one database and one NATS server, as if each had its own process."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moothall.app.application import App
from moothall.gateway.node import GatewayNode
from moothall.settings import Settings
from tests.gateway.peer import Peer
from tests.support.harness import Caller, Platform

KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


class Node:
    """One platform with everything that a server process has except its socket."""

    def __init__(self, database_url: str, nats_url: str | None, data: Path, **settings: Any) -> None:
        self.app = App(
            Settings(
                database_url=database_url,
                nats_url=nats_url,
                data=data,
                secret_key=KEY,
                demo=False,
                rate_limits=False,
                database_connections=6,
                **settings,
            )
        )
        self.platform = Platform(self.app.database)

    async def start(self) -> None:
        """Start and join the other nodes."""
        await self.app.start()
        self.platform.pipeline = self.app.pipeline
        self.platform.ids = self.app.services.ids

    async def stop(self) -> None:
        """Stop and leave them."""
        await self.app.stop()

    @property
    def gateway(self) -> GatewayNode:
        """Its gateway."""
        return self.app.gateway

    def as_seen(self, caller: Caller) -> Caller:
        """The same caller with requests to this node."""
        here = Caller(self.platform, caller.id, caller.authorization, name=caller.name)
        here.application_id = caller.application_id
        return here

    async def session(self, caller: Caller, *, guilds: int = 1, **fields: Any) -> "Listener":
        """A gateway session on this node that has received GUILD_CREATE of each guild."""
        peer = Peer(self.gateway)
        ready = await peer.identify(caller.token, **fields)
        listener = Listener(peer, ready)
        await listener.until(lambda: listener.names.count("GUILD_CREATE") == guilds)
        return listener


class Listener:
    """A client that records every dispatch."""

    def __init__(self, peer: Peer, ready: dict[str, Any]) -> None:
        self.peer = peer
        self.ready = ready
        self.session_id: str = ready["session_id"]
        self.dispatches: list[tuple[str, Any]] = []

    @property
    def names(self) -> list[str]:
        """The names of the dispatches so far."""
        return [name for name, _ in self.dispatches]

    async def until(self, true: Callable[[], bool], seconds: float = 60) -> None:
        """Receive until a condition holds."""
        async with asyncio.timeout(seconds):
            while not true():
                self.dispatches += await self.peer.dispatches()
                await asyncio.sleep(0.01)

    async def receive(self, name: str, **values: Any) -> Any:
        """Wait for a dispatch of a name whose data has these values; returns the data of the first."""
        matches: list[Any] = []

        def received() -> bool:
            matches[:] = [d for n, d in self.dispatches if n == name and values.items() <= d.items()]
            return bool(matches)

        await self.until(received)
        return matches[0]

    def clear(self) -> None:
        """Clear the recorded dispatches."""
        self.dispatches.clear()
