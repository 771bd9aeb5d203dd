"""The ways to run the platform, and the faults that each is exposed to."""

import asyncio
import random
import shutil
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol

from tests.chaos.nodes import Node
from tests.chaos.proxy import Proxy
from tests.chaos.services import NatsCluster, OwnPostgres, postgres_programs
from tests.many_processes.nodes import KEY

Fault = Callable[[], Awaitable[None]]
"""Does harm and makes it good again."""

_STOPPED = 8.0
"""Seconds that a process stands still: longer than any deadline of the others."""
_OUTAGE = 4.0


class Topology(Protocol):
    """A platform of one or more processes."""

    def urls(self) -> Sequence[str]:
        """Where its nodes serve."""

    async def start(self) -> None:
        """Start everything."""

    def faults(self) -> dict[str, Fault]:
        """What can happen to it, by name."""

    async def until_healthy(self) -> None:
        """Wait until every node is."""

    async def stop(self) -> None:
        """End everything."""


class Single:
    """One process on SQLite."""

    def __init__(self, folder: Path, chance: random.Random, arguments: Sequence[str] = ()) -> None:
        self.chance = chance
        self.node = Node(folder / "single", arguments)

    def urls(self) -> Sequence[str]:
        """Where it serves."""
        return [self.node.url]

    async def start(self) -> None:
        """Start it."""
        await self.node.start()

    def faults(self) -> dict[str, Fault]:
        """The end of the process, and a pause of it."""
        return {"kill -9": self._restart, "stopped": self._pause, "restart": self._restart_gracefully}

    async def until_healthy(self) -> None:
        """Wait until it is."""
        await self.node.until_healthy()

    async def stop(self) -> None:
        """End it."""
        await self.node.stop()

    async def _restart(self) -> None:
        await self.node.kill()
        await self.node.start()

    async def _restart_gracefully(self) -> None:
        await self.node.stop()
        await self.node.start()

    async def _pause(self) -> None:
        for pid in (self.node.pid, *self.node.children()):
            self.node.signal(signal.SIGSTOP, pid)
        await asyncio.sleep(_OUTAGE)
        for pid in (self.node.pid, *self.node.children()):
            self.node.signal(signal.SIGCONT, pid)


