"""The notation for tables in revisions.

    create_tables({"stage_instances (id)": "id whole, guild_id whole, topic text, discoverable flag"})

The heading names the table and its primary key. A column is written as "name kind", with a question
mark if it may be NULL, and in `add_columns` with "= value" for existing rows.
A revision is frozen: neither it nor this module depends on the present schema.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

_KINDS: dict[str, sa.types.TypeEngine[Any]] = {
    "whole": sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    "text": sa.Text(),
    "code": sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
    "flag": sa.Boolean(),
    "bytes": sa.LargeBinary(),
}
"""`code` is text in code point order."""


def create_tables(tables: Mapping[str, str], *, counted: Collection[str] = ()) -> None:
    """Create tables; those in `counted` have an automatic row number as primary key."""
    for heading, listed in tables.items():
        name, key = _heading(heading)
        columns = [_column(text, counts=name in counted) for text in re.split(r",\s*", listed.strip())]
        clustered = len(key) > 1 or str(columns[0].type) not in {"BIGINT", "INTEGER"}
        options = {"sqlite_with_rowid": False} if clustered else {}
        op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"), **options)


def create_clustered_tables(tables: Mapping[str, str]) -> None:
    """Create tables that are clustered by a single id, which `create_tables` would not cluster."""
    for heading, listed in tables.items():
        name, key = _heading(heading)
        columns = [_column(text, counts=False) for text in re.split(r",\s*", listed.strip())]
        op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"), sqlite_with_rowid=False)


def create_indexes(headings: Iterable[str]) -> None:
    """Create indexes, each written as "table (column, column)", or "unique table (column)"."""
    for heading in headings:
        table, covered = _heading(heading.removeprefix("unique "))
        op.create_index(f"ix_{table}_{'_'.join(covered)}", table, covered, unique=heading.startswith("unique "))


def add_columns(tables: Mapping[str, str]) -> None:
    """Add columns, "name kind? " or "name kind = default", to existing tables."""
    for name, listed in tables.items():
        for text in re.split(r",\s*", listed.strip()):
            declared, _, default = text.partition(" = ")
            column = _column(declared, counts=False)
            if default:
                flags = {"true": sa.true(), "false": sa.false()}
                column.server_default = sa.DefaultClause(flags.get(default, sa.text(default)))
            op.add_column(name, column)


def drop_tables(tables: Mapping[str, str]) -> None:
    """Undo `create_tables`."""
    for heading in reversed(list(tables)):
        op.drop_table(_heading(heading)[0])


def _heading(text: str) -> tuple[str, list[str]]:
    name, _, listed = text.removesuffix(")").partition(" (")
    return name, listed.split(", ")


def _column(text: str, *, counts: bool) -> sa.Column[Any]:
    name, kind = text.split()
    counts = counts and name == "id"
    return sa.Column(name, _KINDS[kind.removesuffix("?")], nullable=kind.endswith("?"), autoincrement=counts)
