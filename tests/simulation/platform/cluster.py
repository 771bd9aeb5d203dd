"""The whole platform on PostgreSQL: one process, or several nodes with NATS between them.

PostgreSQL is a real one (`tests/simulation/postgres.py`), NATS is simulated below its real client's place
(`tests/simulation/gateway/nats.py`). Everything else is as in `simulation.py`.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

from moothall.storage.database import StorageError
from tests.simulation.gateway.nats import SimulatedNats, simulated_nats
from tests.simulation.platform.blobs import SimulatedBlobs
from tests.simulation.platform.client import Violation
from tests.simulation.platform.leftovers import absent
from tests.simulation.platform.server import Lost, Server
from tests.simulation.platform.simulation import Case, Result, Simulation, simulate
from tests.simulation.platform.world import Image, folder, postgres_image
from tests.simulation.postgres import Faults, SimulatedServer, simulated_postgres
from tests.simulation.randomness import Choices, Randomness
from tests.simulation.streams import StreamLoop

_CONNECTIONS: Final = 6
"""Connections of each process: few, so that requests wait for them."""
_WORKERS: Final = 3
"""Workers that carry out operations, fewer than on SQLite: each statement goes to another process and back."""
_NODE_DISTURBANCES: Final = {"kill": 2, "stop": 1, "cut off": 2, "lose": 1}


class ClusterSimulation(Simulation):
    """Nodes on a database of the PostgreSQL server of a URL."""

    def __init__(
        self, case: Case, randomness: Randomness, loop: StreamLoop, blobs: SimulatedBlobs, *, url: str
    ) -> None:
        self._url = url
        super().__init__(case, randomness, loop, blobs)
        self.work.may_fail = self.kind != "healthy"
        self.work.outlived = self.work.may_fail

    def _prepare(self, choices: Choices) -> Image:
        made = postgres_image(self._url)
        self.kind = choices.weighted({"healthy": 3, "connections": 3, "restarts": 2})
        self.nodes = choices.weighted({1: 2, 2: 1.5, 3: 1})
        name = f"{made.database}_run"
        self.database = SimulatedServer(self._url, made.database, name, self.loop, self.randomness.stream("postgres"))
        self._stack.callback(self.database.close)
        self._stack.enter_context(simulated_postgres(self.database))
        self.nats = SimulatedNats(self.loop, self.randomness.stream("nats"))
        self.nats.faults = False
        self._stack.enter_context(simulated_nats(self.nats))
        self.disturbances = {"drop": 10, "kill": 1, "stop": 1, "time": 1}
        if self.nodes > 1:
            self.disturbances |= _NODE_DISTURBANCES
        if self.kind == "restarts":
            self.disturbances |= {"restart": 3}
        return made

    async def _work(self, number: int) -> None:
        if number < _WORKERS:
            await super()._work(number)

    def _begin_faults(self) -> None:
        self.database.faults = Faults(0.0 if self.kind == "healthy" else 1.0)
        self.nats.faults = self.nodes > 1

    def _end_faults(self) -> None:
        self.database.faults = Faults(0.0)
        self.nats.faults = False

    def stored(self) -> bytes:
        """All that is stored, in which a text can be looked for."""
        return self.database.content() + b"".join(self.blobs.data.values())

    def leftovers(self) -> Iterator[str]:
        """What is stored of things that are deleted. No process runs."""
        yield from absent(self.database.columns(), self.database.count)

    # The processes

    async def start(self) -> None:
        """Start all nodes. Those that cannot are tried again."""
        self._folder = self._stack.enter_context(folder())
        for role in range(1, self.nodes + 1):
            while not await self._start_process(role):
                self._bury_dead()
                await self.loop.io(self.choices.delay(0.3, 3.0))

    async def _start_process(self, role: int) -> bool:
        self.starts += 1
        nats: dict[str, Any] = {"nats_url": "nats://simulation"} if self.nodes > 1 else {}
        server = Server(
            self.loop,
            self.starts,
            self._folder,
            role=role,
            database_url=self.database.url,
            database_connections=_CONNECTIONS,
            **nats,
        )
        self.servers.append(server)
        try:
            await server.start()
        except Lost:
            return False
        except Exception as error:
            if not self.work.may_fail and self.nodes == 1:
                raise Violation(f"the platform does not start: {error!r}") from error
            self._kill(server)
            return False
        return True

    def _bury_dead(self) -> None:
        dead = [server for server in self.servers if server.dead]
        self.servers = [server for server in self.servers if not server.dead]
        self.left += dead

    def _kill(self, server: Server) -> None:
        server.end()
        self.nats.kill(server.number)
        self.database.kill(server.number)

    def _end_all(self) -> None:
        for server in self.servers:
            self._kill(server)
        super()._end_all()

    def end(self) -> None:
        """End all nodes at once."""
        self._end_all()

    async def stop(self) -> None:
        """Stop all nodes."""
        for server in list(self.servers):
            await self._stop_one(server)
        self._end_all()

    async def _stop_one(self, server: Server) -> None:
        with suppress(Lost, *((StorageError,) if self.work.may_fail else ())):
            await server.stop()
        self._kill(server)

    async def _supervise(self) -> None:
        while True:
            for server in [server for server in self.servers if server.dead]:
                self._bury_dead()
                await self.loop.io(self.choices.delay(0.3, 3.0))
                await self._start_process(server.role)
            if not self.servers:
                await self.loop.io(self.choices.delay(0.3, 3.0))
                await self.start()
            if not self._supervising and len(self.servers) == self.nodes and all(s.serving for s in self.servers):
                return
            await self.loop.io(0.05)

    async def _disturb_by(self, kind: str, choices: Choices) -> None:
        server = choices.choice(self.servers)
        if kind == "kill":
            self._kill(server)
        elif kind == "stop":
            await self._stop_one(server)
        elif kind == "restart":
            self.database.restart()
        elif kind == "lose":
            self.nats.lose_newest()
        elif kind == "cut off":
            for client in self.nats.clients:
                if client.process == server.number:
                    client.cut_off(choices.delay(4.0, 40.0))
        else:
            await super()._disturb_by(kind, choices)


def simulate_cluster(
    seed: int, *, url: str, suppressed: Collection[str] = (), left_out: Collection[str] = ()
) -> Result:
    """Run a seed with nodes on PostgreSQL, as `simulate` does with one machine."""
    postgres_image(url)
    return simulate(seed, suppressed=suppressed, left_out=left_out, make=partial(ClusterSimulation, url=url))
