"""What /healthz and /metrics say is so."""

import asyncio
import re
import time
import urllib.request
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from sqlalchemy import insert

from moothall.app.application import App
from moothall.objects.wire import Timestamp
from moothall.settings import Settings
from moothall.storage.database import Query
from moothall.storage.schema import jobs
from tests.support.server_sessions import identified
from tests.support.serving import RunningServer, moothall

_insert_job = Query(insert(jobs))


def metrics_of(server: RunningServer) -> dict[str, float]:
    """Every line of /metrics: its name with labels, and its value."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=20) as answer:  # noqa: S310 its own URL
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^(moothall_\S+) (\S+)$", text, re.MULTILINE)}


def grown(before: dict[str, float], after: dict[str, float], name: str) -> float:
    return after.get(name, 0) - before.get(name, 0)


def test_requests_are_counted_by_row_and_status_and_paths_are_not_remembered(server: RunningServer, token: str) -> None:
    before = metrics_of(server)
    for _ in range(5):
        server.request("GET", "/gateway")
    for number in range(3):
        server.request("GET", f"/nothing/{number}")
        server.request("GET", f"/guilds/{number}", token=token)
    server.request("DELETE", "/gateway")
    after = metrics_of(server)
    requests = "moothall_http_requests_total"
    assert grown(before, after, f'{requests}{{row="get_gateway",status="200"}}') == 5
    assert grown(before, after, f'{requests}{{row="get_guild",status="404"}}') == 3
    assert grown(before, after, f'{requests}{{row="none",status="404"}}') == 3
    assert grown(before, after, f'{requests}{{row="none",status="405"}}') == 1
    assert grown(before, after, 'moothall_http_request_seconds_count{row="get_gateway"}') == 5
    assert not [name for name in after if "/" in name]


def test_writes_are_counted_when_they_are_durable(server: RunningServer, token: str) -> None:
    guild = server.request("POST", "/guilds", {"name": "Counted"}, token=token).json["id"]
    before = metrics_of(server)
    for number in range(4):
        assert server.request("POST", f"/guilds/{guild}/roles", {"name": f"{number}"}, token=token).status == 200
    after = metrics_of(server)
    assert grown(before, after, "moothall_commit_transactions_sum") >= 4
    assert grown(before, after, "moothall_commit_seconds_count") >= 1
    assert grown(before, after, 'moothall_events_published_total{name="GUILD_ROLE_CREATE"}') == 4


async def test_sessions_are_counted_while_they_are_there(server: RunningServer, token: str) -> None:
    before = metrics_of(server)
    async with aiohttp.ClientSession() as session:
        socket = await identified(session, server.url, token)
        during = metrics_of(server)
        await socket.close(code=1000)
    deadline = time.monotonic() + 30
    while (  # noqa: ASYNC110 it happens in another process
        grown(before, after := metrics_of(server), "moothall_gateway_sessions") and time.monotonic() < deadline
    ):
        await asyncio.sleep(0.02)
    assert grown(before, during, "moothall_gateway_sessions") == 1
    assert grown(before, during, "moothall_gateway_connections") == 1
    assert grown(before, during, "moothall_events_delivered_total") >= 1
    assert grown(before, after, "moothall_gateway_connections") == 0
    assert grown(before, after, "moothall_gateway_sessions") == 0


async def test_metrics_are_at_an_address_of_their_own_and_nothing_else_is(tmp_path: Path) -> None:
    config = tmp_path / "moothall.toml"
    config.write_text('metrics_listen = "127.0.0.1:0"\n', encoding="utf-8")
    with RunningServer(tmp_path / "data", "--no-demo", "--config", str(config)) as running:
        apart = running.wait_for(r"metrics are at (http://127\.0\.0\.1:\d+)/metrics")[1]
        async with aiohttp.ClientSession() as session:
            statuses = {}
            for url in (apart, running.url):
                for path in ("/metrics", "/", "/api/v10/gateway", "/healthz"):
                    async with session.get(url + path) as answer:
                        statuses[url, path] = answer.status
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(f"{apart}/gateway/?v=10&encoding=json")
    assert [path for (url, path), status in statuses.items() if url == apart and status == 200] == ["/metrics"]
    assert [path for (url, path), status in statuses.items() if url == running.url and status != 200] == ["/metrics"]


def test_an_address_for_metrics_that_is_taken_is_a_clear_error(server: RunningServer, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    config = tmp_path / "moothall.toml"
    config.write_text(f'metrics_listen = "127.0.0.1:{port}"\n', encoding="utf-8")
    result = moothall("serve", "--port", "0", "--data", str(tmp_path / "data"), "--config", str(config))
    assert (result.returncode, result.stderr) == (
        1,
        f"moothall: cannot listen at 127.0.0.1 port {port}: Address already in use\n",
    )


async def test_health_is_that_of_the_database(tmp_path: Path) -> None:
    app = App(Settings(data=tmp_path, demo=False))
    assert await health(app) == 503
    await app.start()
    assert await health(app) == 200
    await app.database.close()
    assert await health(app) == 503
    await app.database.open()
    assert await health(app) == 200
    await app.stop()


async def test_jobs_that_wait_and_jobs_that_failed_are_counted_while_the_database_answers(tmp_path: Path) -> None:
    app = App(Settings(data=tmp_path, demo=False))
    await app.start()
    later = Timestamp.now() + 3_600_000
    async with app.database.transaction() as tx:
        for job_id, values in enumerate(
            (
                {},
                {"attempts": 2, "not_before": later},
                {"not_before": later},
                {"attempts": 12, "failed_at": 1},
                {"attempts": 12, "failed_at": 1},
                {"attempts": 12, "failed_at": 1},
            )
        ):
            await tx.execute(_insert_job, id=job_id, kind="of_another_version", state={}, created_at=1, **values)
    assert await job_counts(app) == {"moothall_jobs_waiting": 2, "moothall_jobs_failed": 3}
    await app.database.close()
    assert [str(value) for value in (await job_counts(app)).values()] == ["nan", "nan"]
    await app.database.open()
    await app.stop()


async def job_counts(app: App) -> dict[str, float]:
    """The lines of /metrics about jobs."""
    _, body = await answer(app, "/metrics")
    return {name: float(value) for name, value in re.findall(r"^(moothall_jobs_\w+) (\S+)$", body, re.MULTILINE)}


async def health(app: App) -> int:
    """The status of /healthz."""
    return (await answer(app, "/healthz"))[0]


async def answer(app: App, path: str) -> tuple[int, str]:
    """The status and the body of a GET request."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
    await app(scope, receive, send)
    return int(sent[0]["status"]), b"".join(message.get("body", b"") for message in sent[1:]).decode()
