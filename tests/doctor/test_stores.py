"""Findings about what the server stores to: the database, files, NATS."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest
from msgspec import structs

from moothall.doctor import stores
from moothall.doctor.finding import Finding, Level
from moothall.objects.clock import CLOCK
from moothall.objects.ids import EPOCH_MS
from moothall.settings import Settings
from moothall.storage.inspection import DatabaseState
from moothall.storage.migrations import HEAD
from tests.support.nats_servers import OwnNats, usable_nats

POSTGRES = Settings(database_url="postgresql://moothall:hidden@db.example/moothall")
CURRENT = DatabaseState((15, 4), HEAD, now_ms=0, max_connections=97)


@pytest.fixture
def settings(tmp_path: Path, migrated_sqlite: Path) -> Settings:
    """The settings of an installation with an empty database."""
    shutil.copy(migrated_sqlite, tmp_path / "moothall.sqlite3")
    (tmp_path / "moothall.sqlite3").chmod(0o600)
    return Settings(data=tmp_path)


def change(settings: Settings, statement: str) -> None:
    """Change the database."""
    assert settings.database_path is not None
    connection = apsw.Connection(str(settings.database_path))
    connection.execute(statement)
    connection.close()


async def findings_of(settings: Settings) -> list[Finding]:
    """What is found about the database."""
    state, findings = await stores.database_state(settings)
    return findings + ([] if state is None else list(stores.check_database(settings, state)))


async def collected(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]


async def test_a_database_that_is_there_and_up_to_date_is_fine(settings: Settings) -> None:
    (finding,) = await findings_of(settings)

    assert finding.level is Level.OK
    assert finding.message.endswith("the tables are up to date")
    assert finding.message.startswith("SQLite 3.")


async def test_a_database_that_is_not_there_yet_is_fine_and_is_not_made(tmp_path: Path) -> None:
    (finding,) = await findings_of(Settings(data=tmp_path))

    assert finding.level is Level.OK
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("revision", "level", "advice"),
    [("0001", Level.WARNING, "moothall migrate"), ("9999", Level.ERROR, "Install that version")],
)
async def test_tables_of_another_version_are_told(settings: Settings, revision: str, level: Level, advice: str) -> None:
    change(settings, f"UPDATE alembic_version SET version_num = '{revision}'")  # noqa: S608 a constant

    (finding,) = await findings_of(settings)

    assert finding.level is level
    assert advice in finding.advice


async def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "moothall.sqlite3").write_bytes(b"nonsense" * 1000)

    (finding,) = await findings_of(Settings(data=tmp_path))

    assert finding.level is Level.ERROR
    assert "moothall restore" in finding.advice


async def test_a_database_that_others_may_read_is_a_warning(settings: Settings) -> None:
    assert settings.database_path is not None
    settings.database_path.chmod(0o644)

    assert [finding.level for finding in await findings_of(settings)] == [Level.OK, Level.WARNING]


async def test_a_database_that_may_not_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert [finding.level for finding in await findings_of(settings)] == [Level.OK, Level.ERROR]


async def test_failed_jobs_are_a_warning(settings: Settings) -> None:
    change(
        settings,
        "INSERT INTO jobs (id, kind, state, created_at, not_before, attempts, failed_at)"
        " VALUES (1, 'x', '{}', 0, 0, 12, 5)",
    )

    finding = (await findings_of(settings))[-1]

    assert (finding.level, finding.message) == (Level.WARNING, "1 failed too often")
    assert "moothall jobs list --failed" in finding.advice


def test_messages_from_the_future_tell_that_the_clock_is_behind() -> None:
    tomorrow = (CLOCK.now_ms() + 86_400_000 - EPOCH_MS) << 22

    finding = list(stores.check_database(POSTGRES, DatabaseState((15,), HEAD, newest_message_id=tomorrow)))[-1]

    assert (finding.check, finding.level) == ("clock", Level.ERROR)


@pytest.mark.parametrize(
    ("change", "check", "level"),
    [
        ({"version": (13, 2)}, "database", Level.WARNING),
        ({"max_connections": 10}, "database", Level.ERROR),
        ({"now_ms": 5_000}, "clock", Level.WARNING),
        ({"now_ms": 50_000}, "clock", Level.ERROR),
    ],
)
def test_what_a_postgresql_server_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, object], check: str, level: Level
) -> None:
    monkeypatch.setattr(stores, "CLOCK", type("Stopped", (), {"now_ms": staticmethod(lambda: 0)}))

    first, finding = stores.check_database(POSTGRES, structs.replace(CURRENT, **change))

    assert "hidden" not in first.message
    assert (finding.check, finding.level) == (check, level)


async def test_a_postgresql_database_is_read(migrated_postgres: str) -> None:
    state, findings = await stores.database_state(Settings(database_url=migrated_postgres))

    assert findings == []
    assert state is not None
    assert (state.is_current, state.failed_jobs) == (True, 0)
    assert state.now_ms is not None
    assert abs(state.now_ms - CLOCK.now_ms()) < 60_000


@pytest.mark.parametrize("url", ["postgresql://none@127.0.0.1:1/none", "postgresql://none@127.0.0.1:none/none"])
async def test_a_postgresql_server_that_cannot_be_reached_is_an_error(url: str) -> None:
    (finding,) = await findings_of(Settings(database_url=url))

    assert finding.level is Level.ERROR
    assert "pg_hba.conf" in finding.advice


async def test_an_object_store_is_tried(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()

    (finding,) = await collected(stores.check_files(Settings(blob_url=f"file://{store}")))
    assert finding.level is Level.OK
    assert not [path for path in store.rglob("*") if path.is_file()]

    (store / "doctor").rmdir()
    (store / "doctor").touch()
    (finding,) = await collected(stores.check_files(Settings(blob_url=f"file://{store}")))
    assert finding.level is Level.ERROR
    assert await collected(stores.check_files(Settings())) == []


async def bus_finding(url: str | None) -> Finding:
    """What is found about NATS."""
    (finding,) = await collected(stores.check_bus(Settings(nats_url=url)))
    return finding


async def test_nats_is_asked_where_it_is_set() -> None:
    assert (await bus_finding(None)).level is Level.SKIPPED
    unreachable = await bus_finding("nats://127.0.0.1:1")
    assert unreachable.level is Level.ERROR
    assert "cannot be reached" in unreachable.message
    assert (await bus_finding(await usable_nats())).level is Level.OK


async def test_a_nats_server_without_jetstream_is_an_error(tmp_path: Path) -> None:
    server = OwnNats(tmp_path, jetstream=False)
    await server.start()
    try:
        finding = await bus_finding(server.url)
    finally:
        await server.kill()

    assert finding.level is Level.ERROR
    assert "has no JetStream" in finding.message
