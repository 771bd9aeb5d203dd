"""The transactional outbox: events stored with the change that they announce, and published by any process.

Events of operators' commands go through it, because such a process has no gateway, and with several processes all
events do: a crash after the commit loses none.

The relays of all processes take turns by a lock, and each publishes the rows in the order of their numbers. A number
is assigned inside the transaction, so a transaction that has seen the effect of another one has the greater number.
So no effect is published before its cause, and the events of a guild are published in the order of its changes.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from moothall.bus import Bus, BusUnavailable, Envelope, SharedBus
from moothall.bus.batches import BatchNumbers
from moothall.bus.envelope import require_routes
from moothall.bus.packing import decode_envelope, encode_envelope
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.runtime.background import PeriodicTask
from moothall.storage.database import Database, Query, StorageError, Transaction, in_list
from moothall.storage.sql import bindparam, delete, func, insert, select
from moothall.storage.tables import outbox, outbox_batches

log = logging.getLogger("moothall.outbox")

ANY_NODE = ""
"""The addressee of events that any node may publish: so far, of all events."""

_MAX_AT_ONCE = 500


class OutboxRow(Struct):
    """An event that is not published yet."""

    id: int
    envelope: bytes


_insert = Query(lambda: insert(outbox))
_select = Query(
    lambda: (
        select(outbox.c.id, outbox.c.envelope)
        .where(outbox.c.node == bindparam("node"))
        .order_by(outbox.c.id)
        .limit(_MAX_AT_ONCE)
    ),
    into=OutboxRow,
)
_select_first = Query(lambda: select(outbox.c.id).where(outbox.c.node == bindparam("node")).limit(1))
_delete = Query(lambda: delete(outbox).where(in_list(outbox.c.id, "ids")))
_select_last_batch = Query(lambda: select(func.max(outbox_batches.c.id)))
_insert_batch = Query(
    lambda: insert(outbox_batches).values(published_at=bindparam("published_at")).returning(outbox_batches.c.id)
)
_delete_batches = Query(lambda: delete(outbox_batches).where(outbox_batches.c.id < bindparam("number")))

_DELIVERY_SECONDS = 2.5
"""How long the bus may take to store a batch, while the relays of other processes wait for the lock."""

_LOCK = Snowflake(1)
"""The lock of the relays; no guild has this id."""


async def leave_events(tx: Transaction, events: Iterable[Envelope]) -> None:
    """Write the envelopes of events into the outbox, in the transaction that they announce."""
    events = list(events)
    require_routes(events)
    now = Timestamp.now()
    rows: list[dict[str, object]] = [
        {"node": ANY_NODE, "envelope": encode_envelope(event), "created_at": now} for event in events
    ]
    await tx.write_many(_insert, rows)


async def until_relayed(database: Database, *, seconds: float) -> bool:
    """Wait until the outbox is empty; False if it is not after so many seconds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        async with database.read() as reader:
            if not await reader.all(_select_first, node=ANY_NODE):
                return True
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)


async def read_last_batch(database: Database) -> int:
    """Read the number of the last batch that a relay has published to the processes of a cluster; 0 before the first.

    Raises BusUnavailable if the database cannot be read.
    """
    try:
        async with database.read() as reader:
            return int(await reader.scalar(_select_last_batch) or 0)
    except StorageError as problem:
        raise BusUnavailable(f"the database cannot be asked for the last batch of events: {problem}") from problem


class OutboxRelay(PeriodicTask):
    """Publishes the events in the outbox: when `filled` is set, and every `seconds`.

    With a `shared` bus, a batch is deleted in the transaction that publishes it, once the bus has stored it. A failure
    or a crash publishes the batch again, never loses it, and receivers recognize it by its numbers. The lock is a
    lease: the bus has `_DELIVERY_SECONDS`, and of a process that has stopped, PostgreSQL ends the transaction
    (`postgres_connection`). Otherwise the batch
    is published once its deletion is durable; before that `on_relayed` is called, because another process must have
    changed the database.
    """

    def __init__(
        self,
        database: Database,
        bus: Bus,
        *,
        shared: SharedBus | None = None,
        on_relayed: Callable[[], None] | None = None,
        filled: asyncio.Event | None = None,
        seconds: float = 0.05,
    ) -> None:
        super().__init__(seconds=seconds, woken=filled)
        self._database = database
        self._bus = bus
        self._shared = shared
        self._on_relayed = on_relayed

    async def relay(self) -> int:
        """Publish at most `_MAX_AT_ONCE` events; returns how many.

        Raises StorageError and BusUnavailable; the events stay in the outbox then.
        """
        if self._shared is not None and not self._shared.connected:
            return 0
        async with self._database.read() as reader:
            if not await reader.all(_select_first, node=ANY_NODE):
                return 0
        async with self._database.transaction(_LOCK) as tx:
            # Read under the lock: of two nodes that saw the same rows, one publishes them.
            rows = await tx.all(_select, node=ANY_NODE)
            if not rows:
                return 0
            await tx.execute(_delete, ids=[row.id for row in rows])
            if self._shared is None:
                if self._on_relayed is not None:
                    tx.on_commit(self._on_relayed)
                tx.on_commit(partial(self._bus.publish, [decode_envelope(row.envelope) for row in rows]))
            else:
                await _deliver(self._shared, [(row.id, row.envelope) for row in rows], await _number_batch(tx))
        return len(rows)

    async def _round(self) -> bool:
        """Publish a batch; returns whether there may be more."""
        try:
            return await self.relay() == _MAX_AT_ONCE
        except StorageError as problem:
            log.warning("the outbox could not be read: %s", problem)
        except BusUnavailable as problem:
            log.warning("events wait in the outbox: %s", problem)
        # Every commit wakes this task: without a pause each would write a line into the log.
        await asyncio.sleep(self._seconds)
        return False


async def _number_batch(tx: Transaction) -> BatchNumbers:
    """Number a batch that is about to be published, in the transaction that deletes its events.

    The number is of this attempt alone: the database gives the next one another, also if this one is rolled back.
    """
    previous = await tx.scalar(_select_last_batch) or 0
    number = await tx.scalar(_insert_batch, published_at=Timestamp.now())
    await tx.write(_delete_batches, number=number)
    return BatchNumbers(number, previous)


async def _deliver(bus: SharedBus, events: list[tuple[int, bytes]], batch: BatchNumbers) -> None:
    """Publish a batch in time. Raises BusUnavailable; the bus may have stored a part of it, which is sent again."""
    try:
        async with asyncio.timeout(_DELIVERY_SECONDS):
            await bus.deliver(events, batch)
    except TimeoutError:
        raise BusUnavailable(f"the bus has not stored events within {_DELIVERY_SECONDS} s") from None
