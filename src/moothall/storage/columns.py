"""Column types: conversion between values and columns of either dialect.

SQLAlchemy is only asked for text. The conversion is ours (`storage.query`): a type here names with `reads(dialect)`
the converter that makes the value out of the driver's, and with `writes(dialect)` that of the opposite
(`storage.converters`); None leaves the value alone.
"""

from typing import Any, Final, NewType

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Integer,
    LargeBinary,
    Text,
    TypeDecorator,
    bindparam,
    false,
    text,
    true,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import TypeEngine

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.converters import json_reading, json_writing, write_json

MEDIA_FOLDERS: Final = "media_folders"
"""The key in the `info` of media columns."""


class _Whole(TypeDecorator[int]):
    """A 64-bit integer: BIGINT on PostgreSQL, INTEGER on SQLite, where only that name makes a key the row id."""

    impl = BigInteger
    cache_ok = True
    converter: str | None = None

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def reads(self, dialect: str) -> str | None:  # noqa: ARG002 the same on both
        """The converter from the driver's value; None if they are the same."""
        return self.converter


class WholeColumn(_Whole):
    """A plain 64-bit integer."""

    cache_ok = True


class SnowflakeColumn(_Whole):
    """An id. The kind (`GuildId`, ...) is for the reader of the schema."""

    cache_ok = True
    converter = "snowflake"

    def __init__(self, kind: NewType | type[Snowflake] = Snowflake) -> None:
        super().__init__()
        self.kind = kind


class TimestampColumn(_Whole):
    """A time in milliseconds since the Unix epoch."""

    cache_ok = True
    converter = "timestamp"


class PermissionsColumn(_Whole):
    """A set of permission bits."""

    cache_ok = True
    converter = "permissions"


class JsonColumn(TypeDecorator[Any]):
    """Any value that msgspec knows, as JSON text; NULL is None.

    A list of ids holds numbers, not strings: read several times faster, and `json_each` over it
    gives what an id column holds.
    """

    impl = Text
    cache_ok = False

    def __init__(self, kind: Any = Any) -> None:
        super().__init__()
        self.kind = kind

    def reads(self, dialect: str) -> str:  # noqa: ARG002 the same on both
        """The converter from JSON text."""
        return json_reading(self.kind)

    def writes(self, dialect: str) -> str:  # noqa: ARG002 the same on both
        """The converter to JSON text."""
        return json_writing(self.kind)


class _ListOf(TypeDecorator[Any]):
    """A list parameter of `in_list`: an array on PostgreSQL, JSON text on SQLite."""

    impl = Text
    cache_ok = False

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return Text()
        return dialect.type_descriptor(ARRAY(self.item))

    def writes(self, dialect: str) -> str:
        """The converter of a list to the driver's value."""
        return "json items" if dialect == "sqlite" else "items"


def reads(kind: TypeEngine[Any], dialect: str) -> str | None:
    """The converter from the driver's value to a column's type; None if they are the same."""
    if isinstance(kind, _Whole | JsonColumn):
        return kind.reads(dialect)
    return "bool" if isinstance(kind, Boolean) and dialect == "sqlite" else None


def writes(kind: TypeEngine[Any], dialect: str) -> str | None:
    """The converter from a parameter to the driver's value; None if they are the same."""
    return kind.writes(dialect) if isinstance(kind, JsonColumn | _ListOf) else None


def in_list(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """`column IN (...)` over a list parameter, with the same compiled text for every length.

    An empty list matches nothing. The items are integers or texts.
    """
    return InList(column, name)


class InList(ColumnElement[bool]):
    """The condition of `in_list`."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.items = bindparam(name, type_=_ListOf(column.type))

    def self_group(self, against: OperatorType | None = None) -> ColumnElement[Any]:  # noqa: ARG002
        """Return self: SQLAlchemy would append `= 1` for SQLite, which prevents the use of an index."""
        return self


@compiles(InList, "sqlite")
def _in_list_sqlite(element: InList, compiler: SQLCompiler, **options: object) -> str:
    column, items = compiler.process(element.column, **options), compiler.process(element.items, **options)
    return f"{column} IN (SELECT value FROM json_each({items}))"  # noqa: S608 both are compiled text


@compiles(InList, "postgresql")
def _in_list_postgresql(element: InList, compiler: SQLCompiler, **options: object) -> str:
    column, items = compiler.process(element.column, **options), compiler.process(element.items, **options)
    return f"{column} = ANY({items})"


def has_prefix(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Whether a `key_column` begins with a text parameter: a range scan of its index, no wildcards."""
    prefix = bindparam(name, type_=column.type)
    # No character sorts after U+10FFFF, and none is ever assigned there.
    return (column >= prefix) & (column < prefix.concat("\U0010ffff"))


def id_column(
    name: str, kind: NewType | type[Snowflake] = Snowflake, *, key: bool = False, nullable: bool = False
) -> Column[Any]:
    """A column of ids; `key` makes it part of the primary key."""
    return Column(name, SnowflakeColumn(kind), primary_key=key, nullable=nullable, autoincrement=False)


def moment_column(name: str, *, nullable: bool = False) -> Column[Timestamp]:
    """A column of times."""
    return Column(name, TimestampColumn(), nullable=nullable)


def number_column(name: str, default: int | None = 0, *, added: bool = False) -> Column[int]:
    """A column of 64-bit integers; a default of None makes it nullable.

    `added` says that a later revision than the table's own brought it: then the database knows the default too.
    """
    stored = text(str(default)) if added and default is not None else None
    return Column(name, WholeColumn(), nullable=default is None, default=default, server_default=stored)


def flag_column(name: str, *, default: bool = False, added: bool = False) -> Column[bool]:
    """A column of booleans; for `added` see `number_column`."""
    stored = (true() if default else false()) if added else None
    return Column(name, Boolean(), nullable=False, default=default, server_default=stored)


def text_column(name: str, default: str | None = None, *, nullable: bool = True) -> Column[str]:
    """A column of text."""
    return Column(name, Text(), nullable=nullable, default=default)


def media_column(name: str, *folders: str, nullable: bool = True) -> Column[str]:
    """A column of the hashes of images or sounds, stored in one of several folders of the blob store.

    The sweeper keeps what such a column names. `table` and `clustered` add an index for it.
    """
    return Column(name, Text(), nullable=nullable, info={MEDIA_FOLDERS: folders or ("images",)})


def key_column(name: str, *, key: bool = False, nullable: bool = False) -> Column[str]:
    """A column of text that is looked up or sorted, in code point order on both dialects."""
    kind = Text().with_variant(Text(collation="C"), "postgresql")
    return Column(name, kind, primary_key=key, nullable=nullable)


def json_column(
    name: str, kind: Any = Any, *, nullable: bool = True, default: Any = None, added: bool = False
) -> Column[Any]:
    """A column of JSON; with a default it is not nullable. For `added` see `number_column`."""
    stored = text(f"'{write_json(default)}'") if added and default is not None else None
    return Column(name, JsonColumn(kind), nullable=nullable and default is None, default=default, server_default=stored)


def bytes_column(name: str, *, key: bool = False, nullable: bool = False) -> Column[bytes]:
    """A column of bytes."""
    return Column(name, LargeBinary(), primary_key=key, nullable=nullable)
