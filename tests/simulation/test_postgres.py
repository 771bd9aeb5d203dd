"""The real PostgreSQL in a simulation: its locks and transactions are its own, the order is that of the seed."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator

import asyncpg
import pytest

from moothall.storage.postgres.connection import Deadlines
from tests.simulation.loop import run
from tests.simulation.platform.cluster import simulate_cluster
from tests.simulation.postgres import (
    Faults,
    SimulatedConnection,
    SimulatedServer,
    create_template,
    database_url,
    drop_database,
)
from tests.simulation.processes import ProcessLoop
from tests.simulation.randomness import Randomness

URL = os.environ.get("MOOTHALL_TEST_POSTGRES", "")
SEEDS = int(os.environ.get("SIMULATION_CLUSTER_SEEDS", "1"))
"""How many seeds of nodes on PostgreSQL the suite runs."""

pytestmark = pytest.mark.skipif(not URL, reason="needs MOOTHALL_TEST_POSTGRES")

_READ = "SELECT value FROM meta WHERE key = 'key'"
_INSERT = "INSERT INTO meta (key, value) VALUES ('key', 'one'), ('other', 'one')"
_UPDATE = "UPDATE meta SET value = '{}' WHERE key = '{}'"

Body = Callable[[ProcessLoop, SimulatedServer], Awaitable[None]]


@pytest.fixture(scope="module")
def template() -> Iterator[str]:
    """An empty database with all tables."""
    name = f"moothall_simulation_test_{os.getpid()}"
    create_template(URL, name)
    yield name
    drop_database(URL, name)


def _simulate(template: str, body: Body, *, seed: int = 1) -> list[str]:
    """Run a body with a database of its own; returns the faults that happened."""
    randomness = Randomness(seed)
    loop = ProcessLoop(randomness.stream("loop"))
    server = SimulatedServer(URL, template, f"{template}_run", loop, randomness.stream("postgres"))
    try:
        run(loop, body(loop, server))  # type: ignore[arg-type]
    finally:
        server.close()
    return list(randomness.counts)


async def _connect(server: SimulatedServer, *, process: int = 0) -> SimulatedConnection:
    connection = await server.connect("", Deadlines())
    connection.process = process
    return connection


def test_a_statement_waits_for_the_lock_of_another_transaction_while_time_passes(template: str) -> None:
    async def body(loop: ProcessLoop, server: SimulatedServer) -> None:
        one, two = await _connect(server), await _connect(server)
        await one.execute(_INSERT)
        await one.execute("BEGIN")
        await one.execute(_UPDATE.format("two", "key"))
        waiting = loop.create_task(two.execute(_UPDATE.format("three", "key")))
        await loop.io(3.0)
        assert not waiting.done()
        assert await two_reads(server) == "one"
        await one.execute("COMMIT")
        await waiting
        assert await two_reads(server) == "three"

    async def two_reads(server: SimulatedServer) -> object:
        return await (await _connect(server)).fetchval(_READ)

    _simulate(template, body)


def test_one_who_waits_longer_than_the_deadline_of_a_statement_gives_up(template: str) -> None:
    async def body(_: ProcessLoop, server: SimulatedServer) -> None:
        one, two = await _connect(server), await _connect(server)
        await one.execute(_INSERT)
        await one.execute("BEGIN")
        await one.execute(_UPDATE.format("two", "key"))
        with pytest.raises(TimeoutError):
            await two.execute(_UPDATE.format("three", "key"))
        await one.execute("COMMIT")

    _simulate(template, body)


def test_a_deadlock_ends_with_the_failure_of_the_one_who_closes_the_circle(template: str) -> None:
    async def body(loop: ProcessLoop, server: SimulatedServer) -> None:
        one, two = await _connect(server), await _connect(server)
        await one.execute(_INSERT)
        for connection, key in ((one, "key"), (two, "other")):
            await connection.execute("BEGIN")
            await connection.execute(_UPDATE.format("two", key))
        waiting = loop.create_task(one.execute(_UPDATE.format("three", "other")))
        await loop.io(1.0)
        with pytest.raises(asyncpg.DeadlockDetectedError):
            await two.execute(_UPDATE.format("three", "key"))
        await two.execute("ROLLBACK")
        await waiting
        await one.execute("COMMIT")

    _simulate(template, body)


def test_the_locks_of_a_process_that_is_killed_are_free(template: str) -> None:
    async def body(loop: ProcessLoop, server: SimulatedServer) -> None:
        one, two = await _connect(server, process=1), await _connect(server, process=2)
        await one.execute(_INSERT)
        await one.execute("BEGIN")
        await one.execute(_UPDATE.format("two", "key"))
        waiting = loop.create_task(two.execute(_UPDATE.format("three", "key")))
        await loop.io(1.0)
        server.kill(1)
        await waiting
        assert await two.fetchval(_READ) == "three"

    _simulate(template, body)


@pytest.mark.parametrize(
    ("fault", "committed"), [("commit_fails", False), ("commit_late", True), ("commit_unanswered", True)]
)
def test_a_connection_breaks_before_a_commit_during_it_and_after_it(template: str, fault: str, committed: bool) -> None:
    async def body(loop: ProcessLoop, server: SimulatedServer) -> None:
        one = await _connect(server)
        await one.execute("BEGIN")
        await one.execute(_INSERT)
        setattr(server.faults, fault, 1.0)
        with pytest.raises(asyncpg.ConnectionDoesNotExistError):
            await one.execute("COMMIT")
        server.faults = Faults(0.0)
        await loop.io(20.0)
        assert (await (await _connect(server)).fetchval(_READ) == "one") is committed

    assert len(_simulate(template, body)) == 1


def test_a_backend_without_its_client_does_not_commit_once_it_was_ended(template: str) -> None:
    async def body(loop: ProcessLoop, server: SimulatedServer) -> None:
        one, two = await _connect(server), await _connect(server)
        await one.execute("BEGIN")
        await one.execute(_INSERT)
        server.faults.commit_late = 1.0
        with pytest.raises(asyncpg.ConnectionDoesNotExistError):
            await one.execute("COMMIT")
        server.faults = Faults(0.0)
        await two.fetch("SELECT pg_terminate_backend($1)", one.process_id)
        await loop.io(20.0)
        assert await two.fetchval(_READ) is None

    _simulate(template, body)


def test_a_restart_breaks_all_connections_and_loses_what_was_not_committed(template: str) -> None:
    async def body(loop: ProcessLoop, server: SimulatedServer) -> None:
        one = await _connect(server)
        await one.execute("BEGIN")
        await one.execute(_INSERT)
        server.restart()
        with pytest.raises(asyncpg.InterfaceError):
            await one.execute("COMMIT")
        await loop.io(20.0)
        assert await (await _connect(server)).fetchval(_READ) is None

    _simulate(template, body)


def test_a_database_of_a_run_is_dropped_with_it(template: str) -> None:
    async def body(_: ProcessLoop, server: SimulatedServer) -> None:
        await (await _connect(server)).execute(_INSERT)

    _simulate(template, body)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        _connect_once(database_url(URL, f"{template}_run"))


def _connect_once(url: str) -> None:
    async def connect() -> None:
        await (await asyncpg.connect(url)).close()

    asyncio.run(connect())


@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
def test_no_seed_of_nodes_on_postgresql_breaks_a_promise(seed: int) -> None:
    assert simulate_cluster(seed, url=URL).failure == ""
