"""The one MetaData that all tables belong to, and what they share."""

from typing import Any

from sqlalchemy import Index, MetaData, Table
from sqlalchemy.sql.schema import SchemaItem

from moothall.storage.columns import key_column, text_column

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every table of Moothall."""


def table(name: str, *items: SchemaItem) -> Table:
    """A table whose rows are found by an id of their own, or are few."""
    return Table(name, metadata, *items)


def clustered(name: str, *items: SchemaItem) -> Table:
    """A table whose rows lie in the order of their primary key: all of one owner's are one range scan."""
    return Table(name, metadata, *items, sqlite_with_rowid=False)


def index(*columns: str, unique: bool = False, **options: Any) -> Index:
    """An index over columns of the table that it is given to, named after them."""
    return Index(None, *columns, unique=unique, **options)


meta = clustered("meta", key_column("key", key=True), text_column("value", nullable=False))
"""Facts about this database: the server's key, what the demo made."""
