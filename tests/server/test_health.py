"""`/healthz` answers whatever is stuck, and says what is."""

import asyncio
import json
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from moothall.app.application import App
from moothall.server import health
from moothall.settings import Settings
from moothall.storage.sqlite.group_commit import Writer
from tests.many_processes.nodes import KEY
from tests.support.postgres_proxy import PostgresProxy


async def ask(app: App, path: str = "/healthz") -> tuple[int, Any]:
    """The status and the body."""
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async with asyncio.timeout(60):
        await app.health_page({"path": path, "headers": [], "client": ("127.0.0.1", 1)}, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def settings(url: str, folder: Path) -> Settings:
    return Settings(database_url=url, data=folder, secret_key=KEY, demo=False)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_silent_network_to_the_database_is_said_in_time(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_PATIENCE", 0.2)
    async with PostgresProxy(database_url) as proxy:
        app = App(settings(proxy.url, tmp_path))
        await app.database.open()
        assert await ask(app) == (200, {"status": "ok"})
        proxy.is_silent = True
        status, body = await ask(app)
        assert status == 503
        assert body["status"] == "the database does not answer"
        assert body["stuck"] == ["the database has not answered within 0 s"]
        proxy.cut_all()
        proxy.is_silent = False
        assert await ask(app) == (200, {"status": "ok"})
        await app.database.close()


async def test_a_commit_that_the_disk_does_not_carry_out_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(settings(f"sqlite:///{tmp_path / 'moothall.sqlite3'}", tmp_path))
    await app.database.open()
    assert await ask(app) == (200, {"status": "ok"})
    monkeypatch.setattr(Writer, "committing_seconds", 7.0)
    assert await ask(app) == (
        503,
        {"status": "the database does not answer", "stuck": ["the disk has not carried out a commit for 7 s"]},
    )
    await app.database.close()


async def test_what_is_stuck_beside_the_database_is_said_by_a_server_that_works(tmp_path: Path) -> None:
    app = App(
        Settings(
            database_url=f"sqlite:///{tmp_path / 'moothall.sqlite3'}",
            data=tmp_path,
            secret_key=KEY,
            demo=False,
            nats_url="nats://127.0.0.1:9",
        )
    )
    await app.database.open()
    assert await ask(app) == (200, {"status": "ok", "stuck": ["NATS does not answer: events wait"]})
    assert await ask(app, "/readyz") == (503, {"status": "not ready", "stuck": ["NATS does not answer: events wait"]})
    await app.database.close()
