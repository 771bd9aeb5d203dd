"""Events on their way from a transaction to the bus, where that must not depend on this process.

They are written into the outbox in the transaction that they tell of, and taken from there by
whichever process comes first. So it is with the events of operators' commands, in whose process no
gateway listens, and with all events where many processes serve: a crash after the commit loses none.

The relays of all processes take turns by a lock, and each takes what there is by number. A number is
given out inside the transaction: what was done in knowledge of something else has the greater one,
and is never seen before it. So no effect is published before its cause, and the events of a guild
are published in the order of its changes.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select

from moothall.bus import Bus, BusUnavailable, Envelope, SharedBus
from moothall.bus.packing import decode_envelope, encode_envelope
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query, StorageError, Transaction, in_list
from moothall.storage.schema import outbox

log = logging.getLogger("moothall.outbox")

ANY_NODE = ""
"""The addressee of events that whichever node finds them first shall publish: of all, up to now."""

_MOST_AT_ONCE = 500


class OutboxRow(Struct):
    """One event waiting."""

    id: int
    envelope: bytes


_insert = Query(insert(outbox))
_select = Query(
    select(outbox.c.id, outbox.c.envelope)
    .where(outbox.c.node == bindparam("node"))
    .order_by(outbox.c.id)
    .limit(_MOST_AT_ONCE),
    into=OutboxRow,
)
_select_first = Query(select(outbox.c.id).where(outbox.c.node == bindparam("node")).limit(1))
_delete = Query(delete(outbox).where(in_list(outbox.c.id, "ids")))

_LOCK = Snowflake(1)
"""No guild has this id: relays of all nodes take turns by it."""


async def leave_events(tx: Transaction, events: Iterable[Envelope]) -> None:
    """Write the envelopes of events into the outbox, in the transaction that they tell of."""
    now = Timestamp.now()
    rows = [{"node": ANY_NODE, "envelope": encode_envelope(event), "created_at": now} for event in events]
    if len(rows) == 1:
        await tx.execute(_insert, **rows[0])
    elif rows:
        await tx.execute_many(_insert, rows)


def _nothing() -> None:
    """Nobody asked to be told."""


async def until_relayed(database: Database, *, seconds: float) -> bool:
    """Wait until a serving process has taken what lies in the outbox; False if none does in so many seconds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        async with database.read() as reader:
            if not await reader.all(_select_first, node=ANY_NODE):
                return True
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)


class OutboxRelay:
    """Publishes what lies in the outbox: when woken, else it looks every `seconds`.

    With a `shared` bus a batch is deleted in the transaction that publishes it, once the bus keeps it:
    a failure or a crash repeats the batch, it never loses it, and whoever hears it knows it by its
    numbers. Otherwise it is published once its deletion is durable.
    """

    def __init__(self, database: Database, bus: Bus, *, shared: SharedBus | None = None, seconds: float = 0.05) -> None:
        self._database = database
        self._bus = bus
        self._shared = shared
        self._seconds = seconds
        self.found: Callable[[], None] = _nothing
        """Called once what others left has been taken, before it is published: they have changed the database."""
        self._woken = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin looking."""
        self._stopping = False
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop looking."""
        if self._task is not None:
            # Python 3.11 may lose a cancellation to a result that comes at the same moment.
            self._stopping = True
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def wake(self) -> None:
        """Look now: this process has committed something."""
        self._woken.set()

    async def relay(self) -> int:
        """Publish what is waiting now, the first hundreds of it; how many events that were.

        Raises StorageError and BusUnavailable; then they wait on.
        """
        if self._shared is not None and not self._shared.connected:
            return 0
        async with self._database.read() as reader:
            if not await reader.all(_select_first, node=ANY_NODE):
                return 0
        async with self._database.transaction(_LOCK) as tx:
            # Under the lock: of two nodes that saw the same rows, one publishes them.
            found = await tx.all(_select, node=ANY_NODE)
            if not found:
                return 0
            await tx.execute(_delete, ids=[row.id for row in found])
            if self._shared is None:
                tx.on_commit(self.found)
                tx.on_commit(partial(self._bus.publish, [decode_envelope(row.envelope) for row in found]))
            else:
                await self._shared.deliver([(row.id, row.envelope) for row in found])
        return len(found)

    async def _run(self) -> None:
        while not self._stopping:
            try:
                while await self.relay() == _MOST_AT_ONCE:
                    pass
            except StorageError as problem:
                log.warning("the outbox could not be read: %s", problem)
                await asyncio.sleep(self._seconds)
            except BusUnavailable as problem:
                log.warning("events wait in the outbox: %s", problem)
                await asyncio.sleep(self._seconds)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._woken.wait()
            self._woken.clear()
