"""Writing files that are on the disk before anyone is told so: also after a power failure each is there, and whole.

A file is written in the folder `UNFINISHED`, synced, and moved to its place; then that folder is synced, and the first
time those above it, which may be new: no one deletes folders. Files of one folder that are finished at the same time
share the syncing of their folder. What a killed process leaves unfinished is in one folder, for `remove_older`.

Threads take turns between payers, so that the files of one do not make those of others wait.
"""

import asyncio
import os
from contextlib import suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Final
from uuid import uuid4

from moothall.objects.clock import file_time
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.work_pool import WorkPool

UNFINISHED: Final = ".unfinished"
"""The folder, below that of all files, of those that are being written."""
_THREADS: Final = 8
_THREADS_EACH: Final = 2
_WAITING_MAX: Final = 4096
_WAITING_EACH: Final = 512
_FOLDER_THREADS: Final = 2


class DurableFiles:
    """Writes files below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.unfinished = root / UNFINISHED
        self._pool = WorkPool(
            "files", threads=_THREADS, each=_THREADS_EACH, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH
        )
        # What all wait for takes no turn of anyone's.
        self._folders = WorkPool(
            "folders",
            threads=_FOLDER_THREADS,
            each=_FOLDER_THREADS,
            waiting_max=2 * _WAITING_MAX,
            waiting_each=2 * _WAITING_MAX,
        )
        self._durable: set[Path] = set()
        """Folders whose own entries are durable."""
        self._syncing: dict[Path, asyncio.Task[None]] = {}
        """The syncing of folders that runs, by folder."""
        self._next: dict[Path, asyncio.Task[None]] = {}
        """The syncing of folders that has not begun."""

    async def write(self, key: str, data: bytes, payer: Payer) -> None:
        """Store a whole file, replacing one with the same key. Raises OSError, and Overloaded if too many wait."""
        path = self._root / key
        await self._pool.run(payer, partial(_write_new, self._temporary(path), path, data))
        await self._sync_folders(path.parent)

    def begin(self, key: str, payer: Payer) -> "UnfinishedFile":
        """Begin a file that comes in pieces."""
        path = self._root / key
        return UnfinishedFile(self._temporary(path), path, payer)

    def _temporary(self, path: Path) -> Path:
        # Names that end like this are those of unfinished files to the object store too, which does not list them.
        return self.unfinished / f"{path.name}#{uuid4().int}"

    async def append(self, file: "UnfinishedFile", data: bytes) -> None:
        """Write a piece of a file. Raises OSError, Overloaded."""
        await self._pool.run(file.payer, partial(file.append, data))

    async def finish(self, file: "UnfinishedFile", data: bytes) -> None:
        """Write the last piece, and let the file be there. Raises OSError, Overloaded."""
        await self._pool.run(file.payer, partial(file.finish, data))
        await self._sync_folders(file.path.parent)

    async def abandon(self, file: "UnfinishedFile") -> None:
        """Delete a file that is not finished."""
        await self._folders.run(SERVER, file.abandon)

    async def _sync_folders(self, folder: Path) -> None:
        """Sync a folder and those above it, by a call that begins after this one: a running one may be too early."""
        task = self._next.get(folder)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = self._next[folder] = asyncio.create_task(self._sync_next(folder, self._syncing.get(folder)))
        await asyncio.shield(task)

    async def _sync_next(self, folder: Path, running: asyncio.Task[None] | None) -> None:
        if running is not None and running.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({running})
        task = self._syncing[folder] = self._next.pop(folder)
        try:
            await self._folders.run(SERVER, partial(self._sync, folder))
        finally:
            if self._syncing.get(folder) is task:
                del self._syncing[folder]

    def _sync(self, folder: Path) -> None:
        """Sync a folder, and those above it that are not known to be durable. Blocking."""
        _sync_folder(folder)
        synced = folder
        while synced not in self._durable and synced != self._root:
            _sync_folder(synced.parent)
            self._durable.add(synced)
            synced = synced.parent


class UnfinishedFile:
    """A file that is being written at a temporary path. The methods block."""

    __slots__ = ("_file", "_temporary", "path", "payer")

    def __init__(self, temporary: Path, path: Path, payer: Payer) -> None:
        self.path = path
        self.payer = payer
        self._temporary = temporary
        self._file: FileIO | None = None

    def append(self, data: bytes) -> None:
        """Write a piece."""
        if self._file is None:
            self._file = _open_new(self._temporary)
        _write_all(self._file, data)

    def finish(self, data: bytes) -> None:
        """Write the last piece, sync the file and give it its name; delete it if that fails."""
        try:
            self.append(data)
            file, self._file = self._file, None
            if file is not None:
                _close_synced(file)
            _move(self._temporary, self.path)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Delete what was written."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()
        self._temporary.unlink(missing_ok=True)


def remove_older(folder: Path, seconds: float) -> int:
    """Delete the files of a folder, which may be missing, that no one has written to for so long; their number."""
    count, oldest = 0, file_time() - seconds
    for path in folder.glob("*"):
        with suppress(OSError):  # another process may be faster
            if path.stat().st_mtime < oldest:
                path.unlink()
                count += 1
    return count


def _write_new(temporary: Path, path: Path, data: bytes) -> None:
    try:
        file = _open_new(temporary)
        try:
            _write_all(file, data)
        except BaseException:
            file.close()
            raise
        _close_synced(file)
        _move(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _move(temporary: Path, path: Path) -> None:
    """Give a file its name, and create the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.replace(path)


def _open_new(path: Path) -> FileIO:
    """Create a file and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileIO(path, "xb")


def _write_all(file: FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _close_synced(file: FileIO) -> None:
    try:
        os.fsync(file.fileno())
    finally:
        file.close()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
