"""Removing files from the store: those of deleted messages, and uploads that no message ever had.

The transaction that deletes a message adds its files to a list, from which they are removed here: no file is removed
before the deletion is durable. Uploads of a process that died before its transaction are found by comparing the uploads
of the days since the last check with the files of messages.

Images, stickers and sounds are kept under the hash of their content, which any number of rows may name. Once a day all
of them are looked up; one that no row has named for `GRACE_MS` is removed.
"""

import asyncio
import logging
from typing import Final

from moothall.api.context import Services
from moothall.api.staged import day_prefix, upload_key
from moothall.objects.ids import Snowflake, snowflake_at
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment import queries
from moothall.runtime.background import BackgroundTask
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.files")

_MAX_AT_ONCE: Final = 200
_DAY_MS: Final = 86_400_000
_ABANDONED_AFTER_MS: Final = 3600 * 1000
"""An upload and its transaction never take as long, in milliseconds."""
_CHECK_EVERY_MS: Final = 3600 * 1000
_DAYS_AT_FIRST: Final = 2
GRACE_MS: Final = 30 * _DAY_MS
"""How long an image, sticker or sound is kept after the last row that named it, in milliseconds."""


class FileSweeper(BackgroundTask):
    """Removes files that no message has, every `seconds`, and media that no row names, every day.

    What a killed process has left of uploads is removed at the start and every hour.
    """

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

    async def remove_unnamed_media(self, *, now: Timestamp | None = None) -> int:
        """Remove the images, stickers and sounds that no row has named for `GRACE_MS`; their number.

        Does nothing within a day of the last time, also in another process.
        """
        now = Timestamp.now() if now is None else now
        async with self._services.database.transaction() as tx:
            if await queries.select_media_swept_at(tx) + _DAY_MS > now:
                return 0
            await queries.upsert_media_swept_at(tx, now)
        count = 0
        for folder in queries.MEDIA_STORED_IN:
            batch = list[str]()
            async for key in self._services.blobs.keys(folder):
                batch.append(key)
                if len(batch) == _MAX_AT_ONCE:
                    count += await self._check_media(folder, batch, now)
                    batch = []
            count += await self._check_media(folder, batch, now) if batch else 0
        if count:
            log.info("removed %d images, stickers and sounds that no row names", count)
        return count

    async def _check_media(self, folder: str, keys: list[str], now: Timestamp) -> int:
        """Record which blobs no row names, and remove those that none has named for long."""
        services, names = self._services, {key: key.rpartition("/")[2] for key in keys}
        async with services.database.read() as reader:
            named = await queries.select_named_media(reader, folder, set(names.values()))
            since = await queries.select_unnamed_media(reader, keys)
        unnamed = [key for key in keys if names[key] not in named]
        expired = [key for key in unnamed if key in since and since[key] + GRACE_MS <= now]
        # An image that was uploaded once more may be that of a request whose transaction is not over.
        expired = [key for key in expired if await services.blobs.modified_at(key) + _ABANDONED_AFTER_MS < now]
        if expired:
            await services.blobs.delete_all(expired)
        async with services.database.transaction() as tx:
            await queries.insert_unnamed_media(tx, [key for key in unnamed if key not in since], now)
            await queries.delete_unnamed_media(tx, [*expired, *(key for key in since if names[key] in named)])
        return len(expired)

    async def _remove_unfinished(self) -> None:
        try:
            count = await self._services.blobs.remove_abandoned()
        except OSError as problem:
            log.warning("unfinished files cannot be removed: %s", problem)
            return
        if count:
            log.info("removed %d files that a killed process had not finished", count)

    async def _run(self) -> None:
        await self._remove_unfinished()
        while not self._stopping:
            await asyncio.sleep(self._seconds)
            try:
                await self.sweep()
                now = Timestamp.now()
                if now - self._checked_at >= _CHECK_EVERY_MS:
                    self._checked_at = now
                    await self._remove_unfinished()
                    await self.remove_abandoned()
                    await self.remove_unnamed_media()
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
