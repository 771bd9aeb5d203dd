"""One run of the whole platform: clients work while the disk, the process and connections fail; then all is audited."""

import gc
import hashlib
import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from typing import Final

from msgspec import Struct

from moothall.server.writer_relay import WriterLost
from moothall.storage.database import StorageError
from tests.simulation.disk import Disk, DiskFaults, StoredFile
from tests.simulation.loop import QUICK, SLOW, run
from tests.simulation.platform import account_operations as accounts
from tests.simulation.platform import guild_operations as guilds
from tests.simulation.platform import message_operations as messages
from tests.simulation.platform.any_operation import AnyOperations
from tests.simulation.platform.auditor import Auditor
from tests.simulation.platform.blobs import SimulatedBlobs
from tests.simulation.platform.client import Client, Violation
from tests.simulation.platform.endings import ENDINGS
from tests.simulation.platform.leftovers import leftovers
from tests.simulation.platform.operator_operations import OperatorOperations
from tests.simulation.platform.server import Lost, Server, SimulatedCluster
from tests.simulation.platform.workload import Operation, Workload
from tests.simulation.platform.world import Image, folder, image, simulated_world
from tests.simulation.randomness import Choices, Randomness
from tests.simulation.streams import StreamLoop

_WORKERS: Final = 5
_STEPS: Final = 44
"""Operations of each worker."""
STEPS: Final = [f"{worker}.{step}" for worker in range(_WORKERS) for step in range(_STEPS)]
"""The operations of a run, by worker and number."""
_CALM_SECONDS: Final = 45.0
_HOUR: Final = 3_800.0
"""Seconds after which polls of an hour have ended, and quiet threads are archived."""
_DISKS: Final[dict[str, DiskFaults]] = {
    "healthy": DiskFaults(),
    "power": DiskFaults(crash=0.002),
    "syncs": DiskFaults(sync_fails=0.03),
    "full": DiskFaults(full=0.004),
    "all": DiskFaults(crash=0.001, sync_fails=0.01, full=0.001, read_fails=0.002),
}
OPERATIONS: Final[dict[Operation, float]] = {
    messages.create_message: 22,
    messages.edit_message: 7,
    messages.delete_message: 4,
    messages.bulk_delete: 1,
    messages.list_messages: 9,
    messages.add_reaction: 8,
    messages.remove_reaction: 4,
    messages.pin: 3,
    messages.vote: 4,
    messages.end_poll: 1,
    messages.start_thread: 3,
    messages.join_thread: 3,
    messages.ack_message: 2,
    guilds.create_channel: 2,
    guilds.rename_channel: 3,
    guilds.delete_channel: 0.7,
    guilds.set_overwrite: 5,
    guilds.change_role: 5,
    guilds.give_role: 6,
    guilds.set_nick: 3,
    guilds.rename_guild: 2,
    guilds.kick: 2,
    guilds.ban: 3,
    guilds.create_invite: 3,
    guilds.join: 6,
    guilds.race_for_invite: 1,
    guilds.claim_vanity_code: 1.5,
    guilds.race_for_vanity_code: 1,
    guilds.race_for_username: 1,
    accounts.authorize_application: 1.5,
    accounts.use_second_factor: 1,
    guilds.read_guild: 8,
}
_ANY: Final = 70.0
"""The weight of a call of any endpoint, in a guild of its own."""


class Case(Struct, frozen=True):
    """What is run: all of a seed, or less of it, to find the cause of a failure."""

    seed: int
    suppressed: frozenset[str] = frozenset()
    """Faults that do not happen, by their names."""
    left_out: frozenset[str] = frozenset()
    """Operations that are not carried out, by worker and number."""


class Result(Struct):
    """What a run came to. `trace` is a hash over all that clients received, and when."""

    seed: int
    failure: str = ""
    seconds: float = 0.0
    requests: int = 0
    events: int = 0
    starts: int = 0
    resumed: int = 0
    faults: dict[str, int] = {}
    fault_names: list[str] = []
    operations: dict[str, str] = {}
    """What each step did."""
    accepted: dict[str, int] = {}
    """How often each endpoint accepted a request; `refused` has those that did not."""
    refused: dict[str, int] = {}
    trace: str = ""


