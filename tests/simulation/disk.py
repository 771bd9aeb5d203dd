"""A disk that loses what was not synced: SQLite's files below a VFS that keeps what a power failure would leave.

SQLite works on real files (in memory, if the folder is), so its locks and its shared memory are the real ones. Beside
each file the disk keeps what is on the platter, and the writes since the last sync in order. When the power fails, a
seeded choice of those writes survives, sector by sector, and `mount` lays out the files that the next start finds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw
from msgspec import Struct

from tests.simulation.processes import PROCESS
from tests.simulation.randomness import Choices

_KEPT_KINDS: Final = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
_BASE: Final = "unix"


class DiskFaults(Struct):
    """Probabilities of faults, each for one call."""

    sync_fails: float = 0.0
    """A sync fails, and what was to be written is lost though reads still return it, as on Linux."""
    full: float = 0.0
    """A write to the log finds no space."""
    crash: float = 0.0
    """The power fails at a write or a sync."""
    read_fails: float = 0.0
    """A sector of the file cannot be read, once."""


class StoredFile:
    """What the platter has of a file, and what was written since the last sync."""

    __slots__ = ("pending", "platter")

    def __init__(self, platter: bytes = b"") -> None:
        self.platter = bytearray(platter)
        self.pending: list[tuple[int, bytes | None]] = []
        """Offsets with bytes; None instead of bytes is a truncation to the offset."""

    def keep(self, survivors: list[tuple[int, bytes | None]]) -> None:
        """Write to the platter, and forget what else was to be written."""
        self.pending = []
        platter = self.platter
        for offset, data in survivors:
            if data is None:
                del platter[offset:]
                continue
            if len(platter) < offset:
                platter.extend(bytes(offset - len(platter)))
            platter[offset : offset + len(data)] = data


class Disk:
    """The platter, and the faults of its next mount. `counts` counts its calls by kind."""

    def __init__(self, choices: Choices, *, sector: int = 512) -> None:
        self._choices = choices
        self._sector = sector
        self.files: dict[str, StoredFile] = {}
        self.faults = DiskFaults()
        self.on_power_loss: Callable[[], None] = lambda: None
        """Called in the moment in which the power fails at a call."""
        self.mounts = 0
        self.mounted: Mount | None = None
        self.counts = {"write": 0, "sync": 0, "power loss": 0}

    def mount(self, folder: Path) -> "Mount":
        """Lay out the files of the platter in an empty folder and serve them from now on."""
        self.cut_power()
        for name, file in self.files.items():
            (folder / name).write_bytes(file.platter)
        self.mounts += 1
        self.mounted = Mount(self, folder, f"simulated{id(self)}-{self.mounts}")
        return self.mounted

    def cut_power(self) -> None:
        """Let the power fail now: what was not synced survives by choice, and the mount serves no longer."""
        if self.mounted is None or self.mounted.dead:
            return
        self.mounted.dead = True
        self.counts["power loss"] += 1
        mode = self._choices.weighted({"all": 1, "none": 2, "first": 2, "any": 3})
        for file in self.files.values():
            file.keep(self._survivors(file.pending, mode))

    def kill(self) -> None:
        """Let the process end now, not the machine: everything that was written survives."""
        if self.mounted is None or self.mounted.dead:
            return
        self.mounted.dead = True
        for file in self.files.values():
            file.keep(file.pending)

    def _survivors(self, pending: list[tuple[int, bytes | None]], mode: str) -> list[tuple[int, bytes | None]]:
        """The writes that reach the platter: all, none, the first ones, or any sectors of any."""
        if mode == "none":
            return []
        if mode == "first":
            return pending[: self._choices.integer(0, len(pending))]
        if mode == "all":
            return pending
        survivors: list[tuple[int, bytes | None]] = []
        for offset, data in pending:
            if data is None:
                if self._choices.chance(0.5):
                    survivors.append((offset, None))
                continue
            at = offset
            while at < offset + len(data):
                end = min((at // self._sector + 1) * self._sector, offset + len(data))
                if self._choices.chance(0.5):
                    survivors.append((at, data[at - offset : end - offset]))
                at = end
        return survivors

    def content(self) -> bytes:
        """All bytes on the platter."""
        return b"".join(bytes(file.platter) for file in self.files.values())

    # Calls of files

    def check(self, kind: str) -> None:
        """Count a call. The power may fail at it; raises IOError then, and from then on."""
        if self.mounted is None or self.mounted.dead:
            raise apsw.IOError("the power is off")
        self.counts[kind] += 1
        if self.faults.crash and self._choices.fault("power loss", self.faults.crash):
            self.cut_power()
            self.on_power_loss()
            raise apsw.IOError("the power has failed")

    def write(self, name: str, offset: int, data: bytes) -> None:
        """Remember a write. Raises FullError if there is no space."""
        if self.faults.full and name.endswith("-wal") and self._choices.fault("disk full", self.faults.full):
            raise apsw.FullError("no space")
        self.files[name].pending.append((offset, data))
        self.check("write")

    def sync(self, name: str) -> None:
        """Move the writes of a file to the platter. Raises IOError where that fails."""
        self.check("sync")
        file = self.files[name]
        if self.faults.sync_fails and self._choices.fault("sync fails", self.faults.sync_fails):
            file.keep(self._survivors(file.pending, "any"))
            raise apsw.IOError("the sync has failed")
        file.keep(file.pending)

    def fails_to_read(self) -> bool:
        """Whether a read fails."""
        return bool(self.faults.read_fails) and self._choices.fault("read fails", self.faults.read_fails)


class Mount(apsw.VFS):
    """The VFS of one start of the platform. Once `dead`, every call fails and changes nothing."""

    def __init__(self, disk: Disk, folder: Path, name: str) -> None:
        self.disk = disk
        self.folder = folder
        self.vfs_name = name
        self.dead = False
        self.killed: set[int] = set()
        """The processes that are dead while the machine goes on."""
        self._connections: list[tuple[int, apsw.Connection]] = []
        super().__init__(name, _BASE)
        apsw.set_default_vfs(name)
        apsw.connection_hooks.append(self._note_connection)

    def _note_connection(self, connection: apsw.Connection) -> None:
        self._connections.append((PROCESS.get(), connection))

    def kill(self, process: int) -> None:
        """Let a process end: what it wrote stays, and its locks are released."""
        self.killed.add(process)
        for owner, connection in self._connections:
            if owner == process:
                connection.close(True)
        self._connections = [each for each in self._connections if each[0] != process]

    def unmount(self) -> None:
        """Let new connections use the real disk again."""
        self.dead = True
        apsw.connection_hooks.remove(self._note_connection)
        apsw.set_default_vfs(_BASE)
        self.unregister()

    def name_of(self, path: str) -> str | None:
        """The name of a file of this disk; None for others."""
        file = Path(path)
        return file.name if file.parent == self.folder else None

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 of SQLite
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        stored = None if path is None or not flags[0] & _KEPT_KINDS else self.name_of(path)
        if stored is None:
            return apsw.VFSFile(_BASE, name, flags)
        if self.dead:
            raise apsw.CantOpenError("the power is off")
        self.disk.files.setdefault(stored, StoredFile())
        return MountedFile(self, stored, name, flags)

    def xDelete(self, path: str, sync_folder: bool) -> None:  # noqa: N802 of SQLite
        name = self.name_of(path)
        if name is not None:
            if self.dead:
                return
            self.disk.files.pop(name, None)
        super().xDelete(path, sync_folder)


class MountedFile(apsw.VFSFile):
    """One file, opened by one connection."""

    def __init__(self, mount: Mount, name: str, path: "str | apsw.URIFilename | None", flags: list[int]) -> None:
        self._mount = mount
        self._name = name
        self._process = PROCESS.get()
        super().__init__(_BASE, path, flags)

    @property
    def _dead(self) -> bool:
        return self._mount.dead or self._process in self._mount.killed

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 of SQLite
        if self._dead or self._mount.disk.fails_to_read():
            raise apsw.IOError("cannot be read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 of SQLite
        if self._dead:
            raise apsw.IOError("the power is off")
        self._mount.disk.write(self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 of SQLite
        if self._dead:
            raise apsw.IOError("the power is off")
        self._mount.disk.files[self._name].pending.append((size, None))
        self._mount.disk.check("write")
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 of SQLite
        if self._dead:
            raise apsw.IOError("the power is off")
        self._mount.disk.sync(self._name)
        del flags  # the real file needs not survive

    def xLock(self, level: int) -> None:  # noqa: N802 of SQLite
        if not self._dead:
            super().xLock(level)
        elif level == apsw.SQLITE_LOCK_EXCLUSIVE:
            # A connection that is closed after the end does not move the log into the file.
            raise apsw.BusyError("the power is off")
