"""SIGTERM under load: what runs is finished, the gateway's clients are sent to come back, the process ends well."""

import asyncio
import json
import signal
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from moothall.server.http_protocol import BODY_SECONDS
from tests.server.load import Acknowledged, Load
from tests.support.killed_servers import check
from tests.support.server_sessions import identified
from tests.support.serving import RunningServer

PATIENT = "shutdown_seconds = 100\n"
IMPATIENT = "shutdown_seconds = 1\n"


async def last_words(socket: aiohttp.ClientWebSocketResponse) -> tuple[list[dict[str, Any]], int | None]:
    """Everything until the close, and its code."""
    said = [message.json() async for message in socket]
    return said, socket.close_code


async def slow_request(url: str, load: Load, go_on: asyncio.Event) -> tuple[int, Any]:
    """A message whose body pauses in the middle until told to go on."""
    target = urlsplit(url)
    reader, writer = await asyncio.open_connection(target.hostname, target.port)
    body = json.dumps({"content": "slowly"}).encode()
    head = f"POST /api/v10{load.webhook} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body[:5])
    await go_on.wait()
    writer.write(body[5:])
    answer = await reader.read()
    writer.close()
    head_part, _, rest = answer.partition(b"\r\n\r\n")
    return int(head_part.split()[1]), json.loads(rest)


async def test_a_server_told_to_stop_finishes_what_runs_and_lets_its_clients_resume(tmp_path: Path) -> None:
    acknowledged, go_on = Acknowledged(), asyncio.Event()
    config = tmp_path / "moothall.toml"
    config.write_text(PATIENT)
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits", "--config", str(config)) as server:
        async with Load(server.url, acknowledged) as load:
            await load.register("writer")
            await load.create_guild()
            socket = await identified(load.session, server.url, load.session.headers["Authorization"])
            listening = asyncio.create_task(last_words(socket))
            slow = asyncio.create_task(slow_request(server.url, load, go_on))
            writing = asyncio.create_task(load.write())
            await load.acknowledged_more_than(20)

            server.process.send_signal(signal.SIGTERM)
            said, code = await listening
            await asyncio.sleep(0.2)
            go_on.set()
            status, message = await slow
            await writing

        # It waits 30 seconds for the end, much less than `shutdown_seconds`.
        assert await asyncio.to_thread(server.stop) == 0
        assert "Traceback" not in server.printed
    assert said[-1]["op"] == 7
    assert code == 4000
    assert status == 200
    acknowledged.messages[int(message["id"])] = (int(message["channel_id"]), "slowly")
    assert load.odd == []
    await check(f"sqlite:///{tmp_path / 'data' / 'moothall.sqlite3'}", acknowledged)


async def test_a_request_that_never_ends_does_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    config = tmp_path / "moothall.toml"
    config.write_text(IMPATIENT)
    with RunningServer(tmp_path / "data", "--no-demo", "--config", str(config)) as server:
        target = urlsplit(server.url)
        _, writer = await asyncio.open_connection(target.hostname, target.port)
        writer.write(b"POST /api/v10/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{")
        await asyncio.sleep(0.1)
        began = time.monotonic()
        assert await asyncio.to_thread(server.stop) == 0
        # A body that pauses would be given up only then.
        assert time.monotonic() - began < BODY_SECONDS - 5
        writer.close()
