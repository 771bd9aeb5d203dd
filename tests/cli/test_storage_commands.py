"""The commands that work on the database alone: migrate, reindex, backup, restore."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from click.testing import Result

from moothall.storage.sqlite.engine import SqliteDatabase
from moothall.storage.sqlite.files import serving_alone
from tests.cli.running import failed, run


@pytest.fixture(autouse=True)
def _process_untouched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # A command has the process to itself: it sets up logging, and narrows who may read its files.
    for command in ("migrate", "reindex"):
        monkeypatch.setattr(f"moothall.cli.{command}.start_logging", lambda *_: None)
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a migrated database."""
    folder = tmp_path / "data"
    assert run("migrate", "--data", str(folder)).exit_code == 0
    return folder


def remember(data: Path, text: str) -> None:
    """Insert a text into the database."""
    with apsw.Connection(str(data / "moothall.sqlite3")) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS remembered (text TEXT)")
        connection.execute("INSERT INTO remembered VALUES (?)", (text,))


def remembered(path: Path) -> list[str]:
    """The inserted texts."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    rows = [row[0] for row in connection.execute("SELECT text FROM remembered ORDER BY rowid")]
    connection.close()
    return rows


def test_migrate_creates_the_data_folder_and_the_tables_and_is_idempotent(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"

    first, second = run("migrate", "--data", str(folder)), run("migrate", "--data", str(folder))

    assert (first.exit_code, second.exit_code) == (0, 0)
    connection = apsw.Connection(str(folder / "moothall.sqlite3"))
    assert connection.execute("SELECT count(*) FROM users").fetchall() == [(0,)]
    connection.close()


def test_reindex_indexes_messages_that_another_program_wrote(data: Path) -> None:
    with apsw.Connection(str(data / "moothall.sqlite3")) as connection:
        connection.execute(
            "INSERT INTO messages (channel_id, id, guild_id, author_id, type, flags, pinned, reacted, body)"
            " VALUES (1, 2, 3, 4, 0, 0, 0, 0, ?)",
            (b'{"content":"the old lighthouse"}',),
        )

    result = run("reindex", "--data", str(data))

    assert (result.exit_code, result.stdout) == (0, "messages indexed: 1\n")
    connection = apsw.Connection(str(data / "moothall.sqlite3"))
    assert connection.execute("SELECT rowid FROM message_index WHERE message_index MATCH 'lighthouse'").fetchall() == [
        (2,)
    ]
    connection.close()


def test_reindex_refuses_while_a_server_serves(data: Path) -> None:
    with serving_alone(data / "moothall.sqlite3"):
        line = failed(run("reindex", "--data", str(data)))

    assert "another server serves" in line


def test_migrate_works_on_the_database_that_a_url_names(tmp_path: Path) -> None:
    path = tmp_path / "other.db"

    assert run("migrate", env={"MOOTHALL_DATABASE_URL": f"sqlite:///{path}"}).exit_code == 0
    assert path.exists()


def test_a_database_that_cannot_be_reached_ends_the_program_with_1_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")

    for result in (
        run("migrate", "--data", str(tmp_path / "data")),
        run("migrate", "--database-url", "postgresql://nobody@127.0.0.1:1/none"),
    ):
        assert failed(result).startswith("moothall: ")


def test_a_backup_of_an_open_database_holds_what_was_committed_and_is_for_its_owner_only(
    data: Path, tmp_path: Path
) -> None:
    async def with_a_server_running() -> Result:
        database = SqliteDatabase(data / "moothall.sqlite3")
        await database.open()
        try:
            remember(data, "hello")
            return await asyncio.to_thread(run, "backup", "--data", str(data), str(tmp_path / "copy"))
        finally:
            await database.close()

    result = asyncio.run(with_a_server_running())

    assert result.exit_code == 0, result.output
    assert remembered(tmp_path / "copy") == ["hello"]
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600


def test_restoring_a_backup_brings_back_what_it_held(data: Path, tmp_path: Path) -> None:
    remember(data, "kept")
    run("backup", "--data", str(data), str(tmp_path / "copy"))
    remember(data, "forgotten")

    assert run("restore", "--data", str(data), str(tmp_path / "copy")).exit_code == 0
    assert remembered(data / "moothall.sqlite3") == ["kept"]


def test_a_backup_can_be_restored_where_nothing_was_before(data: Path, tmp_path: Path) -> None:
    remember(data, "kept")
    run("backup", "--data", str(data), str(tmp_path / "copy"))

    assert run("restore", "--data", str(tmp_path / "elsewhere"), str(tmp_path / "copy")).exit_code == 0
    assert remembered(tmp_path / "elsewhere" / "moothall.sqlite3") == ["kept"]


def test_restoring_another_file_changes_nothing(data: Path, tmp_path: Path) -> None:
    remember(data, "kept")
    (tmp_path / "copy").write_text("no database")

    assert "copy" in failed(run("restore", "--data", str(data), str(tmp_path / "copy")))
    assert "copy" in failed(run("restore", "--data", str(data), str(tmp_path / "no copy")))
    assert remembered(data / "moothall.sqlite3") == ["kept"]


def test_restoring_under_a_running_server_is_refused(data: Path, tmp_path: Path) -> None:
    remember(data, "kept")
    run("backup", "--data", str(data), str(tmp_path / "copy"))

    async def with_a_server_running() -> Result:
        database = SqliteDatabase(data / "moothall.sqlite3")
        await database.open()
        try:
            return await asyncio.to_thread(run, "restore", "--data", str(data), str(tmp_path / "copy"))
        finally:
            await database.close()

    assert "in use" in failed(asyncio.run(with_a_server_running()))
    assert remembered(data / "moothall.sqlite3") == ["kept"]


def test_the_database_is_not_backed_up_onto_itself(data: Path) -> None:
    assert "itself" in failed(run("backup", "--data", str(data), str(data / "moothall.sqlite3")))


@pytest.mark.parametrize(("command", "instead"), [("backup", "pg_dump"), ("restore", "pg_restore")])
def test_copies_of_postgresql_are_left_to_its_own_tools(command: str, instead: str, tmp_path: Path) -> None:
    result = run(command, "--database-url", "postgresql://host/name", str(tmp_path / "copy"))

    assert instead in failed(result)
