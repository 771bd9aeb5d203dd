"""Keeping the index of messages up with them, a moment behind, and never in the way of those who write."""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator
from typing import Final

from moothall.kernel.background import BackgroundTask
from moothall.kernel.context import Context, Services
from moothall.objects.ids import Snowflake
from moothall.resources.message.search import queries
from moothall.resources.message.search.documents import Stored, document_of
from moothall.storage.database import StorageError, Transaction

log = logging.getLogger("moothall.search")

LOCK: Final = Snowflake(4)
"""No guild has this id: whoever writes the index holds it, so that no older state of a message overwrites a newer."""

STEP: Final = 50
"""Changes that are followed at once: a transaction of a few milliseconds."""

_PORTION: Final = 6_000
"""Bytes of messages that are worked through without a break: fifteen usual ones, or one or two of the longest."""

_BUSY_SECONDS: Final = 0.001
"""If the event loop comes back so much later than asked, others need it."""
_SPARING: Final = 60
"""While others need the machine, this many times as long as a step takes is left to them..."""
_URGENT: Final = 4
"""...but less once so much has piled up:"""
_URGENT_AFTER: Final = 2_000
"""steps without a rest."""


async def follow(tx: Transaction, dialect: str) -> int:
    """Bring some changes into the index, under `LOCK`; how many there were, at most `STEP`.

    It may be repeated whole after a crash or a conflict, but then nothing of it was done.
    """
    changes = await queries.select_changes(tx, STEP)
    if not changes:
        return 0
    change_ids = [change_id for change_id, _ in changes]
    rows = {row.id: row for row in await queries.select_changed(tx, change_ids)}
    gone = {message_id for _, message_id in changes if message_id not in rows}
    for some in _in_portions(rows.values()):
        await queries.put_documents(tx, dialect, [document_of(row) for row in some])
        await asyncio.sleep(0)
    if gone:
        await queries.delete_documents(tx, list(gone))
    await queries.delete_changes(tx, change_ids)
    return len(changes)


def _in_portions(rows: Iterable[Stored]) -> Iterator[list[Stored]]:
    """Messages in parts of some milliseconds' work, between which the event loop turns to others."""
    portion, size = list[Stored](), 0
    for row in rows:
        portion.append(row)
        size += len(row.body)
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


class Indexer(BackgroundTask):
    """Follows the messages of all processes: those take turns by a lock, and each looks every `seconds`."""

    def __init__(self, services: Services, *, seconds: float = 0.25) -> None:
        super().__init__()
        self._database = services.database
        self._seconds = seconds
        self._behind = 0

    @classmethod
    def of(cls, ctx: Context) -> "Indexer | None":
        """The one of this process."""
        found: Indexer | None = ctx.services.extra.get(cls)
        return found

    async def drain(self) -> None:
        """Follow all that has changed by now. Raises StorageError."""
        while await self.step():
            pass

    async def step(self) -> int:
        """Follow some changes; how many. Raises StorageError, and then nothing was done."""
        async with self._database.read() as reader:
            if not await queries.has_changes(reader):
                return 0
        async with self._database.transaction(LOCK) as tx:
            return await follow(tx, self._database.dialect)

    async def _run(self) -> None:
        while not self._stopping:
            started = time.perf_counter()
            try:
                followed = await self.step()
            except StorageError as problem:
                log.warning("the index of messages waits: %s", problem)
                followed = 0
            except Exception:
                # Nothing that a message holds may end the index for all the others.
                log.exception("the index of messages is stuck")
                followed, self._behind = 0, 0
                await asyncio.sleep(60 * self._seconds)
            took = time.perf_counter() - started
            self._behind = self._behind + 1 if followed == STEP else 0
            await asyncio.sleep(await self._rest(took) if self._behind else self._seconds)

    async def _rest(self, took: float) -> float:
        """How long to leave the machine to others after a step, when there is more to do."""
        asked = time.perf_counter()
        await asyncio.sleep(_BUSY_SECONDS)
        if time.perf_counter() - asked < 2 * _BUSY_SECONDS:
            return took
        return took * (_SPARING if self._behind < _URGENT_AFTER else _URGENT)
