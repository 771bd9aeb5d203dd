"""Blobs: bytes under a key, in a folder, in memory, or in an object store.

obstore gives one API over all of them. A blob is stored before the transaction that names it, and
keys are made from content or fresh ids, so storing the same one twice is harmless.
"""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname
from uuid import uuid4

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, MemoryStore, from_url

from moothall.runtime.budgets import SERVER, Payer, WorkRefused
from moothall.runtime.lifecycle import in_lifecycle_thread
from moothall.storage.database import StorageFull, StorageUnavailable
from moothall.storage.local_files import DurableFiles, remove_older

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

_BUFFER: Final = 256 * 1024
"""Bytes of a file in memory while it is written."""
_READ_AT_ONCE: Final = 256 * 1024
_PARTS_AT_ONCE: Final = 2
_SENDING_AT_ONCE: Final = 4
"""Concurrent uploads to an object store, which takes parts of 5 MiB from memory."""
_ABANDONED_SECONDS: Final = 3_600
"""A file that was not written to for so long is one that a killed process left unfinished."""

# An object store that is silent is given up after half a minute; one that answers slowly is not.
_DEADLINES: Final = {"connect_timeout": "5s", "read_timeout": "15s", "timeout": "120s"}
_CLIENT_OPTIONS: Final = (
    *_DEADLINES,
    "allow_http",
    "allow_invalid_certificates",
    "http1_only",
    "http2_only",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "proxy_url",
    "user_agent",
)
"""What the environment may say of connections, such as AWS_ALLOW_HTTP: options of our own replace all of it."""
_RETRIES: Final["RetryConfig"] = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}


