"""Removing files from the store: those of deleted messages, and uploads that no message ever had.

The transaction that deletes a message adds its files to a list, from which they are removed here: no file is removed
before the deletion is durable. Uploads of a process that died before its transaction are found by comparing the uploads
of the days since the last check with the files of messages.
"""

import asyncio
import logging
from typing import Final

from moothall.kernel.background import BackgroundTask
from moothall.kernel.context import Services
from moothall.kernel.staged import day_prefix, upload_key
from moothall.objects.ids import Snowflake, snowflake_at
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment import queries
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.files")

_MAX_AT_ONCE: Final = 200
_DAY_MS: Final = 86_400_000
_ABANDONED_AFTER_MS: Final = 3600 * 1000
"""An upload and its transaction never take as long, in milliseconds."""
_CHECK_EVERY_MS: Final = 3600 * 1000
_DAYS_AT_FIRST: Final = 2


class FileSweeper(BackgroundTask):
    """Removes files that no message has, every `seconds`."""

    def __init__(self, services: Services, *, seconds: float = 15.0) -> None:
        super().__init__()
        self._services = services
        self._seconds = seconds
        self._checked_at = 0

    async def sweep(self) -> int:
        """Remove all dropped files; their number."""
        count = 0
        while removed := await self._sweep_some():
            count += removed
        return count

    async def remove_abandoned(self, *, now: int | None = None) -> int:
        """Remove uploads since the last check and well before `now` that no message has; their number."""
        services = self._services
        until = snowflake_at((Timestamp.now() if now is None else now) - _ABANDONED_AFTER_MS)
        async with services.database.read() as reader:
            since = await queries.select_swept(reader)
        first = since or snowflake_at(until.created_ms - _DAYS_AT_FIRST * _DAY_MS)
        count, day = 0, Snowflake(first)
        while True:
            count += await self._check_day(day_prefix(day), first, until)
            if day_prefix(day) == day_prefix(until) or day >= until:
                break
            day = snowflake_at(day.created_ms + _DAY_MS)
        async with services.database.transaction() as tx:
            await queries.upsert_swept(tx, int(until))
        if count:
            log.info("removed %d files that no message has", count)
        return count

    async def _run(self) -> None:
        while not self._stopping:
            await asyncio.sleep(self._seconds)
            try:
                await self.sweep()
                now = Timestamp.now()
                if now - self._checked_at >= _CHECK_EVERY_MS:
                    self._checked_at = now
                    await self.remove_abandoned()
            except StorageError as problem:
                log.warning("files cannot be swept: %s", problem)
            except Exception:
                log.exception("files cannot be swept")

    async def _sweep_some(self) -> int:
        services = self._services
        async with services.database.read() as reader:
            dropped = await queries.select_dropped(reader, _MAX_AT_ONCE)
            used = await queries.select_used(reader, [row[1] for row in dropped]) if dropped else set()
        if not dropped:
            return 0
        await services.blobs.delete_all({upload_key(Snowflake(row[1])) for row in dropped if row[1] not in used})
        async with services.database.transaction() as tx:
            await queries.delete_dropped(tx, dropped)
        return len(dropped)

    async def _check_day(self, prefix: str, first: int, until: int) -> int:
        count, batch = 0, list[int]()
        async for key in self._services.blobs.keys(prefix):
            name = key.rpartition("/")[2]
            if name.isdigit() and first <= int(name) < until:
                batch.append(int(name))
            if len(batch) == _MAX_AT_ONCE:
                count += await self._remove_unused(batch)
                batch = []
        return count + (await self._remove_unused(batch) if batch else 0)

    async def _remove_unused(self, ids: list[int]) -> int:
        async with self._services.database.read() as reader:
            used = await queries.select_used(reader, ids)
        unused = [upload_key(Snowflake(file_id)) for file_id in ids if file_id not in used]
        await self._services.blobs.delete_all(unused)
        return len(unused)
