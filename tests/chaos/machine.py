"""The disk and the clock of a process: a disk that is full or slow to sync, a clock that jumps.

Each needs a tool; `missing` is the reason why it cannot be used on this machine, None if it can.
"""

import os
import resource
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_DISK_BYTES: Final = 96 << 20
_FEW_BYTES: Final = 4096


class Clock:
    """The wall clock of the processes that start with `variables`, by libfaketime. Monotonic clocks are left alone."""

    def __init__(self, folder: Path, name: str) -> None:
        libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        self.missing = None if libraries else "libfaketime is not installed (Debian's package faketime)"
        self.library = libraries[0] if libraries else None
        self._offset = folder / f"{name}.clock"
        self.variables = {
            "FAKETIME_TIMESTAMP_FILE": str(self._offset),
            "FAKETIME_CACHE_DURATION": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.set(0)

    def set(self, seconds: int) -> None:
        """Let it be so many seconds ahead of the machine's; it is within two."""
        self._offset.write_text(f"{seconds:+d}\n", encoding="ascii")


class Syncs:
    """The fsync calls of the processes that start with `variables`, by a library that is compiled into a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        compiler = shutil.which("cc")
        self.missing = None if compiler else "there is no C compiler"
        self.library = folder / "slow_sync.so" if compiler else None
        if compiler and self.library is not None and not self.library.exists():
            source = Path(__file__).with_name("slow_sync.c")
            command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(self.library), str(source), "-ldl"]
            subprocess.run(command, check=True)
        self._delay = folder / f"{name}.sync"
        self.variables = {"SLOW_SYNC_FILE": str(self._delay)}
        self.slow_down(0)

    def slow_down(self, seconds: float) -> None:
        """Let each take so much longer."""
        self._delay.write_text(str(round(seconds * 1_000_000)), encoding="ascii")
        self._delay.chmod(0o644)


def preloading(*parts: Clock | Syncs) -> dict[str, str]:
    """The variables with which a process has a clock and syncs that can be changed; those that are missing are not."""
    libraries = [str(part.library) for part in parts if part.library is not None]
    variables = {name: value for part in parts if part.library is not None for name, value in part.variables.items()}
    return {**variables, "LD_PRELOAD": ":".join(libraries)} if libraries else {}


class SmallDisk:
    """A file system of 96 MB in memory at a folder, where one may be mounted.

    Elsewhere `fill` lets processes write nothing beyond the first 4 kB of a file, which they see as a quota.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._filler = folder / "filler"
        self._limited: list[int] = []
        command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(folder)]
        self._is_mounted = (
            os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
        )

    def fill(self, pids: Iterable[int]) -> None:
        """Leave no space; `pids` are the processes that use the disk."""
        if not self._is_mounted:
            self._limited = list(pids)
            self._limit(_FEW_BYTES)
            return
        with self._filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(1 << 20)):
                pass

    def free(self) -> None:
        """Give the space back."""
        self._filler.unlink(missing_ok=True)
        self._limit(resource.RLIM_INFINITY)

    def close(self) -> None:
        """Unmount it; the folder keeps what it had. Does nothing the second time."""
        if self._is_mounted:
            self._is_mounted = False
            copy = self._folder.with_name(f"{self._folder.name}-copy")
            shutil.copytree(self._folder, copy)
            subprocess.run(["umount", "--lazy", str(self._folder)], check=True)
            self._folder.rmdir()
            copy.rename(self._folder)

    def _limit(self, size: int) -> None:
        for pid in self._limited:
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
