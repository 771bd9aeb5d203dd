"""Events of transactions that this process cannot publish itself.

An operator's command changes the database in a process of its own, where no gateway listens. It
writes its events into the outbox in the same transaction; a serving process takes them from there
and publishes them, so that they are announced at once and none is lost.
"""

import asyncio
import logging
from collections.abc import Iterable

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select

from moothall.bus import Bus, Envelope
from moothall.kernel.events import Event
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query, StorageError, Transaction, in_list
from moothall.storage.schema import outbox

log = logging.getLogger("moothall.outbox")

ANY_NODE = ""
"""The addressee of events that whichever node finds them first shall publish."""

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
_delete = Query(delete(outbox).where(in_list(outbox.c.id, "ids")))

_encoder = msgspec.json.Encoder(enc_hook=int)  # ids are a kind of int, and numbers in an envelope
_decoder = msgspec.json.Decoder(Envelope)

_LOCK = Snowflake(1)
"""No guild has this id: relays of all nodes take turns by it."""


async def leave_events(tx: Transaction, events: Iterable[Event], *, node: str = ANY_NODE) -> None:
    """Write events into the outbox, in the transaction that they tell of."""
    now = Timestamp.now()
    rows = [{"node": node, "envelope": _encoder.encode(event.envelope()), "created_at": now} for event in events]
    if rows:
        await tx.execute_many(_insert, rows)


class OutboxRelay:
    """Publishes what other processes left, looking every `seconds`."""

    def __init__(self, database: Database, bus: Bus, *, seconds: float = 0.05) -> None:
        self._database = database
        self._bus = bus
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin looking."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def relay(self) -> int:
        """Publish what is waiting now; how many events that were."""
        async with self._database.read() as reader:
            found = await reader.all(_select, node=ANY_NODE)
        if not found:
            return 0
        async with self._database.transaction(_LOCK) as tx:
            # Read again under the lock: of two nodes that saw the same rows, one publishes them.
            found = await tx.all(_select, node=ANY_NODE)
            if found:
                await tx.execute(_delete, ids=[row.id for row in found])
        self._bus.publish([_decoder.decode(row.envelope) for row in found])
        return len(found)

    async def _run(self) -> None:
        while True:
            try:
                await self.relay()
            except StorageError as problem:
                log.warning("the outbox could not be read: %s", problem)
            await asyncio.sleep(self._seconds)
