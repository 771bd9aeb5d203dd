"""The ways to run the platform, and the faults that each is exposed to."""

import asyncio
import random
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.machine import Clock, SmallDisk, Syncs, preloading
from tests.chaos.nodes import Node
from tests.chaos.proxy import Proxy
from tests.chaos.services import NatsCluster, OwnPostgres, postgres_programs
from tests.many_processes.nodes import KEY

Action = Callable[[], Awaitable[None]]
"""Does harm and makes it good again."""

_JUMP = 60
"""Seconds by which a clock jumps: more than it takes until a process counts as dead, less than the bus tolerates."""
_SYNC_SECONDS = 0.25
"""How much longer an fsync takes on a busy disk."""


@dataclass(frozen=True)
class Durations:
    """How long harm lasts, in seconds."""

    stopped: float = 8.0
    """That a process of several stands still: longer than any deadline of the others."""
    outage: float = 4.0
    """That something is away, full or slow."""


class Topology:
    """A platform of one or more processes."""

    def __init__(self, chance: random.Random, durations: Durations) -> None:
        self.chance = chance
        self.durations = durations
        self.healed_at = 0.0
        """When the last fault was over, before what was waited for after it."""
        self.nodes: list[Node] = []

    def urls(self) -> Sequence[str]:
        """Where its nodes serve."""
        return [node.url for node in self.nodes]

    async def start(self) -> None:
        """Start everything."""
        raise NotImplementedError

    def faults(self) -> dict[str, Action]:
        """What can happen to it, by name."""
        raise NotImplementedError

    def missing(self) -> dict[str, str]:
        """The faults that cannot be made on this machine, with the reason."""
        raise NotImplementedError

    async def until_healthy(self) -> None:
        """Wait until every node is."""
        for node in self.nodes:
            await node.until_healthy()

    async def stop(self) -> None:
        """End everything."""
        raise NotImplementedError

    async def cause(self, fault: Action) -> float:
        """Let a fault happen; returns when it was over, by the monotonic clock."""
        self.healed_at = 0.0
        await fault()
        return self.healed_at or time.monotonic()

    async def _start(self, node: Node) -> None:
        """Start a node that a fault has ended."""
        self.healed_at = time.monotonic()
        await node.start()

    async def _slow_syncs(self, syncs: Syncs) -> None:
        syncs.slow_down(_SYNC_SECONDS)
        await asyncio.sleep(self.durations.outage)
        syncs.slow_down(0)

    async def _jump(self, clock: Clock) -> None:
        clock.set(_JUMP)
        await asyncio.sleep(self.durations.outage)
        clock.set(0)
        # It is read once in a second.
        await asyncio.sleep(1.5)


def _without(faults: dict[str, Action], missing: dict[str, str]) -> dict[str, Action]:
    return {name: fault for name, fault in faults.items() if name not in missing}


class Single(Topology):
    """One process on SQLite."""

    def __init__(
        self, folder: Path, chance: random.Random, durations: Durations, arguments: Sequence[str] = ()
    ) -> None:
        super().__init__(chance, durations)
        self._clock, self._syncs = Clock(folder, "single"), Syncs(folder, "single")
        self._disk = SmallDisk(folder / "single")
        self.node = Node(folder / "single", arguments, variables=preloading(self._clock, self._syncs))
        self.nodes = [self.node]

    async def start(self) -> None:
        """Start it."""
        await self.node.start()

    def faults(self) -> dict[str, Action]:
        """The end of the process, a pause of it, a disk that is full or slow, a clock that jumps."""
        faults: dict[str, Action] = {
            "kill -9": self._restart,
            "stopped": self._pause,
            "restart": self._restart_gracefully,
            "full disk": self._fill_disk,
            "slow fsync": lambda: self._slow_syncs(self._syncs),
            "clock ahead and back": lambda: self._jump(self._clock),
        }
        return _without(faults, self.missing())

    def missing(self) -> dict[str, str]:
        """Those that need a tool."""
        tools = {"slow fsync": self._syncs.missing, "clock ahead and back": self._clock.missing}
        return {fault: reason for fault, reason in tools.items() if reason is not None}

    async def stop(self) -> None:
        """End it."""
        await self.node.stop()
        self._disk.close()

    async def _restart(self) -> None:
        await self.node.kill()
        await self._start(self.node)

    async def _restart_gracefully(self) -> None:
        await self.node.stop()
        await self._start(self.node)

    async def _pause(self) -> None:
        pids = self.node.pids()
        for pid in pids:
            self.node.signal(signal.SIGSTOP, pid)
        await asyncio.sleep(self.durations.outage)
        for pid in pids:
            self.node.signal(signal.SIGCONT, pid)

    async def _fill_disk(self) -> None:
        self._disk.fill(self.node.pids())
        await asyncio.sleep(self.durations.outage)
        self._disk.free()


