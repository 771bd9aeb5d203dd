"""Statements compiled for one dialect, as they are stored: text and names only, without what runs them."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct


class Parameter(Struct, frozen=True, array_like=True, omit_defaults=True):
    """A place in the text of a statement that takes a value."""

    name: str
    writes: str | None = None
    """The name of the converter of its value (`storage.converters`)."""
    required: bool = True
    missing: Any = None
    """The value where none is passed, unless it is required."""


class CompiledStatement(Struct, frozen=True, array_like=True, omit_defaults=True):
    """A statement compiled for one dialect."""

    text: str
    parameters: list[Parameter]
    columns: list[tuple[str, str | None]]
    """The name of each selected column, and of the converter of its values."""
    changes: str | None = None
    """The table that the statement writes; None for one that only reads, or is only text."""
    sets: list[str] | None = None
    """The columns that an UPDATE sets; None for a statement that writes whole rows."""
    reads: dict[str, list[str]] | None = None
    """The columns that it reads, by table; None if its rows are not cached."""
    only_reads: bool = False
    """Whether it changes and locks nothing."""
    in_one_table: bool = False
    """Whether it is an INSERT or UPDATE of one table that reads no other one, and returns nothing."""


class ColumnFacts(Struct, frozen=True, array_like=True):
    """What is known of a column without SQLAlchemy: the names of its converters on SQLite."""

    reads: str | None
    writes: str | None


class TableFacts(Struct, frozen=True):
    """What is known of a table without SQLAlchemy."""

    columns: dict[str, ColumnFacts]
    """The columns in order."""
    key: list[str]
    """The columns of the primary key."""
    media: dict[str, list[str]]
    """The folders of the blob store whose files a column names, of media columns."""


class ByDialect:
    """A statement with a different form for each dialect, as of `upsert` and `insert_ignore`."""

    __slots__ = ("build",)

    def __init__(self, build: Callable[[str], Any]) -> None:
        self.build = build
