"""A least-recently-used cache of files in a folder of bounded size.

The folder may be emptied at any time. Processes may share it: each reads the files of the others, and bounds the size
of the files that it knows.
"""

import logging
import os
import re
from collections import OrderedDict
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

from moothall.objects.clock import file_time
from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.work_pool import WorkPool

log = logging.getLogger("moothall.files")

_NAME: Final = re.compile(r"(?P<group>[0-9]{1,20})-[a-z0-9-]{1,100}")
_BLOCK: Final = 4096
"""Bytes that the smallest file takes on the disk."""
_THREADS: Final = 2
_WAITING_EACH: Final = 4096
_REMOVER: Final = Payer(None, "removal")
"""Who removes files, beside those who read and write: each of these removes at most once what it displaces."""
_UNFINISHED: Final = ".part"
_ABANDONED_SECONDS: Final = 3600
"""Age after which an unfinished file is abandoned."""


class DiskCache:
    """Byte strings by group (a number, such as the source's id) and name (lower-case letters, digits and `-`).

    Every method raises Overloaded if too many calls wait for the disk.
    """

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._pool = WorkPool(
            "disk-cache", threads=_THREADS, each=_THREADS, waiting_max=2 * _WAITING_EACH, waiting_each=_WAITING_EACH
        )
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._names: dict[int, set[str]] = {}
        self.bytes = 0
        """Bytes that the known files take on the disk."""

    def close(self) -> None:
        """Start no more work."""
        self._pool.close()

    async def load(self) -> None:
        """Index the files in the folder by the time of their last use. Until then `get` indexes those it reads."""
        for name, size in await self._pool.run(SERVER, partial(_listed, self._folder)):
            if name not in self._sizes:
                self._count(name, size)
                self._sizes.move_to_end(name, last=False)
        await self._evict()

    def groups(self) -> Collection[int]:
        """The groups that have files."""
        return self._names.keys()

    async def get(self, group: int, name: str) -> bytes | None:
        """Read a value; None if it is not cached."""
        file = f"{group}-{name}"
        data = await self._pool.run(SERVER, partial(_read, self._folder / file))
        if data is None:
            self._forget(file)
        else:
            self._count(file, len(data))
            await self._evict()
        return data

    async def put(self, group: int, name: str, data: bytes) -> None:
        """Cache a value. A disk error is logged, and the value is not cached."""
        file = f"{group}-{name}"
        try:
            await self._pool.run(SERVER, partial(_write, self._folder, file, data))
        except OSError as problem:
            log.warning("nothing can be kept in %s: %s", self._folder, problem)
            return
        self._count(file, len(data))
        await self._evict()

    async def remove(self, groups: Iterable[int]) -> None:
        """Remove all files of groups."""
        files = [file for group in groups for file in self._names.get(group, ())]
        for file in files:
            self._forget(file)
        if files:
            await self._pool.run(_REMOVER, partial(_unlink, self._folder, files))

    async def _evict(self) -> None:
        files: list[str] = []
        while self.bytes > self._bytes_max:
            files.append(next(iter(self._sizes)))
            self._forget(files[-1])
        if files:
            await self._pool.run(_REMOVER, partial(_unlink, self._folder, files))

    def _count(self, file: str, size: int) -> None:
        size = -(-max(size, 1) // _BLOCK) * _BLOCK
        self.bytes += size - self._sizes.get(file, 0)
        self._sizes[file] = size
        self._sizes.move_to_end(file)
        self._names.setdefault(_group_of(file), set()).add(file)

    def _forget(self, file: str) -> None:
        size = self._sizes.pop(file, None)
        if size is None:
            return
        self.bytes -= size
        names = self._names[_group_of(file)]
        names.discard(file)
        if not names:
            del self._names[_group_of(file)]


def _group_of(file: str) -> int:
    return int(file.partition("-")[0])


def _listed(folder: Path) -> list[tuple[str, int]]:
    """Names and sizes of the files, the last used first. Deletes abandoned unfinished files."""
    files: list[tuple[float, str, int]] = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # another process may remove it meanwhile
                status = entry.stat()
                if _NAME.fullmatch(entry.name):
                    files.append((status.st_mtime, entry.name, status.st_size))
                elif entry.name.endswith(_UNFINISHED) and status.st_mtime < file_time() - _ABANDONED_SECONDS:
                    (folder / entry.name).unlink()
    return [(name, size) for _, name, size in sorted(files, reverse=True)]


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return data


def _write(folder: Path, file: str, data: bytes) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = folder / f"{uuid4().hex}{_UNFINISHED}"
    try:
        unfinished.write_bytes(data)
        unfinished.replace(folder / file)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def _unlink(folder: Path, files: Iterable[str]) -> None:
    for file in files:
        with suppress(OSError):
            (folder / file).unlink()
