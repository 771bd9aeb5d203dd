"""The processes that serve a database, and the node number of each, which makes its ids unique.

A process takes a free number at its start and renews it every few seconds, as a lease. A number that was not renewed
for too long is free again. The same rows show every process which others are alive.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query, StorageError, Transaction, insert_ignore
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import meta, nodes

log = logging.getLogger("moothall.nodes")

_LOCK: Final = Snowflake(2)
"""The lock for taking a number; no guild has this id."""
_NUMBERS: Final = 31 << 5
"""Serving processes take numbers below this; operators' commands use the last worker id."""


class NodeRow(Struct):
    """A row of `nodes`: a process and its lease of a number."""

    number: Snowflake
    name: str
    seen_at: Timestamp


_select = Query(lambda: select(nodes), into=NodeRow)
_insert = Query(lambda: insert(nodes))
_renew = Query(
    lambda: (
        update(nodes)
        .where(nodes.c.number == bindparam("own_number"), nodes.c.name == bindparam("own_name"))
        .values(seen_at=bindparam("now"))
    )
)
_delete = Query(
    lambda: delete(nodes).where(nodes.c.number == bindparam("own_number"), nodes.c.name == bindparam("own_name"))
)
_delete_expired = Query(lambda: delete(nodes).where(nodes.c.seen_at < bindparam("before")))
_insert_database_id = Query(lambda: insert_ignore(meta, key=("key",)))
_select_database_id = Query(lambda: select(meta.c.value).where(meta.c.key == "space"))


class NodeNumberTaken(Exception):
    """The configured number belongs to another live process, or all numbers are taken."""


def new_name() -> str:
    """Make a unique name for a process, of 16 hexadecimal digits."""
    return secrets.token_hex(8)


async def database_id(database: Database) -> str:
    """The random id of a database, which the first call creates."""
    async with database.transaction() as tx:
        await tx.execute(_insert_database_id, key="space", value=secrets.token_hex(8))
        return str(await tx.scalar(_select_database_id))


class Membership:
    """The lease of this process, renewed every `seconds`; others are dead `dead_after` seconds after their last.

    `number` is the configured one, None for any free number. `on_change` is called at every renewal with the names of
    all live processes and of those that died since the last call; if it raises, the next call has the latter again.
    `on_renumber` is called with the new number if the lease has expired and the number was taken by another process.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        *,
        number: int | None = None,
        on_change: Callable[[frozenset[str], frozenset[str]], Awaitable[None]] | None = None,
        on_renumber: Callable[[int], None] | None = None,
        seconds: float = 5.0,
        dead_after: float = 20.0,
    ) -> None:
        self.name = name
        self.number = -1
        self.alive: frozenset[str] = frozenset((name,))
        self._on_change = on_change
        self._on_renumber = on_renumber
        self._database = database
        self._configured_number = number
        self._seconds = seconds
        self._dead_after = dead_after
        self._known = self.alive
        self._leaving = False
        self._task: asyncio.Task[None] | None = None

    async def join(self) -> int:
        """Take a number. A configured one is waited for until the lease of a crashed process would have expired.

        Raises NodeNumberTaken.
        """
        deadline = asyncio.get_running_loop().time() + self._dead_after + self._seconds
        while True:
            try:
                self.number = await self._take()
            except NodeNumberTaken as problem:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                log.warning("%s; waiting whether it is alive", problem)
                await asyncio.sleep(min(1.0, self._dead_after / 4))
            else:
                return self.number

    def start(self) -> None:
        """Start renewing the lease."""
        self._task = asyncio.create_task(self._run())

    async def leave(self) -> None:
        """Stop renewing and give the number back. Does nothing the second time."""
        if self._task is not None:
            # Python 3.11 may lose a cancellation to a result that comes at the same moment.
            self._leaving = True
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        if self.number >= 0:
            number, self.number = self.number, -1
            with suppress(StorageError):
                async with self._database.transaction() as tx:
                    await tx.execute(_delete, own_number=Snowflake(number), own_name=self.name)

    async def renew(self) -> None:
        """Renew the lease, and read which processes are alive. Raises StorageError, NodeNumberTaken."""
        async with self._database.transaction() as tx:
            own = await tx.execute(_renew, own_number=Snowflake(self.number), own_name=self.name, now=Timestamp.now())
        if not own:
            log.warning("the lease of this process expired: it takes another number for its ids")
            self.number = await self._take()
            if self._on_renumber is not None:
                self._on_renumber(self.number)
        async with self._database.read() as reader:
            rows = await reader.all(_select)
        self._update_alive(rows)
        removed = self._known - self.alive
        self._known |= self.alive
        if self._on_change is not None:
            await self._on_change(self.alive, removed)
        self._known = self.alive

    async def _take(self) -> int:
        async with self._database.transaction(_LOCK) as tx:
            await tx.execute(_delete_expired, before=Timestamp(Timestamp.now() - int(self._dead_after * 1000)))
            rows = await tx.all(_select)
            number = self._choose({row.number: row for row in rows})
            await self._write(tx, number)
        self._update_alive(rows)
        return number

    def _choose(self, taken: dict[Snowflake, NodeRow]) -> int:
        number = self._configured_number
        if number is None:
            free = next((n for n in range(_NUMBERS) if n not in taken), None)
            if free is None:
                raise NodeNumberTaken(f"{_NUMBERS} processes serve this database already")
            return free
        owner = taken.get(Snowflake(number))
        if owner is not None:
            raise NodeNumberTaken(
                f"worker_id {number >> 5} with process_id {number & 31} belongs to process {owner.name}, "
                f"seen {(Timestamp.now() - owner.seen_at) / 1000:.0f} s ago"
            )
        return number

    async def _write(self, tx: Transaction, number: int) -> None:
        await tx.execute(_insert, number=Snowflake(number), name=self.name, seen_at=Timestamp.now())

    def _update_alive(self, rows: list[NodeRow]) -> None:
        oldest = Timestamp.now() - self._dead_after * 1000
        self.alive = frozenset((self.name, *(row.name for row in rows if row.seen_at >= oldest)))

    async def _run(self) -> None:
        while not self._leaving:
            await asyncio.sleep(self._seconds)
            try:
                await self.renew()
            except (StorageError, NodeNumberTaken) as problem:
                log.warning("this process could not renew its lease: %s", problem)
