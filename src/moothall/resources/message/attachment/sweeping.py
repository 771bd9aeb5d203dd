"""Removing files from the store: those that messages have lost, and those that no message ever got.

A message's files go in the transaction that deletes it into a list, which is worked off here: nothing is
removed before the deletion is durable. What a process has uploaded that died before its transaction is
found by looking through the days since the last look, and comparing with what messages have.
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
"""An upload and its transaction never take that long."""
_LOOK_EVERY_MS: Final = 3600 * 1000
_DAYS_AT_FIRST: Final = 2


class FileSweeper(BackgroundTask):
    """Removes files that nobody has, every `seconds`."""

    def __init__(self, services: Services, *, seconds: float = 15.0) -> None:
        super().__init__()
        self._services = services
        self._seconds = seconds
        self._looked_at = 0

    async def sweep(self) -> int:
        """Remove all that messages have lost; how many files there were."""
        count = 0
        while found := await self._sweep_some():
            count += found
        return count

    async def look_for_abandoned(self, *, now: int | None = None) -> int:
        """Remove what was uploaded long enough before `now`, since the last look, and no message has; how many."""
        services = self._services
        until = snowflake_at((Timestamp.now() if now is None else now) - _ABANDONED_AFTER_MS)
        async with services.database.read() as reader:
            since = await queries.select_swept(reader)
        first = since or snowflake_at(until.created_ms - _DAYS_AT_FIRST * _DAY_MS)
        count, day = 0, Snowflake(first)
        while True:
            count += await self._look_through(day_prefix(day), first, until)
            if day_prefix(day) == day_prefix(until) or day >= until:
                break
            day = snowflake_at(day.created_ms + _DAY_MS)
        async with services.database.transaction() as tx:
            await queries.keep_swept(tx, int(until))
        if count:
            log.info("removed %d files that no message has", count)
        return count

    async def _run(self) -> None:
        while not self._stopping:
            await asyncio.sleep(self._seconds)
            try:
                await self.sweep()
                now = Timestamp.now()
                if now - self._looked_at >= _LOOK_EVERY_MS:
                    self._looked_at = now
                    await self.look_for_abandoned()
            except StorageError as problem:
                log.warning("files cannot be swept: %s", problem)
            except Exception:
                log.exception("files cannot be swept")

    async def _sweep_some(self) -> int:
        services = self._services
        async with services.database.read() as reader:
            dropped = await queries.select_dropped(reader, _MAX_AT_ONCE)
            had = await queries.select_had(reader, [row[1] for row in dropped]) if dropped else set()
        if not dropped:
            return 0
        await services.blobs.delete_all({upload_key(Snowflake(row[1])) for row in dropped if row[1] not in had})
        async with services.database.transaction() as tx:
            await queries.forget_dropped(tx, dropped)
        return len(dropped)

    async def _look_through(self, prefix: str, first: int, until: int) -> int:
        count, batch = 0, list[int]()
        async for key in self._services.blobs.keys(prefix):
            name = key.rpartition("/")[2]
            if name.isdigit() and first <= int(name) < until:
                batch.append(int(name))
            if len(batch) == _MAX_AT_ONCE:
                count += await self._remove_unnamed(batch)
                batch = []
        return count + (await self._remove_unnamed(batch) if batch else 0)

    async def _remove_unnamed(self, ids: list[int]) -> int:
        async with self._services.database.read() as reader:
            had = await queries.select_had(reader, ids)
        gone = [upload_key(Snowflake(file_id)) for file_id in ids if file_id not in had]
        await self._services.blobs.delete_all(gone)
        return len(gone)
