"""Files are on the disk before anyone is told so."""

import asyncio
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from moothall.runtime.budgets import Overloaded, Payer
from moothall.storage.blobs import Blobs
from moothall.storage.database import StorageFull


class Disk:
    """A disk that loses with its power what was not synced: it records the order of syncs and renames."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[tuple[str, str]] = []
        self.synced_files: dict[str, bytes] = {}
        """By the inode's path at the time of the sync: contents that survive under whatever name."""
        self.entries: dict[str, dict[str, bytes | None]] = {}
        """By folder: its synced entries, with the synced contents of files; None for folders."""
        self._synced: dict[int, bytes] = {}
        self._fsync = os.fsync
        self._replace = os.replace
        self._lock = threading.Lock()

    def fsync(self, descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        self._fsync(descriptor)
        with self._lock:
            if path.is_dir():
                self.calls.append(("sync folder", self._name(path)))
                entries: dict[str, bytes | None] = {}
                for entry in path.iterdir():
                    with suppress(FileNotFoundError):  # deleted meanwhile
                        entries[entry.name] = None if entry.is_dir() else self._synced.get(entry.stat().st_ino, b"")
                self.entries[str(path)] = entries
            else:
                self.calls.append(("sync file", path.name.partition("#")[0]))
                self._synced[os.fstat(descriptor).st_ino] = path.read_bytes()

    def replace(self, old: Path, new: Path) -> None:
        with self._lock:
            self.calls.append(("rename", self._name(new)))
            self._replace(old, new)

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.root))

    def after_power_failure(self, copy: Path) -> Path:
        """A copy of the folder with all that is sure to have survived."""

        def restore(folder: Path, into: Path) -> None:
            into.mkdir()
            for name, data in self.entries.get(str(folder), {}).items():
                if data is None:
                    restore(folder / name, into / name)
                else:
                    (into / name).write_bytes(data)

        restore(self.root, copy)
        return copy


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    root = tmp_path / "files"
    root.mkdir()
    made = Disk(root)
    monkeypatch.setattr(os, "fsync", made.fsync)
    monkeypatch.setattr(os, "replace", made.replace)
    return made


async def test_a_stored_blob_is_synced_before_it_has_its_name_and_its_folders_before_it_is_acknowledged(
    disk: Disk,
) -> None:
    await Blobs.open(str(disk.root)).put("images/abc", b"pixels")
    assert disk.calls == [
        ("sync file", "abc"),
        ("rename", "images/abc"),
        ("sync folder", "images"),
        ("sync folder", "."),
    ]


@pytest.mark.parametrize("size", [0, 3, 700_000])
async def test_a_streamed_blob_survives_a_power_failure_whole(disk: Disk, tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    async with Blobs.open(str(disk.root)).writing("uploads/2026-11-27/5") as writer:
        for begin in range(0, size, 100_000):
            await writer.write(data[begin : begin + 100_000])
    assert disk.calls[:2] == [("sync file", "5"), ("rename", "uploads/2026-11-27/5")]
    survived = Blobs.open(str(disk.after_power_failure(tmp_path / "copy")))
    assert await survived.get("uploads/2026-11-27/5") == data


async def test_what_is_acknowledged_survives_though_others_write_and_delete_in_its_folder(
    disk: Disk, tmp_path: Path
) -> None:
    blobs = Blobs.open(str(disk.root))
    acknowledged: dict[str, bytes] = {}

    async def store(number: int) -> None:
        key, data = f"uploads/{number % 3}/{number}", os.urandom(50)
        await blobs.put(key, data)
        if number % 5 == 0:
            await blobs.delete(key)
        else:
            acknowledged[key] = data

    await asyncio.gather(*map(store, range(60)))
    survived = Blobs.open(str(disk.after_power_failure(tmp_path / "copy")))
    assert {key: await survived.get(key) for key in acknowledged} == acknowledged


async def test_files_that_are_finished_together_share_the_syncing_of_their_folder(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_are_named = threading.Event()

    def replace(old: Path, new: Path) -> None:
        disk.replace(old, new)
        if len([call for call in disk.calls if call[0] == "rename"]) == 64:
            all_are_named.set()

    def fsync(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == disk.root / "images":
            assert all_are_named.wait(30)
        disk.fsync(descriptor)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "fsync", fsync)
    blobs = Blobs.open(str(disk.root))
    await asyncio.gather(*(blobs.put(f"images/{number}", b"x") for number in range(64)))
    # One that began before the last file had its name, and one for all that were named after it began.
    assert disk.calls.count(("sync folder", "images")) == 2
    assert len([call for call in disk.calls if call[0] == "sync file"]) == 64


async def test_what_is_not_finished_leaves_nothing(disk: Disk) -> None:
    blobs = Blobs.open(str(disk.root))

    async def interrupted() -> None:
        async with blobs.writing("uploads/1") as writer:
            await writer.write(bytes(600_000))
            assert [key async for key in blobs.keys("")] == [], "unfinished files are listed to no one"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await interrupted()
    assert [path for path in disk.root.rglob("*") if path.is_file()] == []


async def test_a_full_disk_is_told_and_leaves_nothing(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:  # noqa: ARG001 no file can be synced
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    blobs = Blobs.open(str(disk.root))
    with pytest.raises(StorageFull):
        await blobs.put("images/a", b"x")
    with pytest.raises(StorageFull):
        async with blobs.writing("uploads/1") as writer:
            await writer.write(b"x")
    assert [path for path in disk.root.rglob("*") if path.is_file()] == []


async def test_a_blob_replaces_one_with_the_same_key(disk: Disk) -> None:
    blobs = Blobs.open(f"file://{disk.root}")
    await blobs.put("images/a", b"one")
    await blobs.put("images/a", b"two")
    assert await blobs.get("images/a") == b"two"


async def test_the_files_of_one_payer_do_not_make_those_of_others_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = Payer(1, "192.0.2.1"), Payer(2, "192.0.2.1")
    may_end, fsync = threading.Event(), os.fsync

    def slow(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.name.startswith("alice"):
            may_end.wait(60)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    blobs = Blobs.open(str(tmp_path / "files"))
    writing = [asyncio.create_task(blobs.put(f"uploads/alice{number}", b"x", alice)) for number in range(50)]
    try:
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            async with blobs.writing("uploads/bob", bob) as writer:
                await writer.write(bytes(600_000))
            await blobs.put("uploads/bob2", b"x", bob)
        assert not any(task.done() for task in writing)
    finally:
        may_end.set()
    await asyncio.gather(*writing)


async def test_a_payer_with_too_many_waiting_files_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moothall.storage.local_files._WAITING_EACH", 1)
    alice, bob = Payer(1, "192.0.2.1"), Payer(2, "192.0.2.1")
    may_end, fsync = threading.Event(), os.fsync

    def slow(descriptor: int) -> None:
        may_end.wait(60)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    blobs = Blobs.open(str(tmp_path / "files"))
    first = asyncio.create_task(blobs.put("uploads/first", b"x", alice))
    await asyncio.sleep(0)
    others = asyncio.create_task(blobs.put("uploads/other", b"x", bob))
    with pytest.raises(Overloaded):
        await blobs.put("uploads/second", b"x", alice)
    with pytest.raises(Overloaded):
        async with blobs.writing("uploads/third", alice) as writer:
            await writer.write(b"x")
    may_end.set()
    await asyncio.gather(first, others)
    assert sorted([key async for key in blobs.keys("")]) == ["uploads/first", "uploads/other"]
    assert len([path for path in (tmp_path / "files").rglob("*") if path.is_file()]) == 2
