"""One run of the gateway: a case of a seed, carried out step by step and audited at calm."""

import asyncio
import hashlib
import logging
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest import mock

from msgspec import Struct
from msgspec.structs import replace

from moothall.bus.nats import NatsBus
from moothall.gateway.audience import dispatcher
from moothall.gateway.delivery import hub, invalidation
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import UNLIMITED, GatewaySettings
from moothall.objects.ids import GuildId, Snowflake, UserId
from tests.simulation.gateway import auditor
from tests.simulation.gateway.changes import WEIGHTS, Changes, Draw, new_guild
from tests.simulation.gateway.client import LIVE, STATES, Client, Violation
from tests.simulation.gateway.model import Change, Guild, Member, World
from tests.simulation.gateway.nats import simulated_nats
from tests.simulation.gateway.platform import (
    CLUSTER,
    EMBEDDED,
    NATS,
    POSTGRES,
    USUAL_READS,
    NodeBus,
    Platform,
    RunningNode,
)
from tests.simulation.loop import SimulatedLoop, run
from tests.simulation.randomness import Choices, Randomness, seeded_secrets

STEPS: Final = 60
"""Steps of each case."""
_CALM_SECONDS: Final = 150.0
"""After the last fault: for all clients to connect again, and for sessions that no client resumes to end."""
_MAX_CLIENTS: Final = 24
"""Clients of each case, but for those with a crowd."""
_CROWDS: Final = 150
"""One in so many seeds has more sessions than an event is dispatched to at once."""
_CROWD: Final = 520
_MAX_REPLACED: Final = 2
"""More messages than so many are not those of one presence."""
STATUSES: Final = ("online", "idle", "dnd", "invisible")
_HEARTBEAT_MS: Final = 20_000
_RESUME_SECONDS: Final = 40.0


class Case(Struct, frozen=True):
    """What is run: all of a seed, or less of it, to find the cause of a failure."""

    seed: int
    left_out_steps: frozenset[int] = frozenset()
    suppressed: frozenset[str] = frozenset()
    """Faults that do not happen, by their names."""
    excluded: frozenset[str] = frozenset()
    """Kinds of faults that do not happen."""


class Result(Struct):
    """What a run came to. `trace` is a hash over everything that clients received and when."""

    seed: int
    failure: str = ""
    steps: int = 0
    clients: int = 0
    seconds: float = 0.0
    """Virtual seconds."""
    events: int = 0
    """Dispatches that clients received."""
    faults: dict[str, int] = {}
    fault_names: list[str] = []
    struck: dict[tuple[str, str], int] = {}
    """How often a kind of fault struck a client, by the state of its life."""
    trace: str = ""
    mode: str = ""