class Workers(Single):
    """Three workers and a process that writes, on one SQLite file."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance, ("--workers", "3"))

    def faults(self) -> dict[str, Fault]:
        """The end or a pause of one of the processes, and of all."""
        return {**super().faults(), "kill -9 of one process": self._kill_one, "one stopped": self._pause_one}

    async def _kill_one(self) -> None:
        self.node.signal(signal.SIGKILL, self.chance.choice(self.node.children()))
        await asyncio.sleep(1)
        await self.node.until_healthy()

    async def _pause_one(self) -> None:
        pid = self.chance.choice(self.node.children())
        self.node.signal(signal.SIGSTOP, pid)
        await asyncio.sleep(_STOPPED)
        self.node.signal(signal.SIGCONT, pid)


class Cluster:
    """Three nodes on PostgreSQL with a synchronous standby and three NATS servers, each behind proxies of its own."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        programs = postgres_programs()
        assert programs is not None, "PostgreSQL's programs are not installed"
        self.chance = chance
        self._folder = folder
        self._primary = OwnPostgres(folder / "primary", programs, synchronous_standby=True)
        self._standby = OwnPostgres(folder / "standby", programs, synchronous_standby=False)
        self._nats = NatsCluster(folder)
        self._database_proxies: list[Proxy] = []
        self._bus_proxies: list[list[Proxy]] = []
        self.nodes: list[Node] = []
        self._failed_over = False

    def urls(self) -> Sequence[str]:
        """Where the nodes serve."""
        return [node.url for node in self.nodes]

    async def start(self) -> None:
        """Start the services, then the nodes."""
        files = self._folder / "files"
        files.mkdir()
        for number in range(len(self._nats.ports)):
            self._nats.start(number)
        await self._primary.create()
        # A commit waits for the standby from the moment that the setting is there.
        await self._primary.start()
        await self._standby.copy(self._primary)
        await self._standby.start()
        await self._primary.until_standby_follows()
        await self._nats.until_ready()
        for number in range(3):
            database = Proxy(self._primary.port)
            buses = [Proxy(port) for port in self._nats.ports]
            for proxy in (database, *buses):
                await proxy.start()
            self._database_proxies.append(database)
            self._bus_proxies.append(buses)
            variables = {
                "MOOTHALL_DATABASE_URL": f"postgresql://moothall@127.0.0.1:{database.port}/postgres",
                "MOOTHALL_NATS_URL": ",".join(f"nats://127.0.0.1:{bus.port}" for bus in buses),
                "MOOTHALL_SECRET_KEY": KEY,
                "MOOTHALL_BLOB_URL": files.as_uri(),
                "PGSSLMODE": "disable",
            }
            node = Node(self._folder / f"node-{number}", (), variables=variables)
            await node.start()
            self.nodes.append(node)

    def faults(self) -> dict[str, Fault]:
        """What happens to nodes, networks, databases and the bus."""
        faults: dict[str, Fault] = {
            "kill -9 of a node": self._kill_node,
            "a node stopped": self._pause_node,
            "a node without PostgreSQL": self._silence_database,
            "a node that PostgreSQL does not answer": self._silence_answers,
            "a node without NATS": self._silence_bus,
            "connections to PostgreSQL reset": self._cut_database,
            "PostgreSQL killed": self._restart_postgres,
            "NATS' leader killed": self._kill_nats,
            "all NATS servers killed": self._restart_nats,
            "NATS lost its newest seconds": self._lose_tail,
        }
        if not self._failed_over:
            faults["failover to the standby"] = self._fail_over
        return faults

    async def until_healthy(self) -> None:
        """Wait until all nodes are."""
        for node in self.nodes:
            await node.until_healthy()

    async def stop(self) -> None:
        """End nodes, proxies and services."""
        for proxy in (*self._database_proxies, *(proxy for buses in self._bus_proxies for proxy in buses)):
            proxy.heal()
        await asyncio.gather(*(node.stop() for node in self.nodes))
        for proxy in (*self._database_proxies, *(proxy for buses in self._bus_proxies for proxy in buses)):
            await proxy.close()
        self._nats.close()
        await self._standby.kill()
        await self._primary.kill()

    def _any(self) -> int:
        return self.chance.randrange(len(self.nodes))

    async def _kill_node(self) -> None:
        node = self.nodes[self._any()]
        await node.kill()
        await asyncio.sleep(1)
        await node.start()

    async def _pause_node(self) -> None:
        node = self.nodes[self._any()]
        node.signal(signal.SIGSTOP)
        await asyncio.sleep(_STOPPED)
        node.signal(signal.SIGCONT)

    async def _silence_database(self) -> None:
        proxy = self._database_proxies[self._any()]
        proxy.silence()
        await asyncio.sleep(_OUTAGE)
        proxy.heal()

    async def _silence_answers(self) -> None:
        proxy = self._database_proxies[self._any()]
        proxy.silence(up=False)
        await asyncio.sleep(_OUTAGE)
        proxy.cut()
        proxy.heal()

    async def _silence_bus(self) -> None:
        buses = self._bus_proxies[self._any()]
        for proxy in buses:
            proxy.silence()
        await asyncio.sleep(_OUTAGE)
        for proxy in buses:
            proxy.heal()

    async def _cut_database(self) -> None:
        for _ in range(5):
            self._database_proxies[self._any()].cut()
            await asyncio.sleep(self.chance.random())

    async def _restart_postgres(self) -> None:
        if self._failed_over:
            await self._standby.kill()
            await self._standby.start()
            return
        await self._primary.kill()
        await self._primary.start()
        await self._primary.until_standby_follows()

    async def _fail_over(self) -> None:
        self._failed_over = True
        await self._primary.kill()
        await self._standby.promote()
        for proxy in self._database_proxies:
            proxy.target = self._standby.port
            proxy.cut()

    async def _kill_nats(self) -> None:
        number = self.chance.randrange(len(self._nats.ports))
        self._nats.kill(number)
        await asyncio.sleep(_OUTAGE)
        self._nats.start(number)
        await asyncio.sleep(2)

    async def _restart_nats(self) -> None:
        for number in range(len(self._nats.ports)):
            self._nats.kill(number)
        await asyncio.sleep(1)
        for number in range(len(self._nats.ports)):
            self._nats.start(number)
        await self._nats.until_ready()

    async def _lose_tail(self) -> None:
        """The end of the machines of all NATS servers, which had not synced the last seconds."""
        numbers = range(len(self._nats.ports))
        copies = [self._folder / f"copy-{number}" for number in numbers]
        for number in numbers:
            self._nats.kill(number)
            self._nats.copy_streams(number, copies[number])
        for number in numbers:
            self._nats.start(number)
        await self._nats.until_ready()
        await asyncio.sleep(_OUTAGE)
        for number in numbers:
            self._nats.kill(number)
        for number in numbers:
            self._nats.restore_streams(number, copies[number])
            self._nats.start(number)
        await self._nats.until_ready()
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)


TOPOLOGIES: dict[str, Callable[[Path, random.Random], Topology]] = {
    "single": Single,
    "workers": Workers,
    "cluster": Cluster,
}