class Blobs:
    """A store of blobs.

    A blob that is streamed to an object store is first written to the folder `spool`, so that slow and disconnecting
    clients cause no unfinished uploads.
    """

    def __init__(
        self, store: Any, spool: Path | None = None, *, files: DurableFiles | None = None, where: str = "memory:"
    ) -> None:
        self._store = store
        self.where = where
        """The folder, or the URL without what stands before an `@`."""
        self._files = files
        """Writes the blobs of a local folder, which the store itself does not sync."""
        self._spool = spool
        self._spool_store = None if spool is None else LocalStore(str(spool), mkdir=True)
        self._sending = asyncio.Semaphore(_SENDING_AT_ONCE)

    @classmethod
    def open(cls, location: str, *, spool: Path | None = None) -> "Blobs":
        """Open the store at a folder's path, at `memory:`, or at an object store's URL (`s3://bucket/prefix`...).

        Object stores take their credentials from their usual environment variables.
        """
        if location == "memory:":
            return cls(MemoryStore())
        if "://" in location and not location.startswith("file:"):
            store = from_url(location, client_options=_client_options(), retry_config=_RETRIES)
            return cls(store, spool, where=re.sub(r"(?<=://)[^/@]*@", "", location))
        folder = Path(url2pathname(urlsplit(location).path) if location.startswith("file:") else location)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(LocalStore(str(folder)), files=DurableFiles(folder), where=str(folder))

    async def free_bytes(self) -> int | None:
        """The space that is left on the disk of a folder; None for other stores. Raises OSError."""
        if self._files is None:
            return None
        return await in_lifecycle_thread(lambda: shutil.disk_usage(self.where).free)

    async def put(self, key: str, data: bytes, payer: Payer = SERVER) -> None:
        """Store bytes, replacing a blob with the same key; they are durable once this returns.

        On a disk, payers take turns. Raises StorageError, and Overloaded if too much waits already.
        """
        with _as_storage_errors():
            if self._files is not None:
                await self._files.write(key, data, payer)
            else:
                await obstore.put_async(self._store, key, data)

    def writing(self, key: str, payer: Payer = SERVER) -> "BlobWriter":
        """Store a blob piece by piece: `async with blobs.writing(key) as writer: await writer.write(data)`.

        It is there, and durable, once the block ends; if that raises, there is nothing. Payers take turns as for `put`.
        """
        return BlobWriter(self, key, payer)

    async def get(self, key: str) -> bytes | None:
        """All bytes of a blob; None if there is none."""
        try:
            result = await obstore.get_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return None
        return bytes(await result.bytes_async())

    async def stream(self, key: str, start: int, end: int) -> AsyncGenerator[bytes]:
        """Bytes `start` to `end` (not included) of a blob, a bounded portion at a time.

        Raises FileNotFoundError, before the first portion, if there is none.
        """
        try:
            if isinstance(self._store, LocalStore):
                # Six times as fast as the store's stream, which reads 8 KiB at once.
                coming = self._range(key, start, end)
                for begin in range(start, end, _READ_AT_ONCE):
                    portion = bytes(await coming)
                    if begin + _READ_AT_ONCE < end:
                        # Read while the previous portion is sent.
                        coming = self._range(key, begin + _READ_AT_ONCE, end)
                    yield portion
                return
            result = await obstore.get_async(self._store, key, options={"range": (start, end)})
        except NotFoundError as problem:
            raise FileNotFoundError(key) from problem
        async for portion in result.stream(min_chunk_size=_READ_AT_ONCE):
            # A store in memory returns the whole blob.
            data = bytes(portion)
            for begin in range(0, len(data), _READ_AT_ONCE):
                yield data[begin : begin + _READ_AT_ONCE]

    def _range(self, key: str, start: int, end: int) -> asyncio.Future[Any]:
        till = min(start + _READ_AT_ONCE, end)
        return asyncio.ensure_future(obstore.get_range_async(self._store, key, start=start, end=till))

    def reader(self, key: str, *, maximum: int) -> "BlobFile":
        """Open a blob as a blocking file, of which at most `maximum` bytes can be read."""
        return BlobFile(obstore.open_reader(self._store, key, buffer_size=64 * 1024), maximum)

    async def exists(self, key: str) -> bool:
        """Whether a key holds a blob."""
        try:
            await obstore.head_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return False
        return True

    async def modified_at(self, key: str) -> int:
        """When a blob was last stored, in milliseconds since the Unix epoch; 0 if there is none."""
        try:
            head = await obstore.head_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return 0
        return int(head["last_modified"].timestamp() * 1000)

    async def delete(self, key: str) -> None:
        """Delete a blob; does nothing if there is none."""
        try:
            await obstore.delete_async(self._store, key)
        except (NotFoundError, FileNotFoundError):
            return

    async def delete_all(self, keys: Iterable[str]) -> None:
        """Delete several blobs, ignoring missing ones. Raises StorageError."""
        with _as_storage_errors():
            if isinstance(self._store, LocalStore | MemoryStore):
                for key in keys:
                    await self.delete(key)
            elif listed := list(keys):
                # One request for as many as the store allows; missing ones are no error.
                await obstore.delete_async(self._store, listed)

    async def remove_abandoned(self) -> int:
        """Remove what killed processes have left unfinished long ago; the number of files."""
        folder = self._spool if self._files is None else self._files.unfinished
        if folder is None:
            return 0
        return await in_lifecycle_thread(partial(remove_older, folder, _ABANDONED_SECONDS))

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        """List the keys below a prefix."""
        stream = obstore.list(self._store, prefix=prefix)
        async for batch in stream:
            for item in batch:
                yield item["path"]

    async def _send(self, name: str, key: str) -> None:
        """Upload a spooled file to the object store."""
        if self._spool is None:
            raise RuntimeError("nothing is spooled for this store")
        async with self._sending:
            with _as_storage_errors():
                await obstore.put_async(self._store, key, self._spool / name, max_concurrency=_PARTS_AT_ONCE)


