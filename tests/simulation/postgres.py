"""The real PostgreSQL below simulated processes: the seed decides the order of everything, and what breaks when.

A statement is carried out at one moment of virtual time, on an event loop of its own, while the simulation stands
still. One that waits for a lock is let go on until another one has released it, as time passes. So the isolation
is PostgreSQL's own, and the same seed repeats the same order of statements.

Connections are refused, are slow, and break before a statement, after it, before its COMMIT and after it; a backend may
commit seconds after its client has lost it, or be ended by those who look for the outcome. All break at once where
PostgreSQL starts again.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from typing import Any, Final, TypeVar
from unittest import mock
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from moothall.storage.migrations import migrate_postgresql
from moothall.storage.postgres import engine
from moothall.storage.postgres.connection import NO_HURRY, Deadlines, PostgresConnection, connect_arguments
from tests.simulation.processes import PROCESS, ProcessLoop
from tests.simulation.randomness import Choices

T = TypeVar("T")

_SHORT_SECONDS: Final = 0.02
"""Real seconds for which a statement is waited for before it is asked whether it waits for a lock."""
_POLL_SECONDS: Final = 0.002
"""Real seconds from one look at a statement that is not done to the next."""
_DEADLOCK_SECONDS: Final = 0.004
"""Real seconds after which PostgreSQL has looked whether a statement that waits for a lock waits in a circle."""
_PATIENCE: Final = 60.0
"""Real seconds after which a statement that neither ends nor waits for a lock fails the run."""
_LINGERS: Final = 4.0
"""Seconds after the end of a process until which PostgreSQL may not know of it, and keeps its locks."""
_ENDS_BACKENDS: Final = "pg_terminate_backend"
_SETTINGS: Final = {
    # Time is virtual: what PostgreSQL would do after seconds is done by the simulation.
    "lock_timeout": "0",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "deadlock_timeout": "1",
    "synchronous_commit": "off",
    "jit": "off",
}


class _RealLoop:
    """An event loop with sockets on the thread of the simulated one, which stands still while this one runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def start(self, coroutine: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Begin to run a coroutine."""
        return self._loop.create_task(coroutine)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            return self._loop.run_until_complete(asyncio.wait_for(coroutine, _PATIENCE))
        finally:
            asyncio._set_running_loop(outer)

    def wait(self, task: "asyncio.Task[Any]", seconds: float) -> bool:
        """Run until a task is done, or for so many real seconds; returns whether it is done."""
        if not task.done():
            self.run(_wait(task, seconds))
        return task.done()

    def close(self) -> None:
        """End it."""
        self._loop.close()


async def _wait(task: "asyncio.Task[Any]", seconds: float) -> None:
    await asyncio.wait([task], timeout=seconds)


class Faults:
    """How often what breaks, by the probability at each statement or connection."""

    def __init__(self, scale: float) -> None:
        self.lost_before = 0.0015 * scale
        self.lost_after = 0.0015 * scale
        self.commit_fails = 0.004 * scale
        self.commit_late = 0.006 * scale
        self.commit_unanswered = 0.006 * scale
        self.refused = 0.01 * scale
        self.slow = 0.01 * scale


class SimulatedConnection:
    """A connection of one process, as the engine uses those of asyncpg."""

    def __init__(self, server: "SimulatedServer", real: PostgresConnection, process: int) -> None:
        self.name, self.slot, self.process_id = real.name, real.slot, real.process_id
        self.socket = None
        self.process = process
        self.real = real
        self.lost = False
        """Whether the client has lost it; the backend may go on."""
        self._server = server

    async def execute(self, text: str, *arguments: Any, timeout: float | None = None) -> str:
        """As asyncpg's, and so are the others."""
        return await self._call("execute", text, arguments, timeout)  # type: ignore[no-any-return]

    async def executemany(self, text: str, rows: Any, *, timeout: float | None = None) -> None:
        """Carry out a statement for each row."""
        await self._call("executemany", text, (list(rows),), timeout)

    async def fetch(self, text: str, *arguments: Any, timeout: float | None = None) -> list[Any]:
        """The rows of a statement."""
        return await self._call("fetch", text, arguments, timeout)  # type: ignore[no-any-return]

    async def fetchval(self, text: str, *arguments: Any, timeout: float | None = None) -> Any:
        """The first column of the first row."""
        return await self._call("fetchval", text, arguments, timeout)

    def is_in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return not self.is_closed() and self.real.is_in_transaction()

    def is_closed(self) -> bool:
        """Whether either end has closed it."""
        return self.lost or bool(self.real.is_closed())

    def terminate(self) -> None:
        """Close it at once; the backend ends."""
        if not self.lost:
            self.lost = True
            self._server.end_backend(self)

    async def close(self, *, timeout: float) -> None:
        """Close it."""
        del timeout
        self.terminate()

    async def _call(self, method: str, text: str, arguments: tuple[Any, ...], timeout: float | None) -> Any:
        server, choices, faults = self._server, self._server.choices, self._server.faults
        seconds = timeout or server.deadlines.statement
        await server.loop.io(choices.delay(0.0005, 0.02))
        if faults.slow and choices.fault("PostgreSQL is slow", faults.slow):
            await server.loop.io(choices.uniform(0.05, 2.0))
        if self.is_closed():
            raise asyncpg.InterfaceError("connection is closed")
        if faults.lost_before and choices.fault("connection lost before a statement", faults.lost_before):
            self._lose()
        is_commit = method == "execute" and text.endswith("COMMIT")
        if is_commit and faults.commit_fails and choices.fault("connection lost before COMMIT", faults.commit_fails):
            self._lose()
        if is_commit and faults.commit_late and choices.fault("COMMIT without its connection", faults.commit_late):
            self.lost = True
            server.commit_later(self, text)
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        try:
            result = await self._carry_out(method, text, arguments, seconds)
        except (asyncio.CancelledError, GeneratorExit):
            self.terminate()
            raise
        probability = faults.commit_unanswered if is_commit else faults.lost_after
        if probability and choices.fault(
            f"connection lost after {'COMMIT' if is_commit else 'a statement'}", probability
        ):
            await server.loop.io(choices.delay(0.01, 1.0))
            self._lose()
        await server.loop.io(choices.delay(0.0005, 0.01))
        return result

    async def _carry_out(self, method: str, text: str, arguments: tuple[Any, ...], seconds: float) -> Any:
        server = self._server
        deadline = server.loop.time() + seconds
        task = server.begin(self, getattr(self.real, method)(text, *arguments))
        while not server.is_settled(self):
            if server.loop.time() >= deadline:
                server.cancel(self)
                raise TimeoutError
            await server.loop.io(server.choices.delay(0.002, 0.05))
        if _ENDS_BACKENDS in text:
            server.await_end(arguments[0])
        return task.result()

    def _lose(self) -> None:
        """Break. Raises what asyncpg does."""
        self.terminate()
        self._server.choose_absence()
        raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")


class SimulatedServer:
    """A database of a real server, made from a template for one run. `faults` says what breaks."""

    def __init__(self, url: str, template: str, name: str, loop: ProcessLoop, choices: Choices) -> None:
        self.loop = loop
        self.choices = choices
        self.faults = Faults(0.0)
        self.deadlines = Deadlines()
        self.url = database_url(url, name)
        self.connections: list[SimulatedConnection] = []
        self._name = name
        self._context = Context()
        """What happens to a backend belongs to no process."""
        self._away_until = 0.0
        self._under_way: dict[SimulatedConnection, asyncio.Task[Any]] = {}
        self._real = _RealLoop()
        self._control: asyncpg.Connection = self._real.run(asyncpg.connect(url))
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')

    def _execute(self, text: str) -> None:
        self._real.run(self._control.execute(text))

    def close(self, *, keep: bool = False) -> None:
        """End all connections, and drop the database unless it is to be kept."""
        for connection in list(self.connections):
            self._end_now(connection)
        if not keep:
            self._execute(f'DROP DATABASE "{self._name}" WITH (FORCE)')
        self._real.run(self._control.close())
        self._real.close()

    # What is stored

    def columns(self) -> list[tuple[str, str]]:
        """The columns of all tables, each with its table."""
        text = (
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"
        )
        return [(row[0], row[1]) for row in self._read(text)]

    def count(self, text: str) -> int:
        """The number that a statement returns."""
        return int(self._read(text)[0][0])

    def content(self) -> bytes:
        """All rows, as texts."""
        tables = sorted({table for table, _ in self.columns()})
        rows = [row[0] for table in tables for row in self._read(f'SELECT each::text FROM "{table}" each')]  # noqa: S608 names of the schema
        return "\n".join(rows).encode()

    def _read(self, text: str) -> list[Any]:
        async def read() -> list[Any]:
            connection = await asyncpg.connect(self.url)
            rows: list[Any] = await connection.fetch(text)
            await connection.close()
            return rows

        return self._real.run(read())

    # Connections

    async def connect(self, _url: str, deadlines: Deadlines) -> SimulatedConnection:
        """In place of `storage.postgres.connection.connect`."""
        self.deadlines = deadlines
        await self.loop.io(self.choices.delay(0.002, 0.1))
        if self.loop.time() < self._away_until:
            raise ConnectionRefusedError("PostgreSQL is away")
        if self.faults.refused and self.choices.fault("connection refused", self.faults.refused):
            raise ConnectionRefusedError("PostgreSQL refuses a connection")
        arguments = connect_arguments(NO_HURRY) | {"timeout": _PATIENCE}
        arguments["server_settings"] |= _SETTINGS
        real: PostgresConnection = self._real.run(asyncpg.connect(self.url, **arguments))
        connection = SimulatedConnection(self, real, PROCESS.get())
        self.connections.append(connection)
        return connection

    def choose_absence(self) -> None:
        """Let no connection be opened for a while, as where PostgreSQL starts again."""
        if self.choices.chance(0.3):
            self.go_away(self.choices.uniform(0.1, 3.0))

    def go_away(self, seconds: float) -> None:
        """Refuse connections for so long."""
        self._away_until = max(self._away_until, self.loop.time() + seconds)

    def restart(self) -> None:
        """Break all connections, and refuse others for a while. What was not committed is gone."""
        self.go_away(self.choices.uniform(0.2, 3.0))
        for connection in list(self.connections):
            connection.lost = True
            self._end_now(connection)

    def kill(self, process: int) -> None:
        """End the connections of a process that has ended, as soon as PostgreSQL hears of it."""
        for connection in list(self.connections):
            if connection.process == process:
                connection.terminate()

    def end_backend(self, connection: SimulatedConnection) -> None:
        """End the backend of a connection, now or in a while."""
        if self.faults.slow and self.choices.chance(0.2):
            self.loop.call_later(self.choices.uniform(0.0, _LINGERS), self._end_now, connection, context=self._context)
        else:
            self._end_now(connection)

    def _end_now(self, connection: SimulatedConnection) -> None:
        if connection not in self.connections:
            return
        self.connections.remove(connection)
        self._end(connection.process_id)
        self.await_end(connection.process_id)
        connection.real.terminate()
        task = self._under_way.pop(connection, None)
        if task is not None:
            self._real.wait(task, _PATIENCE)
            task.exception()

    def _end(self, process_id: int) -> None:
        self._real.run(self._control.fetchval("SELECT pg_terminate_backend($1)", process_id))

    def await_end(self, process_id: int) -> None:
        """Wait until a backend that is to end has ended, and its connection knows."""
        exists = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)"
        while self._real.run(self._control.fetchval(exists, process_id)):
            self._real.run(asyncio.sleep(_POLL_SECONDS))
        for connection in self.connections:
            while connection.process_id == process_id and not connection.real.is_closed():
                self._real.run(asyncio.sleep(_POLL_SECONDS))
        self._await_others()

    def commit_later(self, connection: SimulatedConnection, text: str) -> None:
        """Let a backend that has lost its client commit in a while, unless it is ended before."""

        def commit() -> None:
            if connection in self.connections and not connection.real.is_closed():
                with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                    self._real.run(connection.real.execute(text))
                self._await_others()
            self._end_now(connection)

        self.loop.call_later(self.choices.delay(0.05, 8.0), commit, context=self._context)

    # Statements

    def begin(self, connection: SimulatedConnection, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Begin a statement, and wait until it is done or waits for a lock."""
        task = self._under_way[connection] = self._real.start(work)
        if self._is_done(connection) and not connection.real.is_in_transaction():
            self._await_others()
        return task

    def is_settled(self, connection: SimulatedConnection) -> bool:
        """Whether the statement of a connection is done."""
        task = self._under_way.get(connection)
        if task is not None and not task.done():
            return False
        self._under_way.pop(connection, None)
        return True

    def cancel(self, connection: SimulatedConnection) -> None:
        """Cancel a statement that waits for a lock."""
        task = self._under_way.pop(connection)
        self._real.run(self._control.fetchval("SELECT pg_cancel_backend($1)", connection.process_id))
        self._real.wait(task, _PATIENCE)
        task.exception()
        self._await_others()

    def _await_others(self) -> None:
        """Wait until what waited for a lock that may be free now is done, or waits still."""
        for connection in list(self._under_way):
            self._is_done(connection)

    def _is_done(self, connection: SimulatedConnection) -> bool:
        """Whether a statement is done; false if it waits for a lock."""
        task = self._under_way[connection]
        if task.done():
            return True
        for attempt in range(int(_PATIENCE / _POLL_SECONDS)):
            if attempt and self._is_blocked(connection):
                # In a circle it waits for a moment only.
                self._real.wait(task, _DEADLOCK_SECONDS)
                if not task.done() and self._is_blocked(connection):
                    return False
            if self._real.wait(task, _POLL_SECONDS if attempt else _SHORT_SECONDS):
                return True
        raise AssertionError("a statement neither ends nor waits for a lock")

    def _is_blocked(self, connection: SimulatedConnection) -> bool:
        text = "SELECT cardinality(pg_blocking_pids($1)) > 0"
        return bool(self._real.run(self._control.fetchval(text, connection.process_id)))


@contextmanager
def simulated_postgres(server: SimulatedServer) -> Iterator[None]:
    """Let every engine connect to the server."""
    with mock.patch.object(engine, "connect", server.connect):
        yield


def database_url(url: str, name: str) -> str:
    """The URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def create_template(url: str, name: str) -> None:
    """Create an empty database with all tables, which PostgreSQL itself leaves as they are."""
    real = _RealLoop()

    async def create() -> None:
        control = await asyncpg.connect(url)
        await control.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        await control.execute(f'CREATE DATABASE "{name}"')
        await control.close()
        connection = await asyncpg.connect(database_url(url, name))
        await migrate_postgresql(connection)
        for (table,) in await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            await connection.execute(f'ALTER TABLE "{table}" SET (autovacuum_enabled = off)')
        await connection.close()

    try:
        real.run(create())
    finally:
        real.close()


def drop_database(url: str, name: str) -> None:
    """Drop a database, if there is one of the name."""
    real = _RealLoop()

    async def drop() -> None:
        control = await asyncpg.connect(url)
        await control.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        await control.close()

    try:
        real.run(drop())
    finally:
        real.close()
