"""Which processes serve a database, and the number that keeps the ids of each apart.

A process takes a free number at its start and renews it every few seconds; one that was not renewed
for long is free again. The same rows tell every process which others live.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, update

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query, StorageError, Transaction, insert_ignore
from moothall.storage.schema import meta, nodes

log = logging.getLogger("moothall.nodes")

_LOCK: Final = Snowflake(2)
"""No guild has this id: processes take their numbers one after another."""
_FREE: Final = 31 << 5
"""Numbers below this are handed out; the rest is the worker of operators' commands."""


class NodeRow(Struct):
    """A row of `nodes`."""

    number: Snowflake
    name: str
    seen_at: Timestamp


_select = Query(select(nodes), into=NodeRow)
_insert = Query(insert(nodes))
_renew = Query(
    update(nodes)
    .where(nodes.c.number == bindparam("own_number"), nodes.c.name == bindparam("own_name"))
    .values(seen_at=bindparam("now"))
)
_delete = Query(delete(nodes).where(nodes.c.number == bindparam("own_number"), nodes.c.name == bindparam("own_name")))
_delete_dead = Query(delete(nodes).where(nodes.c.seen_at < bindparam("before")))
_insert_space = Query(insert_ignore(meta, key=("key",)))
_select_space = Query(select(meta.c.value).where(meta.c.key == "space"))


class NumberTaken(Exception):
    """Another process that lives makes ids with the number that this one was told to use, or all are taken."""


def new_name() -> str:
    """A name for a process: sixteen letters that no other has."""
    return secrets.token_hex(8)


async def space_of(database: Database) -> str:
    """The name of this database among all, made when it is first asked for."""
    async with database.transaction() as tx:
        await tx.execute(_insert_space, key="space", value=secrets.token_hex(8))
        return str(await tx.scalar(_select_space))


class Membership:
    """This process among those that serve a database. Renewed every `seconds`, dead after `dead_after`.

    `number` is the one to be used, None for any that is free. `on_change` is called at every renewal with the
    names of all processes that live and of those removed since; if it raises, the next call has the latter again.
    `on_renumber` is called with the new number if this process was taken for dead and lost its own.
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
        self._wanted = number
        self._seconds = seconds
        self._dead_after = dead_after
        self._known = self.alive
        self._leaving = False
        self._task: asyncio.Task[None] | None = None

    async def join(self) -> int:
        """Take a number. One that is asked for is waited for as long as its last holder may only seem alive.

        Raises NumberTaken.
        """
        deadline = asyncio.get_running_loop().time() + self._dead_after + self._seconds
        while True:
            try:
                self.number = await self._take()
            except NumberTaken as problem:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                log.warning("%s; waiting whether it lives", problem)
                await asyncio.sleep(min(1.0, self._dead_after / 4))
            else:
                return self.number

    def start(self) -> None:
        """Renew from now on."""
        self._task = asyncio.create_task(self._run())

    async def leave(self) -> None:
        """Give the number back. Does nothing the second time."""
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
        """Say that this process lives, and look who else does."""
        async with self._database.transaction() as tx:
            own = await tx.execute(_renew, own_number=Snowflake(self.number), own_name=self.name, now=Timestamp.now())
        if not own:
            log.warning("this process was taken for dead: it takes another number for its ids")
            self.number = await self._take()
            if self._on_renumber is not None:
                self._on_renumber(self.number)
        async with self._database.read() as reader:
            rows = await reader.all(_select)
        self._look(rows)
        removed = self._known - self.alive
        self._known |= self.alive
        if self._on_change is not None:
            await self._on_change(self.alive, removed)
        self._known = self.alive

    async def _take(self) -> int:
        async with self._database.transaction(_LOCK) as tx:
            await tx.execute(_delete_dead, before=Timestamp(Timestamp.now() - int(self._dead_after * 1000)))
            rows = await tx.all(_select)
            number = self._choose({row.number: row for row in rows})
            await self._write(tx, number)
        self._look(rows)
        return number

    def _choose(self, taken: dict[Snowflake, NodeRow]) -> int:
        if self._wanted is None:
            free = next((n for n in range(_FREE) if n not in taken), None)
            if free is None:
                raise NumberTaken(f"{_FREE} processes serve this database already")
            return free
        holder = taken.get(Snowflake(self._wanted))
        if holder is not None:
            raise NumberTaken(
                f"worker_id {self._wanted >> 5} with process_id {self._wanted & 31} belongs to process {holder.name}, "
                f"seen {(Timestamp.now() - holder.seen_at) / 1000:.0f} s ago"
            )
        return self._wanted

    async def _write(self, tx: Transaction, number: int) -> None:
        await tx.execute(_insert, number=Snowflake(number), name=self.name, seen_at=Timestamp.now())

    def _look(self, rows: list[NodeRow]) -> None:
        oldest = Timestamp.now() - self._dead_after * 1000
        self.alive = frozenset((self.name, *(row.name for row in rows if row.seen_at >= oldest)))

    async def _run(self) -> None:
        while not self._leaving:
            await asyncio.sleep(self._seconds)
            try:
                await self.renew()
            except (StorageError, NumberTaken) as problem:
                log.warning("this process could not say that it lives: %s", problem)
