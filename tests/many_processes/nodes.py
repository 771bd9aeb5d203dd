"""Several whole platforms in this process, on one database and one NATS server, as if each had its own process."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moothall.app import App
from moothall.gateway.node import GatewayNode
from moothall.settings import Settings
from tests.gateway.peer import Peer
from tests.harness import Caller, Platform

KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


class Node:
    """One platform with everything that a server process has but its socket."""

    def __init__(self, database_url: str, nats_url: str, data: Path, **settings: Any) -> None:
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
        """Join the others."""
        await self.app.start()
        self.platform.pipeline = self.app.pipeline
        self.platform.ids = self.app.services.ids

    async def stop(self) -> None:
        """Leave them."""
        await self.app.stop()

    @property
    def gateway(self) -> GatewayNode:
        """Its gateway."""
        return self.app.gateway

    def as_seen(self, caller: Caller) -> Caller:
        """The same person, whose requests come to this node."""
        here = Caller(self.platform, caller.id, caller.authorization, name=caller.name)
        here.application_id = caller.application_id
        return here

    async def session(self, caller: Caller, *, guilds: int = 1, **fields: Any) -> "Listener":
        """A gateway session of somebody's on this node, greeted."""
        peer = Peer(self.gateway)
        ready = await peer.identify(caller.token, **fields)
        listener = Listener(peer, ready["session_id"])
        await listener.until(lambda: listener.names.count("GUILD_CREATE") == guilds)
        return listener


class Listener:
    """A client that notes every dispatch."""

    def __init__(self, peer: Peer, session_id: str) -> None:
        self.peer = peer
        self.session_id = session_id
        self.heard: list[tuple[str, Any]] = []

    @property
    def names(self) -> list[str]:
        """The names of the dispatches so far."""
        return [name for name, _ in self.heard]

    async def until(self, true: Callable[[], bool], seconds: float = 15) -> None:
        """Listen until something is so."""
        async with asyncio.timeout(seconds):
            while not true():
                self.heard += await self.peer.dispatches()
                await asyncio.sleep(0.01)

    async def hear(self, name: str, **wanted: Any) -> Any:
        """The first dispatch of a name whose data has these values; listens until it comes."""
        found: list[Any] = []

        def came() -> bool:
            found[:] = [d for n, d in self.heard if n == name and wanted.items() <= d.items()]
            return bool(found)

        await self.until(came)
        return found[0]

    def forget(self) -> None:
        """Begin to note anew."""
        self.heard.clear()
