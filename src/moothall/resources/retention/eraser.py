"""Erases from the disk what was deleted: the words in the search index, and the pages in the database's log."""

import asyncio
import logging
from typing import Final

from moothall.api.context import Services
from moothall.objects.wire import Timestamp
from moothall.resources.message.search.indexing import LOCK, follow
from moothall.resources.message.search.queries import merge_index
from moothall.resources.retention import queries
from moothall.runtime.background import PeriodicTask
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.retention")

_DAY_MS: Final = 86_400_000


class Eraser(PeriodicTask):
    """Erases what was deleted: once a day, and soon after a rule of retention has deleted something.

    SQLite overwrites the rows themselves as it deletes them (`secure_delete`). What is left are the words of deleted
    messages in segments of the index, which merging drops, and older pages in the log, which is emptied into the file.
    PostgreSQL reuses the place of deleted rows by itself.
    """

    def __init__(self, services: Services, *, seconds: float = 60.0, pause: float = 0.05) -> None:
        super().__init__(seconds=seconds)
        self._services = services
        self._pause = pause

    async def erase(self) -> None:
        """Erase everything that is deleted now."""
        database = self._services.database
        while True:
            async with database.transaction(LOCK) as tx:
                if not await follow(tx, database.dialect):
                    break
            await asyncio.sleep(self._pause)
        begins = True
        while True:
            async with database.transaction(LOCK) as tx:
                if not await merge_index(tx, database.dialect, begins=begins):
                    break
            begins = False
            await asyncio.sleep(self._pause)
        async with database.transaction() as tx:
            await queries.upsert_erased_at(tx, int(Timestamp.now()))
        if not await database.empty_log():
            log.info("the database's log is emptied later: something reads it")

    async def _round(self) -> bool:
        try:
            async with self._services.database.read() as reader:
                erased_at = await queries.select_erased_at(reader)
            if erased_at + _DAY_MS <= Timestamp.now():
                await self.erase()
        except StorageError as problem:
            log.warning("deleted messages cannot be erased: %s", problem)
        return False
