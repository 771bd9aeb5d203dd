"""Blobs in a folder, in memory, and in an object store of the S3 kind."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from moothall.storage import blobs as blobs_module
from moothall.storage.blobs import Blobs
from moothall.storage.database import StorageUnavailable
from tests.storage.buckets import Bucket, bucket_at, bucket_settings

MIB = 1 << 20
DATA = bytes(range(256)) * 4096 * 7
"""7 MiB: more than a part of an object store."""


class Kept:
    """A store, and its bucket if it is an object store."""

    def __init__(self, blobs: Blobs, bucket: Bucket | None = None, spool: Path | None = None) -> None:
        self.blobs = blobs
        self.bucket = bucket
        self.spool = spool

    async def keys(self) -> list[str]:
        return sorted([key async for key in self.blobs.keys("")])


@pytest.fixture(params=["folder", "memory", "bucket"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Kept]:
    """One of each kind."""
    async with AsyncExitStack() as stack:
        if request.param == "folder":
            yield Kept(Blobs.open(str(tmp_path / "files")))
        elif request.param == "memory":
            yield Kept(Blobs.open("memory:"))
        else:
            bucket, url = await stack.enter_async_context(bucket_at())
            for name, value in bucket_settings(url).items():
                monkeypatch.setenv(name, value)
            spool = tmp_path / "incoming"
            yield Kept(Blobs.open("s3://bucket", spool=spool), bucket, spool)


async def test_a_blob_is_stored_read_and_deleted(kept: Kept) -> None:
    blobs = kept.blobs
    await blobs.put("a/b", b"data")
    assert await blobs.get("a/b") == b"data"
    assert await blobs.exists("a/b")
    await blobs.delete("a/b")
    await blobs.delete("a/b")
    assert await blobs.get("a/b") is None
    assert not await blobs.exists("a/b")


async def test_a_blob_is_written_and_read_piece_by_piece(kept: Kept) -> None:
    async with kept.blobs.writing("uploads/1/2") as writer:
        for start in range(0, len(DATA), 65_536):
            await writer.write(DATA[start : start + 65_536])
        assert await kept.keys() == []
    assert await kept.keys() == ["uploads/1/2"]
    portions = [portion async for portion in kept.blobs.stream("uploads/1/2", 0, len(DATA))]
    assert b"".join(portions) == DATA
    assert max(map(len, portions)) <= MIB
    part = [portion async for portion in kept.blobs.stream("uploads/1/2", 5, 1_000_005)]
    assert b"".join(part) == DATA[5:1_000_005]
    if kept.bucket is not None:
        assert kept.bucket.uploads == {}
        assert kept.spool is not None
        assert list(kept.spool.iterdir()) == []


async def test_an_empty_blob_is_written(kept: Kept) -> None:
    async with kept.blobs.writing("a"):
        pass
    assert await kept.blobs.get("a") == b""


@pytest.mark.parametrize("size", [10, 2 * MIB])
async def test_an_aborted_write_leaves_nothing(kept: Kept, tmp_path: Path, size: int) -> None:
    async def give_up() -> None:
        async with kept.blobs.writing("a/b") as writer:
            await writer.write(bytes(size))
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await give_up()
    assert await kept.keys() == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    if kept.bucket is not None:
        assert kept.bucket.uploads == {}


async def test_several_blobs_are_deleted_at_once_whether_they_exist_or_not(kept: Kept) -> None:
    for name in ("x/1", "x/2", "y/3"):
        await kept.blobs.put(name, b"1")
    await kept.blobs.delete_all(["x/1", "gone", "y/3"])
    assert await kept.keys() == ["x/2"]
    await kept.blobs.delete_all([])


async def test_a_missing_blob_cannot_be_read(kept: Kept) -> None:
    with pytest.raises(FileNotFoundError):
        await anext(kept.blobs.stream("nothing", 0, 5))


async def test_a_blob_as_a_file_has_a_maximum_of_bytes_read(kept: Kept) -> None:
    await kept.blobs.put("a", DATA)

    def read() -> None:
        file = kept.blobs.reader("a", maximum=2 * MIB)
        assert file.read(4) == DATA[:4]
        assert file.seek(MIB) == file.tell() == MIB
        assert file.read(MIB) == DATA[MIB : 2 * MIB]
        with pytest.raises(ValueError, match="more of the file"):
            file.read(2 * MIB)

    await asyncio.to_thread(read)


async def test_only_old_unfinished_files_are_removed(tmp_path: Path) -> None:
    in_folder = Blobs.open(str(tmp_path / "files"))
    assert await in_folder.remove_abandoned() == 0
    await in_folder.put("images/a", b"whole")
    os.utime(tmp_path / "files" / "images" / "a", (0, 0))
    spooled = Blobs.open("s3://bucket", spool=tmp_path / "spool")
    for blobs, folder in ((in_folder, tmp_path / "files" / ".unfinished"), (spooled, tmp_path / "spool")):
        old, new = folder / "old", folder / "new"
        for path in (old, new):
            path.write_bytes(b"x")
        os.utime(old, (0, 0))
        assert await blobs.remove_abandoned() == 1
        assert [path.name for path in folder.iterdir()] == ["new"]
    assert await in_folder.get("images/a") == b"whole"
    assert await Blobs.open("memory:").remove_abandoned() == 0


async def test_an_object_store_that_is_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    left = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        left.set()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    monkeypatch.setitem(blobs_module._DEADLINES, "read_timeout", "1s")
    monkeypatch.setitem(blobs_module._RETRIES, "max_retries", 0)
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    silent = Blobs.open("s3://bucket")
    async with asyncio.timeout(60):
        with pytest.raises(StorageUnavailable):
            await silent.put("key", b"data")
        await left.wait()
    server.close()


async def test_an_object_store_without_tls_says_what_allows_it_and_nothing_of_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ALLOW_HTTP", raising=False)

    with pytest.raises(StorageUnavailable, match="AWS_ALLOW_HTTP=true") as refused:
        await Blobs.open("s3://bucket").put("key", b"data")

    assert "Debug source" not in str(refused.value)
    assert "{" not in str(refused.value)
