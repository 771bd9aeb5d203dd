"""Blobs: bytes under a key, in a folder, in memory, or in an object store.

obstore gives one API over all of them. A blob is stored before the transaction that names it, and
keys are made from content or fresh ids, so storing the same one twice is harmless.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import NotFoundError
from obstore.store import LocalStore, MemoryStore, from_url


class Blobs:
    """One store of blobs."""

    def __init__(self, store: Any) -> None:
        self._store = store

    @classmethod
    def open(cls, location: str) -> "Blobs":
        """A store at a folder's path, at `memory:`, or at an object store's URL (`s3://bucket/prefix`...).

        Object stores take their credentials from their usual environment variables.
        """
        if location == "memory:":
            return cls(MemoryStore())
        if "://" in location:
            return cls(from_url(location))
        Path(location).mkdir(parents=True, exist_ok=True)
        return cls(LocalStore(location, automatic_cleanup=True))

    async def put(self, key: str, data: bytes) -> None:
        """Store bytes, replacing what the key held."""
        await obstore.put_async(self._store, key, data)

    async def get(self, key: str) -> bytes | None:
        """All bytes of a blob; None if there is none."""
        try:
            found = await obstore.get_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return None
        return bytes(await found.bytes_async())

    async def exists(self, key: str) -> bool:
        """Whether a key holds a blob."""
        try:
            await obstore.head_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return False
        return True

    async def delete(self, key: str) -> None:
        """Remove a blob; nothing happens if there is none."""
        try:
            await obstore.delete_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        """Every key below a prefix."""
        stream = obstore.list(self._store, prefix=prefix)
        async for batch in stream:
            for item in batch:
                yield item["path"]
