"""What the check of operations and queries reports."""

from pathlib import Path

import pytest

from tools.check_operations import check, check_source, main

ROOM = "src/moothall/resources/ban"


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("ctx.emit(GuildBanAdd())", "ctx.emit"),
        ("await ctx.audit(MEMBER_BAN_ADD)", "ctx.audit"),
        ("await ctx.audit_each(MEMBER_BAN_ADD, [])", "ctx.audit_each"),
        ("await ctx.audit_all([])", "ctx.audit_all"),
        ("self.context.emit(GuildBanAdd())", "self.context.emit"),
        ("announce_with(ctx.emit)", "ctx.emit"),
    ],
)
def test_announcing_and_recording_outside_operations_is_reported(line: str, use: str) -> None:
    source = f"async def ban(ctx):\n    {line}\n"

    assert check_source(source, f"{ROOM}/endpoints.py") == [f"{ROOM}/endpoints.py:2: {use}: belongs in operations"]
    assert check_source(source, f"{ROOM}/operations.py") == []
    assert check_source(source, f"{ROOM}/operations/bulk.py") == []


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import sqlalchemy", "sqlalchemy"),
        ("import sqlalchemy as sa", "sqlalchemy"),
        ("from sqlalchemy import select", "sqlalchemy"),
        ("from moothall.storage.sql import select", "moothall.storage.sql"),
        ("from moothall.storage.tables import bans", "moothall.storage.tables"),
        ("from sqlalchemy.dialects import sqlite", "sqlalchemy.dialects"),
        ("from moothall.storage.schema import bans", "moothall.storage.schema"),
        ("from moothall.storage import rows, schema", "moothall.storage.schema"),
        ("def ban():\n    from sqlalchemy import select", "sqlalchemy"),
    ],
)
def test_sql_outside_queries_is_reported(line: str, module: str) -> None:
    number = line.count("\n") + 1
    operations = f"{ROOM}/operations.py"

    assert check_source(line, operations) == [f"{operations}:{number}: import of {module}: belongs in queries"]
    assert check_source(line, f"{ROOM}/queries.py") == []
    assert check_source(line, f"{ROOM}/queries/bulk.py") == []


def test_a_file_that_only_resembles_operations_or_queries_is_neither() -> None:
    assert check_source("ctx.emit(event)", f"{ROOM}/using_operations.py") != []
    assert check_source("import sqlalchemy", f"{ROOM}/copy_queries.py") != []


def test_what_neither_announces_nor_builds_sql_is_left_alone() -> None:
    source = "entry = ctx.audit_entry(ADD, None)\nemit = 1\nfrom moothall.storage.rows import MemberRow\n"

    assert check_source(source, f"{ROOM}/rules.py") == []


def test_rooms_and_oauth2_are_checked_and_the_floors_below_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("resources/ban", "oauth2", "api"):
        (tmp_path / "src" / "moothall" / folder).mkdir(parents=True)
        (tmp_path / "src" / "moothall" / folder / "rules.py").write_text("import sqlalchemy\nctx.emit(event)\n")

    assert main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == check(tmp_path)
    assert [line.partition(": ")[0] for line in check(tmp_path)] == [
        "src/moothall/resources/ban/rules.py:1",
        "src/moothall/resources/ban/rules.py:2",
        "src/moothall/oauth2/rules.py:1",
        "src/moothall/oauth2/rules.py:2",
    ]


def test_a_clean_tree_passes_silently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tmp_path) == 0
    assert capsys.readouterr().out == ""
