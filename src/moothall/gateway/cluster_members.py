"""This process as one of those that serve a database: joining them, following which are alive, leaving."""

import logging
from typing import TYPE_CHECKING

from moothall.api.context import Services
from moothall.bus import Bus
from moothall.gateway.node import GatewayNode
from moothall.resources.activity.operations import clear_activities, clear_activities_of_others
from moothall.resources.call.operations.sessions import clear_calls, clear_calls_of_others
from moothall.resources.guild.membership.operations import remove_departed_guests
from moothall.resources.voice.operations.sessions import clear_voice, clear_voice_of_others
from moothall.storage.database import StorageError
from moothall.storage.nodes import Membership, database_id

if TYPE_CHECKING:
    from moothall.bus.nats import NatsBus

log = logging.getLogger("moothall.nodes")


class ClusterMembers:
    """Joins a gateway node and its bus to the other processes on the database.

    `shared` is the bus between processes, None for a process alone. `number` is the ten bits that make this
    process's ids unique, None for any free number. On SQLite a process is always alone.
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
        """Take a number for ids, start the bus and end the voice states and Activities of dead processes.

        Raises StorageError, BusUnavailable, or NodeNumberTaken if another process uses the number.
        """
        try:
            await self._join()
        except BaseException:
            await self.leave()
            raise

    async def leave(self) -> None:
        """Release the number and close the bus. Another process or a later one publishes what is left in the outbox."""
        if self._shared is not None and self._shared.connected:
            try:
                await remove_departed_guests(self._services, await clear_voice(self._services, self._name))
                await clear_calls(self._services, self._name)
                await clear_activities(self._services, self._name)
            except StorageError as problem:
                log.warning("voice connections remain: %s", problem)
        if self._membership is not None:
            await self._membership.leave()
        await self._bus.close()

    async def _join(self) -> None:
        services = self._services
        membership = None
        if services.database.dialect != "sqlite":
            membership = self._membership = Membership(
                services.database,
                self._name,
                number=self._number,
                on_renumber=self._set_number,
                on_change=self._update_members,
            )
            self._set_number(await membership.join())
            membership.start()
        elif self._number is not None:
            self._set_number(self._number)
        if self._shared is None:
            await self._bus.start()
        else:
            await self._shared.start(await database_id(services.database))
        # Voice states end with the session that they belong to.
        if self._shared is None or membership is None:
            ended = await clear_voice_of_others(services, ())
            await clear_calls_of_others(services, ())
            await clear_activities_of_others(services, ())
        else:
            ended = await clear_voice_of_others(services, membership.alive)
            await clear_calls_of_others(services, membership.alive)
            await clear_activities_of_others(services, membership.alive)
        await remove_departed_guests(services, ended)

    def _set_number(self, number: int) -> None:
        self._services.ids.renumber(worker=number >> 5, process=number & 31)
        if self._gateway.cluster_presences is not None:
            # Other processes may have removed this one's presences when its number expired.
            self._gateway.cluster_presences.publish_all()

    async def _update_members(self, alive: frozenset[str], removed: frozenset[str]) -> None:
        presences = self._gateway.cluster_presences
        if presences is None:
            if len(alive) > 1:
                log.warning(
                    "another process serves this database: without nats_url neither receives the other's events"
                )
            return
        presences.remove_dead_nodes(alive)
        if removed and self._name == min(alive):
            await remove_departed_guests(self._services, await clear_voice_of_others(self._services, alive))
            await clear_calls_of_others(self._services, alive)
            await clear_activities_of_others(self._services, alive)