class BlobWriter:
    """A blob that is being written."""

    __slots__ = ("_blobs", "_buffered", "_file", "_key", "_size", "_spooled", "_unfinished")

    def __init__(self, blobs: Blobs, key: str, payer: Payer) -> None:
        self._blobs = blobs
        self._key = key
        self._buffered: list[bytes] = []
        self._size = 0
        self._spooled = None if blobs._spool_store is None else uuid4().hex  # noqa: SLF001 same module
        self._unfinished = None if blobs._files is None else blobs._files.begin(key, payer)  # noqa: SLF001
        self._file: Any = None
        if self._unfinished is None:
            store = blobs._spool_store or blobs._store  # noqa: SLF001
            self._file = obstore.open_writer_async(
                store, self._spooled or key, buffer_size=_BUFFER, max_concurrency=_PARTS_AT_ONCE
            )

    async def __aenter__(self) -> Self:
        return self

    async def write(self, data: bytes) -> None:
        """Append bytes."""
        files, unfinished = self._blobs._files, self._unfinished  # noqa: SLF001 same module
        with _as_storage_errors():
            if files is None or unfinished is None:
                await self._file.write(data)
                return
            self._buffered.append(data)
            self._size += len(data)
            if self._size >= _BUFFER:
                await files.append(unfinished, self._take_buffered())

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        files, unfinished = self._blobs._files, self._unfinished  # noqa: SLF001 same module
        if files is not None and unfinished is not None:
            if kind is not None:
                await files.abandon(unfinished)
                return
            try:
                with _as_storage_errors():
                    await files.finish(unfinished, self._take_buffered())
            except WorkRefused:
                await files.abandon(unfinished)
                raise
            return
        if kind is not None:
            # Dropping the writer deletes the unfinished file.
            self._file = None
            return
        await self._close()

    def _take_buffered(self) -> bytes:
        data = b"".join(self._buffered)
        self._buffered, self._size = [], 0
        return data

    async def _close(self) -> None:
        """Finish the blob of a store."""
        try:
            with _as_storage_errors():
                await self._file.close()
        finally:
            self._file = None
        spooled, blobs = self._spooled, self._blobs
        if spooled is not None:
            try:
                await blobs._send(spooled, self._key)  # noqa: SLF001
            finally:
                with suppress(NotFoundError, FileNotFoundError):
                    await obstore.delete_async(blobs._spool_store, spooled)  # type: ignore[arg-type]  # noqa: SLF001


class BlobFile:
    """A blob as a readable, seekable file. Reading more than the maximum raises ValueError."""

    __slots__ = ("_file", "_left")

    def __init__(self, file: Any, maximum: int) -> None:
        self._file = file
        self._left = maximum

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to `size` bytes from the position."""
        data = bytes(self._file.read(None if size is None or size < 0 else size))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("more of the file would have to be read than it is worth")
        return data

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Set the position."""
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Return the position."""
        return int(self._file.tell())


@contextmanager
def _as_storage_errors() -> Iterator[None]:
    """Raise errors of the disk and the store as StorageFull and StorageUnavailable."""
    try:
        yield
    except (BaseError, OSError) as problem:
        full = "no space left" in str(problem).lower()
        raise (StorageFull if full else StorageUnavailable)(_reason(problem)) from problem


def _reason(problem: Exception) -> str:
    """What an error says, without the structures of the library, and with what helps."""
    text = str(problem).partition("\n\nDebug source:")[0].strip()
    if "http://" in text and "builder error" in text:
        text += "; an object store without TLS takes AWS_ALLOW_HTTP=true in the environment"
    return text


def _client_options() -> "ClientConfig":
    """The deadlines of requests, and what the environment says."""
    options: dict[str, str] = dict(_DEADLINES)
    for name in _CLIENT_OPTIONS:
        for prefix in ("AWS", "AZURE", "GOOGLE"):
            if (value := os.environ.get(f"{prefix}_{name}".upper())) is not None:
                options[name] = value
    return cast("ClientConfig", options)
