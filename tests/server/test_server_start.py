"""A start on the wrong key, the wrong database or a clock that was set back, and the end of the supervisor."""

import asyncio
import base64
import secrets
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from moothall.app.server_start import check_server_key, continue_ids, forget_retired_keys
from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.runtime.secrets import ServerKey, ServerKeyError
from moothall.storage.database import Database
from tests.support.harness import Platform
from tests.support.serving import RunningServer, moothall


def new_key() -> bytes:
    return secrets.token_bytes(32)


async def test_another_server_key_than_the_database_was_served_with_is_refused(platform: Platform) -> None:
    database: Database = platform.database
    old, new = new_key(), new_key()
    await check_server_key(database, ServerKey(old), "here")
    await check_server_key(database, ServerKey(old), "here")
    with pytest.raises(ServerKeyError, match="here"):
        await check_server_key(database, ServerKey(new), "here")


async def test_an_old_server_key_may_not_go_before_nothing_needs_it(platform: Platform) -> None:
    database: Database = platform.database
    old, new = new_key(), new_key()
    await check_server_key(database, ServerKey(old), "here")
    await check_server_key(database, ServerKey(new, [old]), "here")
    for dropped_early in (ServerKey(new), ServerKey(old)):
        with pytest.raises(ServerKeyError, match=r"here.* lacks an old key"):
            await check_server_key(database, dropped_early, "here")
    async with database.transaction() as tx:
        await forget_retired_keys(tx, ServerKey(new, [old]))
    await check_server_key(database, ServerKey(new), "here")
    with pytest.raises(ServerKeyError, match="is not the one"):
        await check_server_key(database, ServerKey(old), "here")


async def test_ids_follow_the_stored_ones_though_the_clock_was_set_back(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild = await platform.guild(alice)
    message = (await alice.post(f"/channels/{guild.general}/messages", {"content": "newest"})).json
    hour_ago = Snowflake(int(message["id"])).created_ms - 3_600_000
    ids = SnowflakeFactory(clock=lambda: hour_ago)
    assert ids.next() < int(message["id"])
    await continue_ids(platform.database, ids)
    assert ids.next() > int(message["id"])


def test_a_start_that_cannot_be_is_explained_in_one_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RunningServer(data, "--no-demo"):
        pass
    key = (data / "server.key").read_bytes()
    (data / "server.key").unlink()
    serve = ("serve", "--port", "0", "--no-demo", "--data", str(data))
    without_key = moothall(*serve)
    assert without_key.returncode == 3
    assert "is not the one that this database was served with" in without_key.stderr
    (data / "server.key").write_bytes(base64.b64encode(new_key()))
    (data / "server.key").chmod(0o600)
    with_workers = moothall(*serve, "--workers", "2")
    assert with_workers.returncode == 3
    (data / "server.key").write_bytes(key)
    (data / "moothall.sqlite3").write_bytes(b"not a database" * 1000)
    damaged = moothall(*serve)
    assert damaged.returncode == 3
    away = moothall(*serve, "--database-url", "postgresql://127.0.0.1:9/none")
    assert away.returncode == 3
    for result in (without_key, with_workers, damaged, away):
        assert "Traceback" not in result.stderr
        assert len([line for line in result.stderr.splitlines() if "cannot start" in line]) == 1
        assert "startup failed" not in result.stderr
        assert len(result.stderr.splitlines()) <= 2


def test_a_server_whose_key_is_lost_starts_once_the_check_value_is_deleted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RunningServer(data, "--no-demo"):
        pass
    (data / "server.key").unlink()
    with closing(sqlite3.connect(data / "moothall.sqlite3")) as database, database:
        assert database.execute("DELETE FROM meta WHERE key = 'server_key_check'").rowcount == 1
    for _ in range(2):
        with RunningServer(data, "--no-demo") as server:
            assert server.fetch("/healthz")


def test_a_newer_and_a_damaged_database_are_explained_in_one_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = ("--data", str(data))
    assert moothall("migrate", *folder).returncode == 0
    with closing(sqlite3.connect(data / "moothall.sqlite3")) as connection, connection:
        assert connection.execute("UPDATE alembic_version SET version_num = '9999'").rowcount == 1
    before = (data / "moothall.sqlite3").read_bytes()
    commands = (
        ("serve", "--port", "0", "--no-demo"),
        ("migrate",),
        ("reindex",),
        ("user", "create", "ada"),
        ("jobs", "list"),
        ("demo",),
    )
    results = [(3, moothall(*command, *folder)) for command in commands]
    assert (data / "moothall.sqlite3").read_bytes() == before
    (data / "moothall.sqlite3").write_bytes(b"not a database" * 1000)
    results += [
        (1, moothall("backup", *folder, str(tmp_path / "copy"))),
        (1, moothall("user", "create", "ada", *folder)),
    ]
    for status, result in results:
        assert result.returncode == status, result
        assert "Traceback" not in result.stderr
        lines = [line for line in result.stderr.splitlines() if "cannot start" in line or line.startswith("moothall: ")]
        assert len(lines) == 1, result.stderr
        assert "startup failed" not in result.stderr
        assert "not an error" not in result.stderr


def test_nats_away_is_explained_in_one_line(tmp_path: Path, migrated_postgres: str) -> None:
    config = tmp_path / "moothall.toml"
    config.write_text('nats_url = "nats://127.0.0.1:9"\n')
    folder = ("--data", str(tmp_path / "data"), "--database-url", migrated_postgres, "--config", str(config))
    # It tries for some seconds.
    away = moothall("serve", "--port", "0", "--no-demo", *folder, patience=100)
    assert away.returncode == 3, away
    assert "Traceback" not in away.stderr
    assert len([line for line in away.stderr.splitlines() if "cannot start" in line]) == 1


def test_a_killed_supervisor_takes_its_processes_along_and_a_new_one_starts_at_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RunningServer(data, "--no-demo", "--workers", "2") as server:
        port = server.url.rpartition(":")[2]
        pids = [
            int(server.wait_for(rf"{name} serves as process (\d+)")[1]) for name in ("writes", "worker 1", "worker 2")
        ]
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(30)

        async def ended() -> None:
            while any(Path(f"/proc/{pid}").exists() for pid in pids):  # noqa: ASYNC110 they are no children of ours
                await asyncio.sleep(0.01)

        # Less than a graceful end may take.
        asyncio.run(asyncio.wait_for(ended(), 8))
    with RunningServer(data, "--no-demo", "--workers", "2", "--port", port) as again:
        assert again.fetch("/healthz")
