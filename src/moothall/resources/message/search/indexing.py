"""Updating the message index after changes, in short steps that leave time to requests."""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from typing import Final

from moothall.api.context import Services
from moothall.objects.clock import stopwatch
from moothall.objects.ids import Snowflake
from moothall.resources.message.search import queries, terms
from moothall.resources.message.search.documents import IndexedMessage, document_of
from moothall.runtime.background import BackgroundTask
from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.storage.bulk import map_items
from moothall.storage.database import StorageError, Transaction

log = logging.getLogger("moothall.search")

LOCK: Final = Snowflake(4)
"""The lock of writing the index, so that no older state of a message overwrites a newer. No guild has this id."""

STEP: Final = 50
"""Changes that are indexed in one transaction, which takes a few milliseconds."""

_PORTION: Final = 6_000
"""Bytes of messages that are written together: fifteen usual messages, or one or two of the longest."""

_BUSY_SECONDS: Final = 0.001
"""A delay of the event loop by this much means that it is busy."""
_SPARING: Final = 60
"""The pause after a step while the event loop is busy, in durations of the step."""
_URGENT: Final = 4
"""The same once the index is far behind."""
_URGENT_AFTER: Final = 2_000
"""Full steps in a row after which the index is far behind."""


async def follow(tx: Transaction, dialect: str) -> int:
    """Index some changes, under `LOCK`; their number, at most `STEP`.

    It may be repeated whole after a crash or a conflict, but then nothing of it was done.
    """
    changes = await queries.select_changes(tx, STEP)
    if not changes:
        return 0
    change_ids = [change_id for change_id, _ in changes]
    rows = {row.id: row for row in await queries.select_changed(tx, change_ids)}
    deleted = {message_id for _, message_id in changes if message_id not in rows}
    for some in _in_portions(rows.values()):
        documents = await map_items(tx, document_of, [row for row in some if row.searchable])
        await queries.upsert_documents(tx, dialect, documents)
    if deleted:
        await queries.delete_documents(tx, list(deleted))
    await queries.delete_changes(tx, change_ids)
    return len(changes)


def _in_portions(rows: Iterable[IndexedMessage]) -> Iterator[list[IndexedMessage]]:
    """Messages in portions of a few milliseconds of work."""
    portion, size = list[IndexedMessage](), 0
    for row in rows:
        portion.append(row)
        size += len(row.body)
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


class Indexer(BackgroundTask):
    """Indexes the changes of all processes, which take turns by a lock. Each looks for changes every `seconds`."""

    def __init__(self, services: Services, *, seconds: float = 0.25) -> None:
        super().__init__()
        self._database = services.database
        self._seconds = seconds
        self._behind = 0
        self._last_problem = ""
        """What the log has said that the index waits for: it is said once."""

    async def drain(self) -> None:
        """Index all changes until now. Raises StorageError."""
        while await self.step():
            pass

    async def step(self) -> int:
        """Index some changes; their number. Raises StorageError, and then changes nothing."""
        async with self._database.read() as reader:
            if not await queries.has_changes(reader):
                return 0
        async with self._database.transaction(LOCK) as tx:
            return await follow(tx, self._database.dialect)

    async def _run(self) -> None:
        await in_lifecycle_thread(terms.prepare)
        while not self._stopping:
            started = stopwatch()
            try:
                followed = await self.step()
                self._last_problem = ""
            except StorageError as problem:
                if self._last_problem != type(problem).__name__:
                    log.warning("the index of messages waits: %s", problem)
                self._last_problem = type(problem).__name__
                followed = 0
            except Exception:
                # One message must not stop the index for all others.
                log.exception("the index of messages is stuck")
                followed, self._behind = 0, 0
                await asyncio.sleep(60 * self._seconds)
            took = stopwatch() - started
            self._behind = self._behind + 1 if followed == STEP else 0
            await asyncio.sleep(await self._rest(took) if self._behind else self._seconds)

    async def _rest(self, took: float) -> float:
        """The pause after a step when there is more to do, in seconds."""
        before = stopwatch()
        await asyncio.sleep(_BUSY_SECONDS)
        if stopwatch() - before < 2 * _BUSY_SECONDS:
            return took
        return took * (_SPARING if self._behind < _URGENT_AFTER else _URGENT)
