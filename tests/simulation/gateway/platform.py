"""What is around the gateway: nodes that come and go, the bus between them, and the database's commits."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from moothall.bus import Envelope
from moothall.bus.envelope import BusUnavailable
from moothall.bus.nats import NatsBus
from moothall.bus.sealing import Seal
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.objects.ids import GuildId
from moothall.storage.database import StorageError
from tests.simulation.gateway.database import Build, SimulatedPostgres, change_guild, send_message
from tests.simulation.gateway.model import Change, World
from tests.simulation.gateway.nats import SimulatedNats
from tests.simulation.gateway.outbox import Outbox
from tests.simulation.gateway.source import SimulatedSource
from tests.simulation.gateway.transport import ClientDisconnected, SansIOSocket, SimulatedSocket
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices, Randomness

Receive = Callable[[Sequence[Envelope]], None]

EMBEDDED: Final = "embedded"
"""One process with SQLite: reads never suspend, a commit's outcome is known."""
POSTGRES: Final = "postgres"
"""One process with PostgreSQL: reads take time, and connections break, also during COMMIT."""
CLUSTER: Final = "cluster"
"""Several processes with a bus between them that carries the events of the outbox."""
NATS: Final = "nats"
"""As a cluster, with the real bus over a simulated NATS server, which fails, and the outbox."""


_MANY_FRAMES: Final = 1_000
"""A replay buffer of so many frames does not overflow."""


class NodeBus:
    """The bus as one node sees it: what is published arrives later, in the same order at all nodes."""

    durable = False

    def __init__(self, network: "Network", *, shared: bool) -> None:
        self.shared = shared
        self._network = network
        self._subscribers: list[Receive] = []
        self._gaps: list[Callable[[], None]] = []
        self._waiting: deque[Sequence[Envelope]] = deque()
        self.connected = True

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Publish to all nodes; at once in a single process."""
        if not self.connected:
            return
        if self.shared:
            self._network.publish(envelopes)
        else:
            self.receive(envelopes)

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` with each batch, `on_gap` when some were missed."""
        del on_reconnect
        self._subscribers.append(receive)
        if on_gap is not None:
            self._gaps.append(on_gap)

    async def start(self, space: str = "") -> None:
        """Do nothing: there is no server to connect to."""

    async def close(self) -> None:
        """Do nothing, as `start`."""

    def queue(self, envelopes: Sequence[Envelope]) -> None:
        """A batch that arrives later."""
        self._waiting.append(envelopes)

    def arrive(self) -> None:
        """The oldest batch on its way arrives."""
        if self.connected and self._waiting:
            self.receive(self._waiting.popleft())

    def miss(self) -> None:
        """The batches on their way are lost, and the node hears of it."""
        self._waiting.clear()
        for on_gap in self._gaps:
            on_gap()

    def receive(self, envelopes: Sequence[Envelope]) -> None:
        """Hand a batch to the node."""
        for receive in self._subscribers:
            receive(envelopes)