class Simulation:
    """The platform, its clients, and the steps of a case."""

    def __init__(self, case: Case, randomness: Randomness, loop: SimulatedLoop) -> None:
        self.case = case
        self.loop = loop
        self.randomness = randomness
        choices = self.choices = randomness.stream("case")
        self.crowded = case.seed % _CROWDS == _CROWDS - 1
        self.mode = choices.weighted(
            {EMBEDDED: 4, POSTGRES: 4, CLUSTER: 0 if self.crowded else 3, NATS: 0 if self.crowded else 3}
        )
        self.world = World()
        settings = GatewaySettings(
            heartbeat_ms=_HEARTBEAT_MS,
            resume_seconds=_RESUME_SECONDS,
            queue_frames=choices.choice((4, 1_000)),
            replay_frames=choices.choice((3, 2_000)),
            **UNLIMITED,
        )
        self.platform = Platform(self.world, loop, randomness, self.mode, settings)
        self.user_ids = [UserId(Snowflake(number)) for number in range(101, 101 + choices.integer(2, 8))]
        self.changes = Changes(self.world, self.user_ids)
        self.clients: list[Client] = []
        self.trace = hashlib.sha256()
        self.events = 0
        self.failing_dispatches = 0.002
        """The probability that a dispatch to a session raises."""
        self.struck: dict[tuple[str, str], int] = {}
        """How often a kind of fault struck a client in a state of its life."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self) -> None:
        """Carry out all steps, wait for calm, audit, end all clients and audit again."""
        choices = self.choices
        for _ in range(choices.integer(1, 3)):
            owner_id, *others = choices.sample(self.user_ids, choices.integer(1, len(self.user_ids)))
            guild = new_guild(self.world, choices, owner_id, others)
            self.world.apply(Change(guild.id, lambda _, guild=guild: guild, []))  # type: ignore[misc]
        await self.platform.start(self._count_nodes(choices))
        for _ in range(choices.integer(2, 8)):
            self._add_client(choices)
        if self.crowded:
            await self._add_crowd(choices)
        pace = choices.choice((0.001, 0.02, 0.2, 2.0))
        for number in range(STEPS):
            step = self.randomness.stream(f"step{number}")
            seconds = step.delay(pace, 10 * pace)
            if number not in self.case.left_out_steps:
                self._step(step)
            await self.loop.io(seconds)
        await self._end_nodes()
        await self._calm()
        auditor.check_calm(self)
        for client in self.clients:
            client.stop(self.choices.choice((None, 1000)))
        await self.loop.io(_CALM_SECONDS)
        auditor.check_end(self)

    def _count_nodes(self, choices: Choices) -> int:
        if self.mode == NATS:
            return choices.integer(1, 5)
        return choices.integer(2, 3) if self.mode == CLUSTER else 1

    async def _end_nodes(self) -> None:
        """Let what later faults would put right happen last, one time in two."""
        choices, nodes = self.randomness.stream("last"), list(self.platform.nodes.values())
        if self.mode in {CLUSTER, NATS} and nodes and choices.chance(0.5):
            last = self._close if self.mode == CLUSTER else self._replace_presence
            await last(choices.choice(nodes), choices)

    async def _calm(self) -> None:
        """Let no further fault happen and wait until everything has settled."""
        platform = self.platform
        platform.nats.faults = platform.outbox.faults = False
        platform.database.faults, platform.socket_failing, self.failing_dispatches = False, 0.0, 0.0
        for running in platform.nodes.values():
            running.source.failing = running.source.late = 0.0
            for socket in running.sockets:
                socket.failing = 0.0
        for client in self.clients:
            client.silent, client.trap = False, None
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        while not platform.nodes:
            await platform.start_node()
        await self.loop.io(_CALM_SECONDS)

    async def _add_crowd(self, choices: Choices) -> None:
        """Let so many bots connect that events of a guild with all users are dispatched in slices."""
        guild_id = next(iter(self.world.guilds))
        guild = self.world.guilds[guild_id]
        members = {user_id: guild.members.get(user_id, Member(frozenset())) for user_id in self.user_ids}
        self.world.apply(Change(guild_id, lambda _: replace(guild, members=members), []))
        bots = [user_id for user_id in self.user_ids if not user_id % 2]
        for _ in range(_CROWD + choices.integer(0, 100)):
            self._add_client(choices, choices.choice(bots))
            await self.loop.io(0.01)

    def _add_client(self, choices: Choices, user_id: UserId | None = None) -> Client:
        number = len(self.clients)
        client = Client(
            number,
            user_id or choices.choice(self.user_ids),
            self.loop,
            self.randomness.stream(f"client{number}"),
            self.world,
            self.platform,
        )
        self.clients.append(client)
        client.on_event = self._note
        client.on_fault = self._note_fault
        client.connect()
        return client

    def _note(self, client: Client, name: str, seq: int) -> None:
        self.events += 1
        self.trace.update(f"{self.loop.time():.9f} {client.number} {name} {seq}\n".encode())

    def _note_fault(self, kind: str, life: str) -> None:
        self.struck[kind, life] = self.struck.get((kind, life), 0) + 1

    # Steps

    def _step(self, choices: Choices) -> None:
        rush = 4 if self.platform.reads == USUAL_READS else 12
        kind = choices.weighted({"change": 66, "client": 22, "rush": rush, "node": 8 if self.mode == NATS else 3})
        if kind == "change":
            self._start(self._change(choices))
        elif kind == "rush":
            self._rush(choices)
        elif kind == "client":
            self._change_client(choices)
        elif self.mode in {CLUSTER, NATS} and self.platform.nodes:
            self._change_nodes(choices)

    def _rush(self, choices: Choices) -> None:
        """Let clients come while much changes: events are applied, with reads, while sessions join.

        One time in two a member leaves and joins again meanwhile, or another one does.
        """
        for _ in range(choices.integer(3, 7)):
            self.loop.call_later(choices.delay(0.05, 1.0), self._begin_change, choices)
        for _ in range(choices.integer(1, 3)):
            self.loop.call_later(choices.delay(0.05, 1.0), self._change_client, choices, "add")
        if choices.chance(0.5):
            left = choices.delay(0.05, 1.0)
            self.loop.call_later(left, self._begin_change, choices, Changes.leave)
            self.loop.call_later(left + choices.delay(0.1, 1.0), self._begin_change, choices, Changes.join)

    def _begin_change(self, choices: Choices, draw: Draw | None = None) -> None:
        self._start(self._change(choices, draw))

    def _start(self, coroutine: Any) -> None:
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.loop.errors.append({"message": "a step raised", "exception": task.exception()})

    async def _change(self, choices: Choices, draw: Draw | None = None) -> None:
        """Change a guild as `draw` says, or as the weights do."""
        guild_ids = list(self.world.guilds)
        if not guild_ids or (draw is None and choices.chance(0.02)):
            change = self.changes.create_guild(choices)
            await self.platform.commit(change.guild_id, lambda _: change)
            return
        guild_id: GuildId = choices.choice(guild_ids)
        drawn = draw or choices.weighted(WEIGHTS)

        def build(guild: Guild | None) -> Change | None:
            return None if guild is None else drawn(self.changes, guild, choices)

        await self.platform.commit(guild_id, build, locked=drawn is not Changes.send_message)

    def _change_client(self, choices: Choices, action: str = "") -> None:
        weights: dict[str, float] = {
            "add": 4,
            "trap": 6,
            "reset": 5,
            "close": 2,
            "stop": 2,
            "read slowly": 4,
            "silent": 1,
            "status": 3,
            "leave": 2,
        }
        action = action or choices.weighted(weights)
        if action == "add" or not self.clients:
            if self.crowded or len(self.clients) < _MAX_CLIENTS:
                self._add_client(choices)
            return
        client = choices.choice(self.clients)
        if action == "leave":
            self._leave(client.user_id, choices)
        elif not client.stopped:
            self._act(client, action, choices)

    def _leave(self, user_id: UserId, choices: Choices) -> None:
        """Let a user connect once more and end all of their clients, one of which may still be joining guilds."""
        newest = self._add_client(choices, user_id) if len(self.clients) < _MAX_CLIENTS else None
        first = choices.chance(0.5)
        started = choices.delay(0.3, 3.0) if first else 0.0
        for client in self.clients:
            if client.user_id == user_id and not client.stopped:
                # At times all others end before the newest one has its guilds.
                seconds = started + choices.delay(0.1, 2.0) * (not first or client is newest)
                self.loop.call_later(seconds, client.stop, 1000 if first else choices.choice((None, 1000)))

    @staticmethod
    def _act(client: Client, action: str, choices: Choices) -> None:
        """Let something happen to a client."""
        if action == "trap":
            state = choices.choice(STATES)
            code, seconds = choices.choice((1000, 1006, 4000, None)), choices.delay(2.0, 40.0)
            client.trap = (state, lambda: client.read_slowly(seconds) if code is None else client.drop(code))
            if client.identified and state != LIVE:
                client.drop(choices.choice((1000, 1006, 4000)))
        elif action == "reset":
            client.drop(1006)
        elif action == "close":
            client.drop(choices.choice((1000, 4000)))
        elif action == "stop":
            client.stop(choices.choice((None, 1000)))
        elif action == "read slowly":
            client.read_slowly(choices.delay(2.0, 40.0))
        elif action == "status":
            client.set_status(choices.choice(STATUSES))
        else:
            client.silent = not client.silent

    def _stir(self, choices: Choices) -> None:
        """Let clients come back and state other things while NATS has just lost what it had."""
        for client in choices.sample(self.clients, choices.integer(0, 4)):
            if not client.stopped:
                action = choices.choice(("reset", "close", "status"))
                self.loop.call_later(choices.delay(0.5, 3.0), self._act, client, action, choices)

    def _change_nodes(self, choices: Choices) -> None:
        running = choices.choice(list(self.platform.nodes.values()))
        action = choices.weighted(
            {
                "kill": 2,
                "close": 2,
                "start": 3,
                "gap": 2,
                "cut off": 4,
                "lose": 2,
                "replace": 3 if self.mode == NATS else 0,
            }
        )
        if action == "start":
            if len(self.platform.nodes) < 4:
                self._start(self.platform.start_node())
        elif action == "gap" and isinstance(running.bus, NodeBus):
            running.bus.miss()
        elif action in {"cut off", "gap"}:
            self.platform.cut_off(running, choices.delay(4.0, 40.0))
        elif action == "lose":
            self.platform.nats.lose_newest()
            self._stir(choices)
        elif action == "replace":
            self._start(self._replace_presence(running, choices))
        elif len(self.platform.nodes) > 1 and not running.node._closing:
            if action == "kill":
                self.platform.stop_node(running)
            else:
                self._start(self._close(running, choices))

    async def _close(self, running: RunningNode, choices: Choices) -> None:
        """Close a node while users come to it, who do not want to be seen afterwards."""
        platform = self.platform
        user_ids = choices.sample(self.user_ids, choices.integer(0, 3))
        clients = [client for client in self.clients if client.user_id in user_ids]
        for client in clients:
            client.drop(1000)
        await self.loop.io(choices.delay(0.6, 3.0))
        if len(platform.nodes) > 1 and running.name in platform.nodes and not running.node._closing:
            await platform.close_node(running)
        for client in clients:
            client.set_status("invisible")

    async def _replace_presence(self, running: RunningNode, choices: Choices) -> None:
        """Let NATS lose a presence, and store others in its place, while consumers go on behind it.

        One time in two the node that publishes the first of these has not received what is lost, as it is cut off.
        """
        io, is_behind, nats = self.loop.io, choices.chance(0.7), self.platform.nats
        client: Any = running.bus._client if isinstance(running.bus, NatsBus) else None
        seconds = choices.delay(0.5)
        if is_behind:
            self.platform.cut_off(running, seconds)
        stored = len(nats.stream)
        self._restate(choices, running, here=False)
        await io(choices.delay(0.2))
        if is_behind:
            self._restate(choices, running, here=True)
        count = len(nats.stream) - stored
        if not 0 < count <= _MAX_REPLACED:
            return
        fates = choices.choice(
            ({"at the end": 1.0}, {"cut off": 1.0}, {"at the end": 6.0, "cut off": 1.0, "no consumer": 1.0})
        )
        nats.lose(count, fates, spared=client if is_behind else None)
        await io(choices.delay(0.2))
        if not is_behind:
            self._restate(choices, running, here=True)
        await io(choices.delay(0.2) + is_behind * seconds)
        self._restate(choices, running, here=False)

    def _restate(self, choices: Choices, running: RunningNode, *, here: bool) -> None:
        """Let a client of a node, or one of the others, state another status."""
        connected = [each for each in self.clients if each.identified and not each.stopped]
        clients = [c for c in connected if c.record is not None and (c.record.node == running.name) is here]
        if clients:
            client = choices.choice(clients)
            client.set_status(choices.choice([status for status in STATUSES if status != client.status]))


def simulate(case: Case) -> Result:
    """Run a case."""
    randomness = Randomness(case.seed, suppressed=case.suppressed, excluded=case.excluded)
    choices = randomness.stream("loop")
    loop = SimulatedLoop(choices)
    result, crowded = Result(case.seed), case.seed % _CROWDS == _CROWDS - 1
    simulation: Simulation | None = None
    with (
        seeded_secrets(randomness.stream("secrets")),
        _repeatable(),
        _small_slices(choices, crowded=crowded),
        _small_batches(randomness.stream("batches")),
        ExitStack() as stack,
        _quiet_logs(),
    ):
        try:
            simulation = Simulation(case, randomness, loop)
            stack.enter_context(simulated_nats(simulation.platform.nats))
            result.mode = simulation.mode
            with _failing_dispatches(simulation):
                run(loop, simulation.run())
        except Violation as violation:
            result.failure = str(violation)
        except Exception as error:  # noqa: BLE001 - reported with its seed as every failure
            result.failure = f"{type(error).__name__}: {error}"
    if not result.failure and loop.errors:
        result.failure = auditor.describe(loop.errors[0])
    if simulation is not None:
        result.events, result.trace = simulation.events, simulation.trace.hexdigest()
        result.struck, result.clients = simulation.struck, len(simulation.clients)
    result.seconds = loop.time()
    result.faults, result.fault_names = dict(randomness.counts), list(randomness.faults)
    result.steps = STEPS - len(case.left_out_steps)
    return result


@contextmanager
def _small_slices(choices: Choices, *, crowded: bool) -> Iterator[None]:
    """Let small audiences be dispatched in slices too, as those of more than 512 sessions are, and each in its turn."""
    size = choices.choice((1, 2, 4, 512)) if not crowded else 512
    seconds = choices.choice((0.0, hub._SLICE_SECONDS))
    with (
        mock.patch.object(hub, "_SLICE_SECONDS", seconds),
        mock.patch.object(dispatcher, "_MAX_UNSLICED", size),
        mock.patch.object(dispatcher, "_SLICE", max(1, size // 2)),
    ):
        yield


@contextmanager
def _small_batches(choices: Choices) -> Iterator[None]:
    """Let few broken sessions end one after another too, as thousands do: until then they are among the others."""
    with mock.patch.object(invalidation, "_BATCH", choices.choice((1, 2, invalidation._BATCH))):
        yield


@contextmanager
def _failing_dispatches(simulation: Simulation) -> Iterator[None]:
    """Let some dispatches to a connected session raise."""
    dispatch, choices = Connection.dispatch, simulation.randomness.stream("dispatches")

    def failing(connection: Connection, seq: int, frame: Frame) -> None:
        if simulation.failing_dispatches and choices.fault("dispatch raises", simulation.failing_dispatches):
            raise RuntimeError("a dispatch failed")
        dispatch(connection, seq, frame)

    with mock.patch.object(Connection, "dispatch", failing):
        yield


@contextmanager
def _repeatable() -> Iterator[None]:
    """Let sets of sessions and connections have the same order in each run: their hash is else their address."""
    with (
        mock.patch.object(Session, "__hash__", lambda session: int(session.id[:12], 16)),
        mock.patch.object(Connection, "__hash__", lambda connection: hash(connection.opened_at)),
    ):
        yield


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Log nothing: failing reads are logged, and there are many."""
    previous = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(previous)


def modes(results: Collection[Result]) -> dict[str, int]:
    """How many runs each mode had."""
    return {mode: sum(result.mode == mode for result in results) for mode in (EMBEDDED, POSTGRES, CLUSTER, NATS)}
