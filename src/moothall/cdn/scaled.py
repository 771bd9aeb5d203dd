"""The forms of uploaded pictures: each is made once, for one request at a time of an address, and kept on the disk.

Work is bounded three times over: by the slots of its own that it has, by how many may wait for them, and by the
computing time that one address may cause.
"""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from moothall.cdn.scaling import Rendition, scale
from moothall.kernel.address_limits import AddressLimits, Client
from moothall.kernel.background import BackgroundTask
from moothall.kernel.fair_slots import FairSlots
from moothall.kernel.staged import upload_key
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.resources.message.attachment.queries import select_used
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, StorageError
from moothall.storage.disk_cache import DiskCache

log = logging.getLogger("moothall.files")

_SLOTS: Final = 2
_WAITING_MAX: Final = 256
_WAITING_EACH: Final = 64
_SWEPT_AT_ONCE: Final = 500

_CANNOT_BE_MADE: Final = b""
"""Kept in the place of a form that cannot be made: finding that out may take as long as making one."""


class ScaledPictures:
    """Makes and keeps forms of uploaded pictures."""

    def __init__(self, blobs: Blobs, cache: DiskCache, limits: AddressLimits) -> None:
        self._blobs = blobs
        self._cache = cache
        self._limits = limits
        self._slots = FairSlots(_SLOTS, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH)
        self._threads = ThreadPoolExecutor(_SLOTS, thread_name_prefix="scaling")
        self._under_way: dict[tuple[int, str], asyncio.Task[bytes | None]] = {}

    async def get(self, file_id: Snowflake, rendition: Rendition, client: Client) -> bytes | None:
        """A form of a picture for a client; None if it cannot be made, or there is no such file.

        Raises Refusal: 429 if the client has caused too much work, 503 if too much is waiting.
        """
        key = int(file_id), rendition.name
        while True:
            task = self._under_way.get(key)
            if task is None:
                break
            try:
                return await asyncio.shield(task)
            except Refusal:
                # It was refused to another client, for what that has caused.
                continue
        task = self._under_way[key] = asyncio.create_task(self._get(file_id, rendition, client))
        task.add_done_callback(lambda done: self._end(key, done))
        return await asyncio.shield(task)

    def close(self) -> None:
        """Begin no more work."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _end(self, key: tuple[int, str], task: "asyncio.Task[bytes | None]") -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # those who waited for it may have left

    async def _get(self, file_id: Snowflake, rendition: Rendition, client: Client) -> bytes | None:
        data = await self._cache.get(int(file_id), rendition.name)
        if data is None:
            async with self._slots.turn(client.network):
                self._limits.check_scaling(client)
                data = await self._make(file_id, rendition, client)
        return data or None

    async def _make(self, file_id: Snowflake, rendition: Rendition, client: Client) -> bytes:
        source = await self._blobs.get(upload_key(file_id))
        if source is None:
            return _CANNOT_BE_MADE
        loop = asyncio.get_running_loop()
        data, seconds = await loop.run_in_executor(self._threads, _scale, source, rendition)
        self._limits.charge_scaling(client, seconds)
        await self._cache.put(int(file_id), rendition.name, data)
        return data


def _scale(source: bytes, rendition: Rendition) -> tuple[bytes, float]:
    """A form of a picture, and the seconds of computing that it took."""
    started = time.thread_time()
    try:
        data = scale(source, rendition)
    except ValueError:
        data = _CANNOT_BE_MADE
    return data, time.thread_time() - started


class ScaledSweeper(BackgroundTask):
    """Removes the forms of files that no message has any more: every `seconds`, of the next few hundred files."""

    def __init__(self, database: Database, cache: DiskCache, *, seconds: float = 15.0) -> None:
        super().__init__()
        self._database = database
        self._cache = cache
        self._seconds = seconds
        self._left: list[int] = []

    async def sweep(self) -> int:
        """Look at the next few hundred files, beginning anew after the last; how many were removed."""
        if not self._left:
            self._left = list(self._cache.groups())
        ids, self._left = self._left[:_SWEPT_AT_ONCE], self._left[_SWEPT_AT_ONCE:]
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
