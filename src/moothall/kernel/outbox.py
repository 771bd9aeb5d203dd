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
from functools import partial

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select

from moothall.bus import Bus, BusUnavailable, Envelope, SharedBus
from moothall.bus.packing import decode_envelope, encode_envelope
from moothall.kernel.background import PeriodicTask
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query, StorageError, Transaction, in_list
from moothall.storage.schema import outbox

log = logging.getLogger("moothall.outbox")

ANY_NODE = ""
"""The addressee of events that whichever node finds them first shall publish: of all, up to now."""

_MAX_AT_ONCE = 500


class OutboxRow(Struct):
    """One event waiting."""

    id: int
    envelope: bytes


_insert = Query(insert(outbox))
_select = Query(
    select(outbox.c.id, outbox.c.envelope)
    .where(outbox.c.node == bindparam("node"))
    .order_by(outbox.c.id)
    .limit(_MAX_AT_ONCE),
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


class OutboxRelay(PeriodicTask):
    """Publishes what lies in the outbox: when woken, else it looks every `seconds`.

    With a `shared` bus a batch is deleted in the transaction that publishes it, once the bus keeps it:
    a failure or a crash repeats the batch, it never loses it, and whoever hears it knows it by its
    numbers. Otherwise it is published once its deletion is durable.
    """

    def __init__(self, database: Database, bus: Bus, *, shared: SharedBus | None = None, seconds: float = 0.05) -> None:
        super().__init__(seconds=seconds)
        self._database = database
        self._bus = bus
        self._shared = shared
        self.found: Callable[[], None] = _nothing
        """Called once what others left has been taken, before it is published: they have changed the database."""

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

    async def _round(self) -> bool:
        """Publish what is waiting; whether that was only the first of it."""
        try:
            return await self.relay() == _MAX_AT_ONCE
        except StorageError as problem:
            log.warning("the outbox could not be read: %s", problem)
        except BusUnavailable as problem:
            log.warning("events wait in the outbox: %s", problem)
        # Every commit wakes this: without a pause each would be told of in the log.
        await asyncio.sleep(self._seconds)
        return False