class Network:
    """The bus between the nodes."""

    def __init__(self, loop: SimulatedLoop, choices: Choices) -> None:
        self._loop = loop
        self._choices = choices
        self.buses: list[NodeBus] = []

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Send a batch to all nodes."""
        for bus in self.buses:
            bus.queue(envelopes)
            self._loop.call_later(self._choices.delay(0.003, 0.3), bus.arrive)


class Reads(NamedTuple):
    """The probabilities that a statement that reads fails, and that it takes seconds."""

    failing: float
    late: float


USUAL_READS: Final = Reads(0.01, 0.02)
SLOW_READS: Final = Reads(0.01, 0.3)
"""Of a database that much else uses: events are applied, and sessions join guilds, for seconds."""
BAD_READS: Final = Reads(0.06, 0.3)


class RunningNode(Struct, eq=False):
    """A node with its bus, its source and the tasks that serve its WebSockets."""

    name: str
    node: GatewayNode
    bus: NodeBus | NatsBus
    source: SimulatedSource
    sockets: list[SimulatedSocket]
    tasks: set[asyncio.Task[None]]


class Platform:
    """The nodes over one world."""

    def __init__(
        self, world: World, loop: SimulatedLoop, randomness: Randomness, mode: str, settings: GatewaySettings
    ) -> None:
        self.world = world
        self.loop = loop
        self.mode = mode
        world.late = mode == NATS
        self.socket_failing = 0.01
        self.reads = randomness.stream("reads").weighted({USUAL_READS: 5, SLOW_READS: 2, BAD_READS: 1})
        self.nodes: dict[str, RunningNode] = {}
        self._randomness = randomness
        self._settings = settings
        self._choices = randomness.stream("platform")
        self._network = Network(loop, randomness.stream("network"))
        self._created = 0
        self._commits = asyncio.Lock()
        self.database = SimulatedPostgres(world, loop, randomness.stream("database"))
        self.database.on_late_commit.append(self._invalidate_all)
        self.nats = SimulatedNats(loop, randomness.stream("nats"))
        self.outbox = Outbox(loop, randomness.stream("outbox"), self._any_bus, self._note_published)
        self._background: list[asyncio.Task[None]] = []

    # Nodes

    async def start(self, nodes: int) -> None:
        """Connect to the database and start nodes."""
        await self.database.open()
        if self.mode == NATS:
            self._background = [
                self.loop.create_task(self.outbox.relay()),
                self.loop.create_task(self._follow_members()),
            ]
        for _ in range(nodes):
            await self.start_node()

    async def start_node(self) -> RunningNode | None:
        """Start a node; None if it cannot reach the bus."""
        self._created += 1
        name = f"node{self._created}" if self.mode != NATS else f"node{self._created:012}"
        bus = self._bus(name)
        source = SimulatedSource(
            self.world,
            self.loop,
            self._randomness.stream(f"source of {name}"),
            embedded=self.mode == EMBEDDED,
            failing=self.reads.failing,
            late=self.reads.late,
        )
        node = GatewayNode(self._settings, bus, source, name=name)
        running = RunningNode(name, node, bus, source, [], set())
        if isinstance(bus, NodeBus):
            self._network.buses.append(bus)
        elif not await self._connect_bus(running):
            return None
        self.nodes[name] = running
        await node.start()
        return running

    def _bus(self, name: str) -> "NodeBus | NatsBus":
        if self.mode != NATS:
            return NodeBus(self._network, shared=self.mode == CLUSTER)
        return NatsBus("nats", node=name, seal=Seal([bytes(32)]), last_batch=self.outbox.last_batch)

    async def _connect_bus(self, running: RunningNode) -> bool:
        """Connect a node to NATS; False if it cannot, so that it ends."""
        try:
            await running.bus.start("local")
        except BusUnavailable:
            return False
        return True

    def _any_bus(self) -> NatsBus | None:
        buses = [running.bus for running in self.nodes.values() if isinstance(running.bus, NatsBus)]
        return self._choices.choice(buses) if buses else None

    def cut_off(self, running: RunningNode, seconds: float) -> None:
        """Separate a node from NATS for so long."""
        client: Any = running.bus._client if isinstance(running.bus, NatsBus) else None
        if client is not None:
            client.cut_off(seconds)

    def stop_node(self, running: RunningNode, *, has_left: bool = False) -> None:
        """End a node, as a process that is killed; others are told of it, unless it has told them itself."""
        del self.nodes[running.name]
        if isinstance(running.bus, NodeBus):
            running.bus.connected = False
            self._network.buses.remove(running.bus)
        else:
            self._kill_bus(running.bus)
        for socket in running.sockets:
            socket.reset()
        for task in running.tasks:
            task.cancel()
        running.node.hub.close()
        if running.node._sweeper is not None:
            running.node._sweeper.cancel()
        for other in self.nodes.values() if self.mode == CLUSTER and not has_left else ():
            if other.node.cluster_presences is not None:
                self.loop.call_later(self._choices.delay(1.0, 10.0), self._announce_end, other, running.name)

    async def _follow_members(self) -> None:
        """Tell nodes which others are alive, as their leases do."""
        while True:
            await self.loop.io(self._choices.delay(3.0, 6.0))
            for running in self.nodes.values():
                if running.node.cluster_presences is not None:
                    running.node.cluster_presences.remove_dead_nodes(set(self.nodes))

    @staticmethod
    def _kill_bus(bus: NatsBus) -> None:
        bus._closing = True
        for task in bus._tasks:
            task.cancel()
        client: Any = bus._client
        if client is not None:
            client.kill()

    def _announce_end(self, running: RunningNode, name: str) -> None:
        if running.name in self.nodes and running.node.cluster_presences is not None:
            running.node.cluster_presences.announce_end(name)

    async def close_node(self, running: RunningNode) -> None:
        """Shut a node down in order."""
        await running.node.close()
        await self.loop.io(self._choices.uniform(0.5, 4.0))
        if isinstance(running.bus, NatsBus):
            await running.bus.close()
        if running.name in self.nodes:
            self.stop_node(running, has_left=True)

    def connect(
        self, node: str | None, name: str, on_message: Callable[[str], None], on_close: Callable[[int], None]
    ) -> tuple[str, SimulatedSocket] | None:
        """Open a WebSocket to a node; to any if that one is gone."""
        if not self.nodes:
            return None
        choices = self._randomness.stream(name)
        running = self.nodes.get(node or "") or choices.choice(list(self.nodes.values()))
        kind = SansIOSocket if choices.chance(0.7) else SimulatedSocket
        socket = kind(self.loop, choices, on_message, on_close, failing=self.socket_failing)
        scope = {"type": "websocket", "path": "/gateway", "query_string": b"v=10&encoding=json", "headers": []}
        task = self.loop.create_task(running.node.serve(scope, socket.receive, socket.send))
        running.sockets = [each for each in running.sockets if not each.transport.closed]
        running.sockets.append(socket)
        running.tasks.add(task)
        task.add_done_callback(lambda done: self._served(running, done))
        return running.name, socket

    def late_seconds(self, node: str, guild_id: GuildId, since: float) -> float:
        """How long events of a guild may be late at a node because of late reads of it since a time."""
        running = self.nodes.get(node)
        return 0.0 if running is None else running.source.late_seconds(guild_id, since)

    def ends_of_sessions(self, node: str) -> int | None:
        """How much has happened at a node that ends sessions; None if it is not known."""
        running, counts = self.nodes.get(node), self._randomness.counts
        if running is None or running.node._closing or self._settings.replay_frames < _MANY_FRAMES:
            return None
        return running.node.ends.invalidations.count + counts.get("read fails", 0) + counts.get("dispatch raises", 0)

    def _served(self, running: RunningNode, task: "asyncio.Task[None]") -> None:
        running.tasks.discard(task)
        # The server takes it as a disconnection, those who raises it.
        if not task.cancelled() and not isinstance(task.exception(), ClientDisconnected | None):
            self.loop.errors.append({"message": "a WebSocket's handler raised", "exception": task.exception()})

    # Commits

    async def commit(self, guild_id: GuildId, build: Build, *, locked: bool = True) -> Change | None:
        """Carry out a change in a transaction and publish its events. Returns it if it is known to be durable."""
        if self.mode == POSTGRES:
            return await self._commit_on_postgres(guild_id, build, locked=locked)
        async with self._commits:
            change = build(self.world.guilds.get(guild_id))
            if change is None:
                return None
            await self.loop.io(self._choices.delay(0.002, 0.05))
            self.world.apply(change)
            await self.loop.io(self._choices.delay(0.002, 0.05))
            self._publish(change)
            return change

    async def _commit_on_postgres(self, guild_id: GuildId, build: Build, *, locked: bool) -> Change | None:
        made: list[Change] = []
        try:
            async with self.database.transaction(guild_id if locked else None) as tx:
                if locked:
                    await tx.execute(change_guild, build=build, made=made, guild_id=guild_id)
                else:
                    await tx.write(send_message, build=build, made=made, guild_id=guild_id)
                tx.on_commit(lambda: self._publish_all(made))
        except StorageError:
            return None
        return made[0] if made else None

    def _publish_all(self, made: list[Change]) -> None:
        for change in made:
            self._publish(change)

    def _invalidate_all(self) -> None:
        """As the product does where a commit became known when later ones were published already."""
        for running in self.nodes.values():
            running.node.invalidate_all_sessions("Events were published late.")

    def _note_published(self, change: Change) -> None:
        # At no time that its delay is counted from: whatever becomes of the bus may delay it.
        self.world.note_published(change, 0.0)

    def _publish(self, change: Change) -> None:
        if self.mode == NATS:
            self.outbox.add(change)
            return
        self.world.note_published(change, self.loop.time())
        if self.mode == CLUSTER:
            self._network.publish(change.envelopes)
            return
        for running in self.nodes.values():
            running.bus.publish(change.envelopes)