class Workers(Single):
    """Three workers and a process that writes, on one SQLite file."""

    def __init__(self, folder: Path, chance: random.Random, durations: Durations) -> None:
        super().__init__(folder, chance, durations, ("--workers", "3"))

    def faults(self) -> dict[str, Action]:
        """The end or a pause of one of the processes, and of all."""
        return {**super().faults(), "kill -9 of one process": self._kill_one, "one stopped": self._pause_one}

    async def _kill_one(self) -> None:
        self.node.signal(signal.SIGKILL, self.chance.choice(self.node.children()))
        self.healed_at = time.monotonic()
        await asyncio.sleep(1)
        await self.node.until_healthy()

    async def _pause_one(self) -> None:
        pid = self.chance.choice(self.node.children())
        self.node.signal(signal.SIGSTOP, pid)
        await asyncio.sleep(self.durations.stopped)
        self.node.signal(signal.SIGCONT, pid)


class Cluster(Topology):
    """Three nodes on PostgreSQL with a synchronous standby and three NATS servers, each behind proxies of its own."""

    def __init__(self, folder: Path, chance: random.Random, durations: Durations) -> None:
        super().__init__(chance, durations)
        programs = postgres_programs()
        assert programs is not None, "PostgreSQL's programs are not installed"
        self._folder = folder
        self._syncs = Syncs(folder, "primary")
        self._clocks = [Clock(folder, f"node-{number}") for number in range(3)]
        self._primary = OwnPostgres(
            folder / "primary", programs, synchronous_standby=True, variables=preloading(self._syncs)
        )
        self._standby = OwnPostgres(folder / "standby", programs, synchronous_standby=False)
        self._nats = NatsCluster(folder)
        self._database_proxies: list[Proxy] = []
        self._bus_proxies: list[list[Proxy]] = []
        self._failed_over = False

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
        for number, clock in enumerate(self._clocks):
            database = Proxy(self._primary.port)
            buses = [Proxy(port) for port in self._nats.ports]
            for proxy in (database, *buses):
                await proxy.start()
            self._database_proxies.append(database)
            self._bus_proxies.append(buses)
            variables = {
                "MOOTHALL_DATABASE_URL": f"postgresql://moothall@127.0.0.1:{database.port}/postgres",
                "MOOTHALL_NATS_URL": ",".join(f"nats://127.0.0.1:{bus.port}" for bus in buses),
                "MOOTHALL_NATS_REPLICAS": str(len(buses)),
                "MOOTHALL_SECRET_KEY": KEY,
                "MOOTHALL_BLOB_URL": files.as_uri(),
                "PGSSLMODE": "disable",
                **preloading(clock),
            }
            node = Node(self._folder / f"node-{number}", (), variables=variables)
            if not self.nodes:
                await node.start()  # it creates the tables
            self.nodes.append(node)
        await asyncio.gather(*(node.start() for node in self.nodes[1:]))

    def faults(self) -> dict[str, Action]:
        """What happens to nodes, networks, databases and the bus."""
        faults: dict[str, Action] = {
            "kill -9 of a node": self._kill_node,
            "a node stopped": self._pause_node,
            "a node's clock ahead and back": lambda: self._jump(self.chance.choice(self._clocks)),
            "a node without PostgreSQL": self._silence_database,
            "a node that PostgreSQL does not answer": self._silence_answers,
            "a node without NATS": lambda: self._silence_bus(up=True, down=True),
            "a node that NATS does not hear": lambda: self._silence_bus(up=True, down=False),
            "a node that does not hear NATS": lambda: self._silence_bus(up=False, down=True),
            "connections to PostgreSQL reset": self._cut_database,
            "PostgreSQL killed": self._restart_postgres,
            "slow fsync of PostgreSQL": lambda: self._slow_syncs(self._syncs),
            "NATS' leader killed": self._kill_nats,
            "all NATS servers killed": self._restart_nats,
            "NATS lost its newest seconds": self._lose_tail,
        }
        if self._failed_over:
            del faults["slow fsync of PostgreSQL"]
        else:
            faults["failover to the standby"] = self._fail_over
        return _without(faults, self.missing())

    def missing(self) -> dict[str, str]:
        """Those that need a tool."""
        tools = {
            "a node's clock ahead and back": self._clocks[0].missing,
            "slow fsync of PostgreSQL": self._syncs.missing,
        }
        return {fault: reason for fault, reason in tools.items() if reason is not None}

    async def stop(self) -> None:
        """End nodes, proxies and services."""
        proxies = [*self._database_proxies, *(proxy for buses in self._bus_proxies for proxy in buses)]
        for proxy in proxies:
            proxy.heal()
        await asyncio.gather(*(node.stop() for node in self.nodes))
        for proxy in proxies:
            await proxy.close()
        self._nats.close()
        await asyncio.gather(self._standby.kill(), self._primary.kill())

    def _any(self) -> int:
        return self.chance.randrange(len(self.nodes))

    async def _kill_node(self) -> None:
        node = self.nodes[self._any()]
        await node.kill()
        await asyncio.sleep(1)
        await self._start(node)

    async def _pause_node(self) -> None:
        node = self.nodes[self._any()]
        node.signal(signal.SIGSTOP)
        await asyncio.sleep(self.durations.stopped)
        node.signal(signal.SIGCONT)

    async def _silence_database(self) -> None:
        proxy = self._database_proxies[self._any()]
        proxy.silence()
        await asyncio.sleep(self.durations.outage)
        proxy.heal()

    async def _silence_answers(self) -> None:
        proxy = self._database_proxies[self._any()]
        proxy.silence(up=False)
        await asyncio.sleep(self.durations.outage)
        proxy.cut()
        proxy.heal()

    async def _silence_bus(self, *, up: bool, down: bool) -> None:
        buses = self._bus_proxies[self._any()]
        for proxy in buses:
            proxy.silence(up=up, down=down)
        await asyncio.sleep(self.durations.outage)
        for proxy in buses:
            proxy.heal()

    async def _cut_database(self) -> None:
        for _ in range(5):
            self._database_proxies[self._any()].cut()
            await asyncio.sleep(self.chance.random())

    async def _restart_postgres(self) -> None:
        server = self._standby if self._failed_over else self._primary
        await server.kill()
        await server.start()
        self.healed_at = time.monotonic()
        if not self._failed_over:
            await self._primary.until_standby_follows()

    async def _fail_over(self) -> None:
        self._failed_over = True
        await self._primary.kill()
        await self._standby.promote()
        for proxy in self._database_proxies:
            proxy.target = self._standby.port
            proxy.cut()

    async def _kill_nats(self) -> None:
        number = await self._nats.leader()
        self._nats.kill(number)
        await asyncio.sleep(self.durations.outage)
        self._nats.start(number)
        self.healed_at = time.monotonic()
        await self._nats.until_ready()

    async def _restart_nats(self) -> None:
        for number in range(len(self._nats.ports)):
            self._nats.kill(number)
        await asyncio.sleep(1)
        for number in range(len(self._nats.ports)):
            self._nats.start(number)
        self.healed_at = time.monotonic()
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
        await asyncio.sleep(self.durations.outage)
        for number in numbers:
            self._nats.kill(number)
        for number in numbers:
            self._nats.restore_streams(number, copies[number])
            self._nats.start(number)
        self.healed_at = time.monotonic()
        await self._nats.until_ready()
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)


TOPOLOGIES: dict[str, Callable[[Path, random.Random, Durations], Topology]] = {
    "single": Single,
    "workers": Workers,
    "cluster": Cluster,
}
