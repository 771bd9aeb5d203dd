"""The MetaData of all tables, and functions to define tables."""

from typing import Any

from sqlalchemy import Column, ColumnElement, Index, MetaData, Table
from sqlalchemy.sql.schema import SchemaItem

from moothall.storage.columns import MEDIA_FOLDERS, key_column, text_column

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every table of Moothall."""


def table(name: str, *items: SchemaItem) -> Table:
    """A table that is selected by its own id, or is small."""
    return with_media_indexes(Table(name, metadata, *items))


def clustered(name: str, *items: SchemaItem) -> Table:
    """A table clustered by its primary key: the rows of one owner are one range scan."""
    return with_media_indexes(Table(name, metadata, *items, sqlite_with_rowid=False))


def with_media_indexes(described: Table) -> Table:
    """Index the media columns of a table, without rows that name nothing."""
    for column in described.columns:
        if MEDIA_FOLDERS in column.info:
            named = column.is_not(None)
            partial_index(f"ix_{described.name}_{column.name}", column, where=named)
    return described


def partial_index(name: str, *columns: Column[Any], where: ColumnElement[bool], unique: bool = False) -> Index:
    """An index over the rows that fulfil a condition.

    Naming the condition for PostgreSQL here would import that dialect at every start; `create_statements` adds it.
    """
    return Index(name, *columns, unique=unique, sqlite_where=where)


def index(*columns: str, unique: bool = False, **options: Any) -> Index:
    """An index over columns of a table, named after them."""
    return Index(None, *columns, unique=unique, **options)


meta = clustered("meta", key_column("key", key=True), text_column("value", nullable=False))
"""Values of this installation: the server's key, the demo."""