class Simulation:
    """The platform, its disk and its clients."""

    kind: str

    def __init__(self, case: Case, randomness: Randomness, loop: StreamLoop, blobs: SimulatedBlobs) -> None:
        self.case = case
        self.randomness = randomness
        self.loop = loop
        self.choices = choices = randomness.stream("case")
        self.disk = Disk(randomness.stream("disk"), sector=choices.choice((512, 4096)))
        self.blobs = blobs
        self.disturbances: dict[str, float] = {}
        self.workers = 0
        """How many processes beside the one that writes; 0 for one that does everything."""
        self._stack = ExitStack()
        self.image = self._prepare(choices)
        blobs.data.update(self.image.blobs)
        loop.work(self.image.now)
        loop.step = randomness.stream("processor").choice((QUICK, QUICK, SLOW))
        self.servers: list[Server] = []
        self._cluster: SimulatedCluster | None = None
        self.work = Workload(loop, randomness, self.image, self.front)
        self.work.relayed = self.workers > 0
        self.work.may_fail = self.kind not in {"healthy", "power"}
        self.work.aborting = choices.choice((0.0, 0.03))
        self.any = AnyOperations(self.work)
        self.operators = OperatorOperations(self.work)
        self.operations: dict[Operation, float] = {
            **OPERATIONS,
            self.any.operate: _ANY,
            self.any.set_voice_state: 3,
            self.operators.operate: 12,
        }
        self.clients: list[Client] = []
        self.steps: dict[str, str] = {}
        self.trace = hashlib.sha256()
        self.starts = 0
        self.events = 0
        self.left: list[Server] = []
        self._supervising = True

    def _prepare(self, choices: Choices) -> Image:
        """Choose the processes and what fails, and give the disk the community, which is returned."""
        made = image()
        self.disk.files = {name: StoredFile(data) for name, data in made.files.items()}
        self.disturbances = {"drop": 10, "kill": 1, "power": 1, "stop": 1, "time": 2, "hours": 1}
        self.kind = choices.weighted({"healthy": 3, "power": 3, "syncs": 2, "full": 1, "all": 1})
        self.workers = choices.weighted({0: 3, 2: 1, 3: 0.5})
        return made

    def problems(self) -> list[str]:
        """What has been seen to be wrong so far."""
        errors = [error for server in (*self.left, *self.servers) for error in server.errors]
        errors = [error for error in errors if not isinstance(error, WriterLost)]
        problems = [*self.work.problems, *(v for client in self.clients for v in client.violations)]
        if not self.work.may_fail:
            problems += [f"a request raised {error!r}" for error in errors]
            problems += [f"the loop reports {error}" for error in self.loop.errors]
        return problems

    async def run(self) -> None:
        """Work, calm down, audit."""
        try:
            await self.start()
            supervisor = self.loop.create_task(self._supervise())
            self._make_clients()
            await self.loop.io(3)
            self._begin_faults()
            workers = [self.loop.create_task(self._work(number)) for number in range(_WORKERS)]
            disturber = self.loop.create_task(self._disturb())
            for worker in workers:
                await worker
            disturber.cancel()
            self._end_faults()
            self._supervising = False
            await supervisor
            self.work.aborting = 0.0
            await self._end_things()
            await self.loop.io(_CALM_SECONDS)
            await Auditor(self).audit()
        finally:
            for client in self.clients:
                client.stopped = True
            with suppress(Lost):
                await self.stop()
            self.loop.bury()
            self._stack.close()

    def _begin_faults(self) -> None:
        self.disk.faults = _DISKS[self.kind]
        self.loop.resetting = self.choices.choice((0.0, 0.002, 0.01)) if self.workers else 0.0

    def _end_faults(self) -> None:
        self.disk.faults = DiskFaults()
        self.loop.resetting = 0.0

    def stored(self) -> bytes:
        """All that is stored, in which a text can be looked for."""
        return self.disk.content() + b"".join(self.blobs.data.values())

    def leftovers(self) -> Iterator[str]:
        """What is stored of things that are deleted. No process runs."""
        return leftovers(self.disk, "moothall.sqlite3")

    # The processes

    def front(self, choices: Choices, worker: int = 0) -> Server | None:
        """A process that clients connect to: that of a worker, mostly, where one is asked for."""
        serving = [each for each in self.servers if each.serving and each.has_clients]
        same = [each for each in serving if worker and each.role == worker]
        if same and choices.chance(0.9):
            return same[0]
        return choices.choice(serving) if serving else None

    async def start(self) -> None:
        """Start the machine, again if its power fails meanwhile."""
        while True:
            path = self._stack.enter_context(folder())
            self.mount = self.disk.mount(path)
            self._stack.callback(self.mount.unmount)
            self.disk.on_power_loss = self._end_all
            self._cluster = SimulatedCluster(path, self.workers) if self.workers else None
            for role in range(self.workers + 1):
                if not await self._start_process(role):
                    break
            else:
                return
            self.end()

    async def _start_process(self, role: int) -> bool:
        """Start a process; whether it serves. Raises Violation if it does not for no reason."""
        self.starts += 1
        mount = self.mount
        server = Server(self.loop, self.starts, mount.folder, cluster=self._cluster, role=role)
        self.servers.append(server)
        try:
            await server.start()
        except Lost:
            return False
        except Exception as error:
            if not self.work.may_fail and not mount.dead and not self.workers:
                raise Violation(f"the platform does not start: {error!r}") from error
            self._kill(server)
            return False
        return True

    def _kill(self, server: Server) -> None:
        """Let one process end; the machine goes on."""
        server.end()
        self.mount.kill(server.number)

    def _end_all(self) -> None:
        for server in self.servers:
            server.end()
        self.left += self.servers
        self.servers = []

    def end(self) -> None:
        """Let the power fail: everything that was not synced may be lost."""
        self.disk.cut_power()
        self._end_all()

    async def stop(self) -> None:
        """Stop all processes, those that clients connect to first."""
        for server in sorted(self.servers, key=lambda each: -each.role):
            with suppress(Lost, *((StorageError,) if self.work.may_fail else ())):
                await server.stop()
        self.disk.kill()
        self._end_all()

    async def restart(self) -> None:
        """Let the power fail and start again."""
        self.end()
        await self.start()
        await self.loop.io(1)

    async def _supervise(self) -> None:
        while True:
            dead = [server for server in self.servers if server.dead]
            if not self.servers or self.mount.dead:
                await self.loop.io(self.choices.delay(0.3, 3.0))
                await self.start()
            for server in dead:
                await self._replace(server)
            if not self._supervising and all(server.serving for server in self.servers) and self.servers:
                return
            await self.loop.io(0.05)

    async def _replace(self, server: Server) -> None:
        """Start a process again that has ended."""
        if server not in self.servers:
            return
        self.servers.remove(server)
        self.left.append(server)
        await self.loop.io(self.choices.delay(0.3, 3.0))
        if not self.mount.dead:
            await self._start_process(server.role)

    async def _disturb(self) -> None:
        choices = self.randomness.stream("disturber")
        while True:
            await self.loop.io(choices.delay(1.0, 5.0))
            if not self.servers or not all(server.serving for server in self.servers):
                continue
            kind = choices.weighted(self.disturbances)
            if choices.fault(kind, 1.0):
                await self._disturb_by(kind, choices)

    async def _disturb_by(self, kind: str, choices: Choices) -> None:
        if kind == "drop":
            choices.choice(self.clients).drop(choices.choice((1006, 4000, 1000)))
        elif kind == "kill" and self.workers:
            self._kill(choices.choice(self.servers))
        elif kind == "kill":
            self.disk.kill()
            self._end_all()
        elif kind == "power":
            self.end()
        elif kind == "stop":
            await self.stop()
        else:
            await self.loop.io(70 if kind == "time" else 4_000)

    # Clients

    def _make_clients(self) -> None:
        for number, person in enumerate(self.image.people):
            for device in range(2 if number < 2 else 1):
                self._client(f"{person.name}/{device}", person.id, person.token)
        bot = self.image.wild.bot
        self._client(bot.name, bot.id, bot.token).on_interaction = self.any.learn_interaction
        self.any.clients = self.clients

    def _client(self, name: str, user_id: str, token: str) -> Client:
        client = Client(name, user_id, lambda: token, self.loop, self.randomness.stream(f"client {name}"), self.front)
        client.on_event = self._note
        self.clients.append(client)
        client.connect()
        return client

    async def fresh_client(self, client: Client) -> Client:
        """A new session of a client's user, once it has everything."""
        name = f"fresh {client.name}"
        people = (*self.image.people, self.image.wild.bot)
        person = next(each for each in people if each.id == client.user_id)
        fresh = self._client(name, person.id, person.token)
        self.clients.remove(fresh)
        await self.loop.io(8)
        return fresh

    def _note(self, client: Client, name: str, seq: int) -> None:
        self.events += 1
        self.trace.update(f"{self.loop.time():.9f} {client.name} {name} {seq}\n".encode())

    # Work

    async def _end_things(self) -> None:
        """Let several things go through a whole life at once; one time in four an hour passes then."""
        choices = self.randomness.stream("endings")
        tasks = [
            self.loop.create_task(operation(self.work, self.randomness.stream(f"{operation.__name__}{number}")))
            for operation in ENDINGS
            for number in range(choices.integer(1, 3))
        ]
        for task in tasks:
            await task
        if choices.chance(0.25):
            await self.loop.io(_HOUR)

    async def _work(self, number: int) -> None:
        choices = self.randomness.stream(f"worker{number}")
        for step in range(_STEPS):
            await self.loop.io(choices.delay(0.08, 1.5))
            own = self.randomness.stream(f"worker{number}.{step}")
            operation = own.weighted(self.operations)
            self.steps[f"{number}.{step}"] = operation.__name__
            if f"{number}.{step}" not in self.case.left_out:
                await operation(self.work, own)


