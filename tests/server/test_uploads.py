"""Uploads to a real server: what they take of memory, and what is left of those that are given up."""

import asyncio
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.server.load import Acknowledged, Load
from tests.support.serving import RunningServer

MIB = 1 << 20
UPLOADERS = 12
SIZES = (10 * MIB, 10 * MIB, 5 * MIB - 4096)
MAX = 64 * MIB
"""Bytes that the server may take more while they upload 25 MiB each."""


def memory_of(pid: int, field: str) -> int:
    """A figure of a process's memory, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(field)


async def upload(load: Load, *sizes: int) -> int:
    """A message with files of so many bytes; the status."""
    form = aiohttp.FormData()
    for index, size in enumerate(sizes):
        form.add_field(f"files[{index}]", io.BytesIO(bytes(size)), filename=f"{index}.bin")
    async with load.session.post(f"{load.url}/api/v10/channels/{load.channel_id}/messages", data=form) as answer:
        await answer.read()
        return answer.status


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 what changes is a folder
            await asyncio.sleep(0.02)


async def test_uploads_are_not_held_in_memory(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits") as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("writer")
            await load.create_guild()
            assert await upload(load, MIB) == 200
            before = memory_of(server.process.pid, "VmRSS")
            done = await asyncio.gather(*(upload(load, *SIZES) for _ in range(UPLOADERS)))
            assert done == [200] * UPLOADERS
            assert memory_of(server.process.pid, "VmHWM") - before < MAX


async def begin_upload(load: Load) -> asyncio.StreamWriter:
    """Send the first two MiB of a file of five."""
    target = urlsplit(load.url)
    _, writer = await asyncio.open_connection(target.hostname, target.port)
    part = '--b\r\ncontent-disposition: form-data; name="files[0]"; filename="a"\r\n\r\n'
    head = (
        f"POST /api/v10/channels/{load.channel_id}/messages HTTP/1.1\r\nhost: x\r\n"
        f"authorization: {load.token}\r\ncontent-type: multipart/form-data; boundary=b\r\n"
        f"content-length: {5 * MIB}\r\n\r\n{part}"
    )
    writer.write(head.encode() + bytes(2 * MIB))
    await writer.drain()
    return writer


async def test_an_upload_that_is_given_up_leaves_no_file(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits") as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("writer")
            await load.create_guild()
            writer = await begin_upload(load)
            folder = tmp_path / "data" / "files"
            await until(lambda: any(path.is_file() for path in folder.rglob("*")))
            writer.transport.abort()
            await until(lambda: not any(path.is_file() for path in folder.rglob("*")))
            assert await upload(load, 10) == 200


async def test_what_a_killed_server_has_not_finished_is_removed_by_the_next_one_once_it_is_old(tmp_path: Path) -> None:
    unfinished = tmp_path / "data" / "files" / ".unfinished"
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits") as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("writer")
            await load.create_guild()
            writers = [await begin_upload(load) for _ in range(2)]
            await until(lambda: len(list(unfinished.glob("*"))) == 2)
            server.stop(signal.SIGKILL)
            for writer in writers:
                writer.transport.abort()
    old, new = unfinished.iterdir()
    two_hours_ago = old.stat().st_mtime - 7_200
    os.utime(old, (two_hours_ago, two_hours_ago))
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits"):
        await until(lambda: not old.exists())
        # It may be one that another process of a shared folder is writing.
        assert new.exists()


@pytest.mark.parametrize("workers", [0, 2])
async def test_a_file_put_to_its_url_outlives_a_killed_server(tmp_path: Path, workers: int) -> None:
    arguments = ["--no-demo", "--no-rate-limits", *(["--workers", str(workers)] if workers else [])]
    data = bytes(range(256)) * 8192
    with RunningServer(tmp_path / "data", *arguments) as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("writer")
            await load.create_guild()
            channel, token = load.channel_id, load.token
            body = {"files": [{"filename": "a.bin", "file_size": len(data), "id": "0"}]}
            (created,) = server.request("POST", f"/channels/{channel}/attachments", body, token=token).json[
                "attachments"
            ]
            url = server.url + urlsplit(created["upload_url"])._replace(scheme="", netloc="").geturl()
            async with load.session.put(url, data=io.BytesIO(data)) as answer:
                assert answer.status == 200
        server.stop(signal.SIGKILL)
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits") as server:
        listed = {"attachments": [{"id": "0", "uploaded_filename": created["upload_filename"]}]}
        message = server.request("POST", f"/channels/{channel}/messages", listed, token=token).json
        assert message["attachments"][0]["size"] == len(data)
        assert server.fetch(urlsplit(message["attachments"][0]["url"])._replace(scheme="", netloc="").geturl()) == data


async def post_file(load: Load, size: int) -> tuple[int, str, int]:
    """A message with a file of so many bytes: the status, the id of the message, and the code of a refusal."""
    form = aiohttp.FormData()
    form.add_field("files[0]", io.BytesIO(os.urandom(size)), filename="a.bin")
    async with load.session.post(f"{load.url}/api/v10/channels/{load.channel_id}/messages", data=form) as answer:
        content = await answer.json()
        return answer.status, content.get("id", ""), content.get("code", 0)


@pytest.mark.parametrize("workers", [1, 2])
async def test_the_files_of_an_account_stay_within_its_quota_over_a_restart(tmp_path: Path, workers: int) -> None:
    """Also those that are uploaded at once, and through workers that do not know of each other's."""
    config = tmp_path / "moothall.toml"
    config.write_text("storage_quota_mb_per_user = 4\n")
    data = tmp_path / "data"
    arguments = ("--no-demo", "--no-rate-limits", "--workers", str(workers), "--config", str(config))
    with RunningServer(data, *arguments) as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("writer")
            await load.create_guild()
            answers = await asyncio.gather(*(post_file(load, MIB) for _ in range(8)))
            stored = [message_id for status, message_id, _ in answers if status == 200]
            # All at once may be refused: what each has sent so far counts for all.
            assert len(stored) <= 4, answers
            while (answer := await post_file(load, MIB))[0] == 200:
                stored.append(answer[1])
            assert len(stored) in {3, 4}, "four megabytes have room for three or four files of a mebibyte"
            token, channel_id = load.token, load.channel_id
            files = {path for path in (data / "attachments").rglob("*") if path.is_file()}
            assert sum(path.stat().st_size for path in files) <= 4 * MIB
    with RunningServer(data, *arguments) as server:
        async with Load(server.url, Acknowledged()) as load:
            load.session.headers["Authorization"] = token
            load.channel_id = channel_id
            assert (await post_file(load, MIB))[0] == 413
            path = f"/api/v10/channels/{channel_id}/messages/{stored[0]}"
            async with load.session.delete(load.url + path) as answer_to_deletion:
                assert answer_to_deletion.status == 204
            assert (await post_file(load, MIB))[0] == 200
