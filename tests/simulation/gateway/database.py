"""PostgreSQL as the product's `PostgresDatabase` sees it: connections that break, and commits whose outcome is unknown.

The statements are functions of the model; transactions, locks, the pool, group commit and what finds out outcomes are
the product's own.
"""

import re
from collections.abc import Callable
from typing import Any, Final, cast

import asyncpg

from moothall.storage.database import Query
from moothall.storage.postgres.engine import PostgresDatabase
from tests.simulation.gateway.model import Change, Guild, World
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices

Build = Callable[[Guild | None], Change | None]
"""Builds a transaction from the guild as it sees it."""

_MARK: Final = re.compile(r"commit_marks \(slot, number\) VALUES \((\d+), (\d+)\)")
_KEYS: Final = ("build", "made", "guild_id")


class _Plan:
    """A statement whose parameters are a function, a list for what it makes, and the guild that it changes."""

    in_one_table = False
    only_reads = False

    def __init__(self, table: str) -> None:
        self.changes = table
        self.text = f"{table}: $1 $2 $3"

    @staticmethod
    def bind(values: dict[str, Any]) -> tuple[Any, ...]:
        """The parameters."""
        return tuple(values[key] for key in _KEYS)


class _Statement:
    def __init__(self, table: str) -> None:
        self.postgresql = _Plan(table)


change_guild: Final = cast("Query[Any]", _Statement("guilds"))
send_message: Final = cast("Query[Any]", _Statement("messages"))


class SimulatedConnection:
    """A connection and the backend at its other end."""

    def __init__(self, database: "SimulatedPostgres", choices: Choices, number: int) -> None:
        self.slot = self.process_id = number
        self.name = f"moothall {number:x}"
        self._database = database
        self._choices = choices
        self._changes: list[Change] = []
        self._mark: int | None = None
        self._in_transaction = False
        self._closed = False

    async def execute(self, text: str, *arguments: Any) -> str:
        """Carry out a statement. Raises what asyncpg raises; after a COMMIT that fails the outcome is unknown."""
        loop, choices = self._database.loop, self._choices
        await loop.io(choices.delay(0.0005, 0.05))
        if self._closed:
            raise asyncpg.InterfaceError("connection is closed")
        if self._database.faults and choices.fault("database connection lost", 0.004):
            self._break()
        await self._carry_out(text, arguments)
        await loop.io(choices.delay(0.0005, 0.02))
        return "COMMIT" if text.endswith("COMMIT") else "UPDATE 1"

    async def _carry_out(self, text: str, arguments: tuple[Any, ...]) -> None:
        if text.startswith("BEGIN"):
            self._in_transaction = True
        elif text.startswith("ROLLBACK"):
            # A transaction that fails on a connection that holds fails before it has made anything.
            self._in_transaction = self._in_transaction and "SAVEPOINT" in text
            if not self._in_transaction:
                self._changes = []
        elif text.endswith("COMMIT"):
            if (mark := _MARK.search(text)) is not None:
                self._mark = int(mark[2])
            await self._commit()
        elif arguments:
            if "commit_marks" in text:
                self._mark, arguments = arguments[1], arguments[2:]
            self._build(*arguments)
            if not self._in_transaction:
                await self._commit()

    async def executemany(self, text: str, rows: list[tuple[Any, ...]]) -> None:
        """Carry out a statement for each row."""
        for row in rows:
            await self.execute(text, *row)

    async def fetch(self, text: str, *arguments: Any, timeout: float | None = None) -> list[Any]:
        """End the backend of a connection: a row while it still runs."""
        del text, timeout
        await self._database.loop.io(self._choices.delay(0.001))
        return self._database.end_backend(arguments[0])

    async def fetchval(self, text: str, slot: int) -> int | None:
        """The last number that a connection has committed."""
        del text
        await self._database.loop.io(self._choices.delay(0.001))
        return self._database.marks.get(slot)

    def _build(self, build: Build, made: list[Change], guild_id: Any) -> None:
        made.clear()  # of an attempt on a connection that was lost
        guild = self._database.world.guilds.get(guild_id)
        for change in self._changes:
            if change.guild_id == guild_id and change.mutate is not None:
                guild = change.mutate(guild)
        change_or_none = build(guild)
        if change_or_none is not None:
            self._changes.append(change_or_none)
            made.append(change_or_none)

    async def _commit(self) -> None:
        database, choices = self._database, self._choices
        changes, mark = self._changes, self._mark
        self._changes, self._mark, self._in_transaction = [], None, False
        if database.faults and choices.fault("commit fails", 0.01):
            self._break()
        if database.faults and choices.fault("commit goes on without its connection", 0.02):
            database.commit_later(self, changes, mark)
            self._break()
        database.apply(self.slot, changes, mark)
        if database.faults and choices.fault("commit's answer is lost", 0.02):
            await database.loop.io(choices.delay(0.01, 1.0))
            self._break()

    def _break(self) -> None:
        self._changes, self._closed, self._in_transaction = [], True, False
        self._database.choose_absence()
        raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")

    def is_in_transaction(self) -> bool:
        """Whether BEGIN has run."""
        return self._in_transaction

    def is_closed(self) -> bool:
        """Whether it is broken."""
        return self._closed

    def terminate(self) -> None:
        """Close it."""
        self._closed = True


class SimulatedPostgres(PostgresDatabase):
    """The product's database over connections of the simulation. `faults` says whether these break."""

    def __init__(self, world: World, loop: SimulatedLoop, choices: Choices) -> None:
        super().__init__("postgresql://simulation")
        self.world = world
        self.loop = loop
        self.faults = True
        self.marks: dict[int, int] = {}
        self._choices = choices
        self._connected = 0
        self._away_until = 0.0
        self._running: dict[int, Callable[[], None]] = {}
        """What backends without a connection are about to commit, by process."""

    async def _connect(self) -> Any:
        await self.loop.io(self._choices.delay(0.002, 0.1))
        if self.loop.time() < self._away_until:
            raise ConnectionRefusedError("the database is away")
        self._connected += 1
        return SimulatedConnection(self, self._choices, self._connected)

    def choose_absence(self) -> None:
        """Let no connection be opened for a while, as where the server starts again."""
        if self._choices.fault("database away", 0.5):
            self._away_until = self.loop.time() + self._choices.uniform(0.1, 12.0)

    def apply(self, slot: int, changes: list[Change], mark: int | None) -> None:
        """Store the changes of a transaction, with the mark of its connection."""
        if mark is not None:
            self.marks[slot] = mark
        for change in changes:
            self.world.apply(change)

    def commit_later(self, connection: SimulatedConnection, changes: list[Change], mark: int | None) -> None:
        """Let a backend go on that has lost its connection: it commits soon, unless it is ended before."""
        process_id, slot = connection.process_id, connection.slot

        def commit() -> None:
            if self._running.pop(process_id, None) is not None:
                self.apply(slot, changes, mark)

        self._running[process_id] = commit
        self.loop.call_later(self._choices.delay(0.05, 8.0), commit)

    def end_backend(self, process_id: int) -> list[Any]:
        """End a backend: it does not commit any more, or does so first."""
        commit = self._running.get(process_id)
        if commit is None:
            return []
        if self._choices.chance(0.5):
            commit()
        elif self._choices.chance(0.5):
            del self._running[process_id]
        return [(True,)]
