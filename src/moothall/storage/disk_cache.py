"""What can be made again, kept in a folder of bounded size: what was not used for longest goes first.

The folder may be emptied at any time. Processes may share one: each finds what the others have put there, and keeps
what it knows of within the bound.
"""

import asyncio
import logging
import os
import re
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

log = logging.getLogger("moothall.files")

_NAME: Final = re.compile(r"(?P<group>[0-9]{1,20})-[a-z0-9-]{1,100}")
_BLOCK: Final = 4096
"""Bytes that the smallest file takes."""
_UNFINISHED: Final = ".part"
_ABANDONED_SECONDS: Final = 3600
"""How old an unfinished file is that no process writes any more."""


class DiskCache:
    """Byte strings under a group, such as what they are made from, and a name of lower-case letters, digits and `-`."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._names: dict[int, set[str]] = {}
        self.bytes = 0
        """What is kept takes so many bytes on the disk."""

    async def load(self) -> None:
        """Find out what is there already, by the time of its last use. Until then it is found when it is asked for."""
        for name, size in await asyncio.to_thread(_listed, self._folder):
            if name not in self._sizes:
                self._count(name, size)
                self._sizes.move_to_end(name, last=False)
        await self._evict()

    def groups(self) -> Collection[int]:
        """The groups that have anything."""
        return self._names.keys()

    async def get(self, group: int, name: str) -> bytes | None:
        """What was put there; None if it is there no more."""
        file = f"{group}-{name}"
        data = await asyncio.to_thread(_read, self._folder / file)
        if data is None:
            self._forget(file)
        else:
            self._count(file, len(data))
            await self._evict()
        return data

    async def put(self, group: int, name: str, data: bytes) -> None:
        """Keep something. Where the disk takes no more it is not kept, which a line in the log says."""
        file = f"{group}-{name}"
        try:
            await asyncio.to_thread(_write, self._folder, file, data)
        except OSError as problem:
            log.warning("nothing can be kept in %s: %s", self._folder, problem)
            return
        self._count(file, len(data))
        await self._evict()

    async def remove(self, groups: Iterable[int]) -> None:
        """Remove all that some groups have."""
        files = [file for group in groups for file in self._names.get(group, ())]
        for file in files:
            self._forget(file)
        if files:
            await asyncio.to_thread(_unlink, self._folder, files)

    async def _evict(self) -> None:
        files: list[str] = []
        while self.bytes > self._bytes_max:
            files.append(next(iter(self._sizes)))
            self._forget(files[-1])
        if files:
            await asyncio.to_thread(_unlink, self._folder, files)

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
    """Names and sizes of the files, the last used first; what a process that was killed left unfinished is removed."""
    files: list[tuple[float, str, int]] = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # another process may remove it meanwhile
                status = entry.stat()
                if _NAME.fullmatch(entry.name):
                    files.append((status.st_mtime, entry.name, status.st_size))
                elif entry.name.endswith(_UNFINISHED) and status.st_mtime < time.time() - _ABANDONED_SECONDS:
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
