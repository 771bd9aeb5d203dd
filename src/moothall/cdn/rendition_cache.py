"""Renditions of attachments: each is made once and cached on the disk.

Three bounds limit the work: the number of threads, the number of waiting requests, and the CPU time that one address
may cause.
"""

import asyncio
import logging
from functools import partial
from typing import Final

from moothall.api.address_limits import AddressLimits
from moothall.api.staged import upload_key
from moothall.cdn.renditions import Rendition, make_rendition_or
from moothall.objects.ids import Snowflake
from moothall.resources.message.attachment.queries import select_used
from moothall.runtime.background import BackgroundTask
from moothall.runtime.budgets import Payer
from moothall.runtime.single_flight import SingleFlight
from moothall.runtime.work_pool import Slot, WorkPool
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, StorageError
from moothall.storage.disk_cache import DiskCache

log = logging.getLogger("moothall.files")

_THREADS: Final = 2
_WAITING_MAX: Final = 256
_WAITING_EACH: Final = 64
_BATCH_SIZE: Final = 500

_UNAVAILABLE: Final = b""
"""Cached for a rendition that cannot be made, because a failed attempt may take as long as a successful one."""


class RenditionCache:
    """Makes and caches renditions of attachments."""

    def __init__(self, blobs: Blobs, cache: DiskCache, limits: AddressLimits) -> None:
        self._blobs = blobs
        self._cache = cache
        self._pool = WorkPool(
            "renditions", limits.scaling, threads=_THREADS, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH
        )
        self._making = SingleFlight[tuple[int, str], bytes | None]()

    async def get(self, file_id: Snowflake, rendition: Rendition, client: Payer) -> bytes | None:
        """Return a rendition of an image; None if it cannot be made or the file does not exist.

        Raises Refusal: 429 if the client has caused too much work; Overloaded if too many requests wait.
        """
        key = int(file_id), rendition.name
        return await self._making.get(key, partial(self._get, file_id, rendition, client))

    def close(self) -> None:
        """Start no more work."""
        self._pool.close()
        self._cache.close()

    async def _get(self, file_id: Snowflake, rendition: Rendition, client: Payer) -> bytes | None:
        data = await self._cache.get(int(file_id), rendition.name)
        if data is None:
            async with self._pool.slot(client) as slot:
                data = await self._make(file_id, rendition, slot)
        return data or None

    async def _make(self, file_id: Snowflake, rendition: Rendition, slot: Slot) -> bytes:
        source = await self._blobs.get(upload_key(file_id))
        if source is None:
            return _UNAVAILABLE
        data = await slot.run(partial(make_rendition_or, _UNAVAILABLE, source, rendition))
        await self._cache.put(int(file_id), rendition.name, data)
        return data


class RenditionSweeper(BackgroundTask):
    """Removes renditions of deleted attachments: every `seconds`, it checks the next few hundred files."""

    def __init__(self, database: Database, cache: DiskCache, *, seconds: float = 15.0) -> None:
        super().__init__()
        self._database = database
        self._cache = cache
        self._seconds = seconds
        self._remaining: list[int] = []

    async def sweep(self) -> int:
        """Check the next batch of files, starting over after the last; return how many were removed."""
        if not self._remaining:
            self._remaining = list(self._cache.groups())
        ids, self._remaining = self._remaining[:_BATCH_SIZE], self._remaining[_BATCH_SIZE:]
        if not ids:
            return 0
        async with self._database.read() as reader:
            removed = set(ids) - await select_used(reader, ids)
        await self._cache.remove(removed)
        return len(removed)

    async def _run(self) -> None:
        loaded = False
        while not self._stopping:
            try:
                if not loaded:
                    await self._cache.load()
                    loaded = True
                await asyncio.sleep(self._seconds)
                await self.sweep()
            except StorageError as problem:
                log.warning("scaled pictures cannot be swept: %s", problem)
            except Exception:
                log.exception("scaled pictures cannot be swept")
                await asyncio.sleep(self._seconds)
