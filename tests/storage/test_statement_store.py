"""Statements that are compiled beforehand: the same as those that are compiled when they are used."""

import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moothall.storage.database import Database
from moothall.storage.query import Query, update_columns
from moothall.storage.schema import metadata
from moothall.storage.sql import bindparam, select
from moothall.storage.statements import store as statement_store
from moothall.storage.statements.compilation import compile_statement, table_facts
from moothall.storage.statements.deferred import Deferred, evaluate
from moothall.storage.statements.statement import CompiledStatement
from moothall.storage.statements.store import DIALECTS, StatementRecorder, compiled_statement, write_statements
from moothall.storage.tables import bans, scheduled_events, table_named

ROOT = Path(__file__).parents[2]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for files of statements, which is empty."""

    def path(dialect: str) -> Path:
        return tmp_path / f"statements_{dialect}.msgpack"

    monkeypatch.setattr(statement_store, "stored_path", path)
    statement_store.stored_statements.cache_clear()
    yield tmp_path
    statement_store.stored_statements.cache_clear()


@pytest.fixture
def compiled_late(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The dialects for which a statement is compiled when it is used."""
    dialects: list[str] = []

    def compile_late(statement: Any, dialect: str, *, cacheable: bool) -> CompiledStatement:
        dialects.append(dialect)
        return compile_statement(statement, dialect, cacheable=cacheable)

    monkeypatch.setattr("moothall.storage.statements.compilation.compile_statement", compile_late)
    return dialects


def of_user() -> Any:
    return select(bans.c.reason).where(bans.c.user_id == bindparam("user_id"))


def store_one(statement: Any) -> StatementRecorder:
    """Write files with a single statement."""
    with StatementRecorder() as recorder:
        statement_store.stored_statements.cache_clear()
        query = Query(lambda: statement)
        for dialect in DIALECTS:
            query.plan(dialect)
    statement_store.stored_statements.cache_clear()
    write_statements(recorder, table_facts(), "sources")
    return recorder


def test_every_query_of_the_program_is_stored_as_it_would_be_compiled() -> None:
    """The build's own program, in a process of its own: its queries are those of all modules."""
    script = """
import sys
sys.path.insert(0, "tools")
from compile_statements import record
from moothall.storage.statements.deferred import Deferred
from moothall.storage.statements.statement import CompiledStatement
from moothall.storage.statements.store import statement_key, stored_statements, _decode_statement
recorder = record()
for query in recorder.queries:
    statement = query.statement("sqlite")
    assert isinstance(statement, CompiledStatement) or statement_key(statement, cacheable=query.cacheable), statement
stored_statements.cache_clear()
for dialect, statements in recorder.statements.items():
    stored = stored_statements(dialect).statements
    assert stored.keys() == statements.keys()
    for key, statement in statements.items():
        assert _decode_statement(stored[key]) == statement, statement.text
print(len(recorder.queries))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, f"run `make statements`\n{done.stderr}"
    assert int(done.stdout) > 900


@pytest.mark.usefixtures("files")
def test_a_stored_statement_is_not_compiled_again(compiled_late: list[str]) -> None:
    recorder = store_one(of_user())
    compiled_late.clear()
    for dialect in DIALECTS:
        (expected,) = recorder.statements[dialect].values()
        assert compiled_statement(of_user(), dialect, cacheable=False) == expected
    assert compiled_late == []


@pytest.mark.usefixtures("files")
def test_a_statement_that_was_changed_is_compiled(compiled_late: list[str]) -> None:
    store_one(of_user())
    compiled_late.clear()
    changed = of_user().order_by(bans.c.user_id)
    assert "ORDER BY" in compiled_statement(changed, "sqlite", cacheable=False).text
    assert compiled_late == ["sqlite"]


@pytest.mark.usefixtures("files")
def test_files_of_another_schema_are_not_used(compiled_late: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    store_one(of_user())
    monkeypatch.setattr(statement_store, "fingerprint", lambda: "another")
    statement_store.stored_statements.cache_clear()
    compiled_late.clear()
    compiled_statement(of_user(), "sqlite", cacheable=False)
    assert compiled_late == ["sqlite"]


def test_a_changed_column_changes_the_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = tmp_path / "storage"
    shutil.copytree(Path(statement_store.__file__).parents[1], copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(statement_store, "_HERE", copied / "statements")
    statement_store.fingerprint.cache_clear()
    before = statement_store.fingerprint()
    with (copied / "schema" / "members.py").open("a") as file:
        file.write("# changed\n")
    statement_store.fingerprint.cache_clear()
    assert statement_store.fingerprint() != before
    monkeypatch.undo()
    statement_store.fingerprint.cache_clear()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x81\xa1a\x01"])
def test_a_damaged_file_is_not_used(compiled_late: list[str], content: bytes) -> None:
    for dialect in DIALECTS:
        statement_store.stored_path(dialect).write_bytes(content)
    compiled_statement(of_user(), "sqlite", cacheable=False)
    assert compiled_late == ["sqlite"]


@pytest.mark.usefixtures("files")
def test_a_statement_whose_rows_may_be_cached_is_stored_apart() -> None:
    statement = of_user()
    assert isinstance(statement, Deferred)
    keys = {statement_store.statement_key(statement, cacheable=cacheable) for cacheable in (False, True)}
    assert len(keys) == 2
    assert compiled_statement(of_user(), "sqlite", cacheable=True).reads == {"bans": ["reason", "user_id"]}


def test_the_facts_of_tables_are_those_of_the_schema() -> None:
    facts = statement_store.table_facts()
    assert list(facts) == list(metadata.tables)
    for name, table in metadata.tables.items():
        assert list(facts[name].columns) == [column.name for column in table.columns]
        assert facts[name].key == [column.name for column in table.primary_key.columns]


def test_each_table_is_named_in_the_schema_as_in_the_database() -> None:
    for name in metadata.tables:
        assert evaluate(table_named(name)) is metadata.tables[name]


async def test_a_column_can_be_set_and_be_part_of_the_key(database: Database) -> None:
    """The new value of a column is bound by another name than the one that it is compared with."""
    change = update_columns(
        scheduled_events, key=("guild_id", "id", "status"), columns=frozenset({"status", "name"}), new="new_"
    )
    async with database.transaction() as tx:
        changed = await tx.execute(change, guild_id=1, id=2, status=1, new_status=2, new_name="moot")
    assert changed == 0
    for dialect in DIALECTS:
        plan = change.plan(dialect)
        values = itertools.count(1)
        assert plan.bind({"new_name": 1, "new_status": 2, "guild_id": 3, "id": 4, "status": 5}) == tuple(
            next(values) for _ in range(5)
        )
        assert plan.changes == "scheduled_events"
        assert plan.sets == frozenset({"status", "name"})
