"""The names that queries are written with: those of SQLAlchemy Core, and functions of ours that build statements.

To the type checker they are the real ones. When the program runs, what is done with them is recorded, and evaluated
only if a statement has to be compiled (`storage.deferred`).
"""

from typing import TYPE_CHECKING, Any

from moothall.storage.statements.deferred import deferred_name

if TYPE_CHECKING:
    from sqlalchemy import (
        ARRAY,
        BigInteger,
        BindParameter,
        Column,
        ColumnElement,
        Delete,
        Insert,
        Select,
        Table,
        Text,
        and_,
        bindparam,
        case,
        cast,
        delete,
        exists,
        false,
        func,
        insert,
        literal,
        literal_column,
        not_,
        null,
        or_,
        select,
        table,
        text,
        true,
        tuple_,
        type_coerce,
        union,
        union_all,
        update,
    )
    from sqlalchemy.sql import ClauseElement

    from moothall.storage.columns import SnowflakeColumn, TimestampColumn, has_prefix, in_list
    from moothall.storage.statements.compilation import insert_ignore, upsert
else:
    _OURS = {
        "SnowflakeColumn": "columns",
        "TimestampColumn": "columns",
        "has_prefix": "columns",
        "in_list": "columns",
        "insert_ignore": "statements.compilation",
        "upsert": "statements.compilation",
    }

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(name)
        if name in _OURS:
            return deferred_name(f"moothall.storage.{_OURS[name]}", name)
        return deferred_name("sqlalchemy", name)


__all__ = [
    "ARRAY",
    "BigInteger",
    "BindParameter",
    "ClauseElement",
    "Column",
    "ColumnElement",
    "Delete",
    "Insert",
    "Select",
    "SnowflakeColumn",
    "Table",
    "Text",
    "TimestampColumn",
    "and_",
    "bindparam",
    "case",
    "cast",
    "delete",
    "exists",
    "false",
    "func",
    "has_prefix",
    "in_list",
    "insert",
    "insert_ignore",
    "literal",
    "literal_column",
    "not_",
    "null",
    "or_",
    "select",
    "table",
    "text",
    "true",
    "tuple_",
    "type_coerce",
    "union",
    "union_all",
    "update",
    "upsert",
]
