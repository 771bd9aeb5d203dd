"""This process among those that serve one database: it joins them, follows who lives, and leaves."""

import logging
from typing import TYPE_CHECKING

from moothall.bus import Bus
from moothall.gateway.node import GatewayNode
from moothall.kernel.context import Services
from moothall.kernel.nodes import Membership, space_of
from moothall.resources.guild.membership.operations import remove_departed_guests
from moothall.resources.voice.operations.sessions import clear_voice, clear_voice_of_others
from moothall.storage.database import StorageError

if TYPE_CHECKING:
    from moothall.bus.nats import NatsBus

log = logging.getLogger("moothall.nodes")


class ClusterMembers:
    """Joins a gateway node and its bus to the others.

    `shared` is the bus that reaches the others, None for a process alone. `number` is what keeps this
    process's ids apart, None for any that is free. A process on a database that nobody else can serve
    (SQLite) is always alone.
    """

    def __init__(
        self,
        services: Services,
        gateway: GatewayNode,
        bus: Bus,
        *,
        shared: "NatsBus | None",
        name: str,
        number: int | None,
    ) -> None:
        self._services = services
        self._gateway = gateway
        self._bus = bus
        self._shared = shared
        self._name = name
        self._number = number
        self._membership: Membership | None = None

    async def join(self) -> None:
        """Take a place among the others and begin to hear them.

        Raises StorageError, BusUnavailable, or NumberTaken if another process makes ids with the number.
        """
        try:
            await self._join()
        except BaseException:
            await self.leave()
            raise

    async def leave(self) -> None:
        """Give the place up. What is still in the outbox is published by the others, or after the next start."""
        if self._shared is not None and self._shared.connected:
            try:
                await remove_departed_guests(self._services, await clear_voice(self._services, self._name))
            except StorageError as problem:
                log.warning("voice connections remain: %s", problem)
        if self._membership is not None:
            await self._membership.leave()
        await self._bus.close()

    async def _join(self) -> None:
        services = self._services
        membership = None
        if services.database.dialect != "sqlite":
            membership = self._membership = Membership(services.database, self._name, number=self._number)
            self._renumber(await membership.join())
            membership.renumbered, membership.changed = self._renumber, self._changed
            membership.start()
        elif self._number is not None:
            self._renumber(self._number)
        if self._shared is not None:
            self._shared.space = await space_of(services.database)
            self._shared.missed = self._gateway.start_over
            if self._gateway.shared_presences is not None:
                self._shared.returned = self._gateway.shared_presences.tell_all
        await self._bus.start()
        # Voice connections do not outlive the sessions that held them.
        if self._shared is None or membership is None:
            ended = await clear_voice(services)
        else:
            ended = await clear_voice_of_others(services, membership.alive)
        await remove_departed_guests(services, ended)

    def _renumber(self, number: int) -> None:
        self._services.ids.renumber(worker=number >> 5, process=number & 31)
        if self._gateway.shared_presences is not None:
            # Others may have taken this process for dead.
            self._gateway.shared_presences.tell_all()

    async def _changed(self, alive: frozenset[str], gone: frozenset[str]) -> None:
        presences = self._gateway.shared_presences
        if presences is None:
            if len(alive) > 1:
                log.warning("another process serves this database: without nats_url they do not hear each other")
            return
        presences.keep(alive)
        if gone and self._name == min(alive):
            await remove_departed_guests(self._services, await clear_voice_of_others(self._services, alive))
