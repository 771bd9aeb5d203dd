"""The disk cache: bounded size, eviction of the least recently used, several processes."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from moothall.storage.disk_cache import DiskCache

BLOCK = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


async def test_a_cached_value_is_read_by_another_process(folder: Path) -> None:
    cache = DiskCache(folder, 10 * BLOCK)
    await cache.put(1, "a", b"one")
    await cache.put(1, "b", b"")
    assert (await cache.get(1, "a"), await cache.get(1, "b"), await cache.get(2, "a")) == (b"one", b"", None)
    another = DiskCache(folder, 10 * BLOCK)
    assert await another.get(1, "a") == b"one"
    await another.load()
    assert (set(another.groups()), another.bytes) == ({1}, 2 * BLOCK)


async def test_an_empty_cache_makes_no_folder(folder: Path) -> None:
    cache = DiskCache(folder, BLOCK)
    await cache.load()
    assert await cache.get(1, "a") is None
    assert not folder.exists()


async def test_the_least_recently_used_files_are_evicted_beyond_the_bound(folder: Path) -> None:
    cache = DiskCache(folder, 4 * BLOCK)
    for group in range(4):
        await cache.put(group, "a", bytes(BLOCK))
    assert await cache.get(0, "a") is not None
    await cache.put(4, "a", bytes(BLOCK + 1))
    assert {path.name for path in folder.iterdir()} == {"0-a", "3-a", "4-a"}
    assert cache.bytes == 4 * BLOCK
    await cache.put(5, "a", bytes(9 * BLOCK))
    assert list(folder.iterdir()) == []
    assert (cache.bytes, list(cache.groups())) == (0, [])


async def test_small_files_count_as_what_they_take_on_the_disk(folder: Path) -> None:
    cache = DiskCache(folder, 10 * BLOCK)
    for group in range(100):
        await cache.put(group, "a", b"")
    assert len(list(folder.iterdir())) == 10


async def test_loading_indexes_files_by_last_use_and_deletes_unfinished_ones(folder: Path) -> None:
    cache = DiskCache(folder, 10 * BLOCK)
    for group in range(6):
        await cache.put(group, "a", bytes(BLOCK))
        os.utime(folder / f"{group}-a", (1000 + group, 1000 + group))
    assert await cache.get(1, "a") is not None
    (folder / "cut-short.part").write_bytes(b"x")
    os.utime(folder / "cut-short.part", (1000, 1000))
    (folder / "of-another-process.part").write_bytes(b"x")
    (folder / "README").write_bytes(b"not ours")
    next_one = DiskCache(folder, 3 * BLOCK)
    await next_one.put(9, "a", bytes(BLOCK))
    await next_one.load()
    assert {path.name for path in folder.iterdir()} == {"1-a", "5-a", "9-a", "README", "of-another-process.part"}


async def test_a_group_is_removed_with_all_its_files(folder: Path) -> None:
    cache = DiskCache(folder, 100 * BLOCK)
    for group in (1, 2, 11):
        for name in ("a", "b-c"):
            await cache.put(group, name, b"x")
    await cache.remove([1, 2, 3])
    assert {path.name for path in folder.iterdir()} == {"11-a", "11-b-c"}
    assert (list(cache.groups()), cache.bytes) == ([11], 2 * BLOCK)


async def test_a_folder_that_is_emptied_meanwhile_is_filled_again(folder: Path) -> None:
    cache = DiskCache(folder, 100 * BLOCK)
    await cache.put(1, "a", b"x")
    (folder / "1-a").unlink()
    folder.rmdir()
    assert await cache.get(1, "a") is None
    assert (list(cache.groups()), cache.bytes) == ([], 0)
    await cache.put(1, "a", b"y")
    assert await cache.get(1, "a") == b"y"


async def test_a_full_disk_is_logged_and_no_error(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder.write_bytes(b"no folder")
    cache = DiskCache(folder, 100 * BLOCK)
    await cache.put(1, "a", b"x")
    assert await cache.get(1, "a") is None
    assert "nothing can be kept" in caplog.text


async def test_cached_files_are_readable_by_their_owner_only(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        await DiskCache(folder, 100 * BLOCK).put(1, "a", b"x")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (folder, folder / "1-a")] == [0, 0]


async def test_concurrent_writes_stay_within_the_bound(folder: Path) -> None:
    cache = DiskCache(folder, 20 * BLOCK)
    await asyncio.gather(*(cache.put(number % 7, f"a{number}", bytes(number)) for number in range(200)))
    await asyncio.gather(*(cache.get(number % 7, f"a{number}") for number in range(200)))
    assert cache.bytes <= 20 * BLOCK
    assert len(list(folder.iterdir())) <= 20