def simulate(
    seed: int,
    *,
    suppressed: Collection[str] = (),
    left_out: Collection[str] = (),
    make: Callable[[Case, Randomness, StreamLoop, SimulatedBlobs], Simulation] = Simulation,
) -> Result:
    """Run a seed. The same arguments always make the same result."""
    case = Case(seed, frozenset(suppressed), frozenset(left_out))
    if make is Simulation:
        image()
    randomness = Randomness(seed, suppressed=suppressed)
    loop = StreamLoop(randomness.stream("loop"), randomness.stream("streams"))
    blobs = SimulatedBlobs()
    result = Result(seed)
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    # A collection closes the generators of dead processes, which schedules something on the loop: at the same moments
    # in each process, whatever else it has allocated.
    gc.collect()
    gc.disable()
    try:
        with simulated_world(loop, randomness, blobs):
            simulation: Simulation | None = None

            async def main() -> None:
                nonlocal simulation
                simulation = make(case, randomness, loop, blobs)
                await simulation.run()

            try:
                run(loop, main())
            except Exception as error:  # noqa: BLE001 any failure is the run's result
                result.failure = f"{type(error).__name__}: {error}"
    finally:
        gc.enable()
        logging.disable(level)
    if simulation is not None:
        _summarize(result, simulation)
    return result


def _summarize(result: Result, simulation: Simulation) -> None:
    result.seconds = simulation.loop.time()
    result.events = simulation.events
    result.starts = simulation.starts
    result.resumed = sum(client.resumed for client in simulation.clients)
    result.faults = dict(simulation.randomness.counts)
    result.fault_names = list(simulation.randomness.faults)
    for template, statuses in simulation.work.statuses.items():
        result.requests += sum(statuses.values())
        if accepted := sum(count for status, count in statuses.items() if status < 300):
            result.accepted[template] = accepted
        else:
            result.refused[template] = sum(statuses.values())
    result.operations = simulation.steps
    result.trace = simulation.trace.hexdigest()
