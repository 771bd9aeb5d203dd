"""Compiles statements of SQLAlchemy Core. Imported where a statement is not stored (`storage.statement_store`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import Column, Insert, Table, Update, UpdateBase, case
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import ClauseElement, ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import GenerativeSelect, SelectBase
from sqlalchemy.sql.visitors import iterate

from moothall.storage.columns import MEDIA_FOLDERS, InList, reads, writes
from moothall.storage.schema import metadata
from moothall.storage.statements.deferred import evaluate
from moothall.storage.statements.statement import ByDialect, ColumnFacts, CompiledStatement, Parameter, TableFacts

_REQUIRED: Any = msgspec.UNSET


def upsert(
    table: Table,
    *,
    key: Sequence[str],
    update: Sequence[str] | Mapping[str, ColumnElement[Any]] = (),
    rising: Sequence[str] = (),
    returning: Sequence[ColumnElement[Any]] = (),
) -> ByDialect:
    """INSERT one row, or UPDATE the one that has its key.

    `update` names the columns that take the new row's values, or maps columns to expressions over
    the old row (`{"count": counts.c.count + 1}`). Those of `rising` take the new value unless the old
    one is greater. Values are bound by column name.
    """

    def build(dialect: str) -> ClauseElement:
        statement = _insert(dialect)(table)
        new = statement.excluded
        changes: dict[str, Any] = dict(update) if isinstance(update, Mapping) else {name: new[name] for name in update}
        changes.update({name: case((table.c[name] > new[name], table.c[name]), else_=new[name]) for name in rising})
        statement = statement.on_conflict_do_update(index_elements=list(key), set_=changes)
        return _returning(statement, returning)

    return ByDialect(build)


def insert_ignore(table: Table, *, key: Sequence[str], returning: Sequence[ColumnElement[Any]] = ()) -> ByDialect:
    """INSERT one row, or nothing if its key exists: `execute` then returns 0. Values are bound by column name."""

    def build(dialect: str) -> ClauseElement:
        statement = _insert(dialect)(table).on_conflict_do_nothing(index_elements=list(key))
        return _returning(statement, returning)

    return ByDialect(build)


def compile_statement(statement: Any, dialect: str, *, cacheable: bool) -> CompiledStatement:
    """Compile a statement, recorded or not, for "sqlite" or "postgresql".

    Of a `cacheable` one it is noted which columns it reads.
    """
    statement = evaluate(statement)
    if isinstance(statement, ByDialect):
        return compile_statement(statement.build(dialect), dialect, cacheable=cacheable)
    options: dict[str, Any] = {"compile_kwargs": {"render_postcompile": True}}
    inserted = _inserted_columns(statement)
    if inserted:
        options["column_keys"] = list(inserted)
    compiled = statement.compile(dialect=sql_dialect(dialect), **options)
    if not isinstance(compiled, SQLCompiler):
        raise TypeError(f"not a statement that can be run: {statement}")
    columns = getattr(statement, "exported_columns", ())
    return CompiledStatement(
        compiled.string,
        list(_parameters(compiled, inserted, dialect)),
        [(str(getattr(column, "name", "")), reads(column.type, dialect)) for column in columns],
        str(statement.table.name) if isinstance(statement, UpdateBase) and isinstance(statement.table, Table) else None,
        _columns_set(statement),
        _columns_read(statement) if cacheable else None,
        only_reads=_only_reads(statement),
        in_one_table=_is_in_one_table(statement, compiled),
    )


def table_facts() -> dict[str, TableFacts]:
    """The facts of every table of the schema, by name."""
    return {str(name): facts_of_table(table) for name, table in metadata.tables.items()}


def facts_of_table(table: Table) -> TableFacts:
    """The facts of one table."""
    media = {
        str(column.name): list(column.info[MEDIA_FOLDERS]) for column in table.columns if MEDIA_FOLDERS in column.info
    }
    return TableFacts(
        columns={
            str(column.name): ColumnFacts(reads(column.type, "sqlite"), writes(column.type, "sqlite"))
            for column in table.columns
        },
        key=[str(column.name) for column in table.primary_key.columns],
        media=media,
    )


@cache
def sql_dialect(name: str) -> Dialect:
    """The SQLAlchemy dialect that compiles statements for "sqlite" or "postgresql"."""
    # Imported when needed: a server on SQLite does not load PostgreSQL's.
    if name == "sqlite":
        from sqlalchemy.dialects.sqlite.base import SQLiteDialect  # noqa: PLC0415

        dialect: Dialect = SQLiteDialect(paramstyle="qmark")
    else:
        from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg  # noqa: PLC0415

        dialect = PGDialect_asyncpg()  # type: ignore[no-untyped-call]
    dialect.statement_compiler = type("Compiler", (_Compiler, dialect.statement_compiler), {})
    return dialect


class _Compiler(SQLCompiler):
    """Compiles statements whose parameters are not known yet, with lists of constants written out."""

    def construct_params(self, *arguments: Any, **options: Any) -> Any:
        options["_check"] = False
        return super().construct_params(*arguments, **options)


def _insert(dialect: str) -> Callable[[Table], Any]:
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert  # noqa: PLC0415

        return sqlite_insert
    from sqlalchemy.dialects.postgresql import insert as postgresql_insert  # noqa: PLC0415

    return postgresql_insert


def _returning(statement: Any, columns: Sequence[ColumnElement[Any]]) -> ClauseElement:
    changed: ClauseElement = statement.returning(*columns) if columns else statement
    return changed


def _columns_set(statement: ClauseElement) -> list[str] | None:
    values = getattr(statement, "_values", None) if isinstance(statement, Update) else None
    return sorted(str(getattr(column, "key", column)) for column in values) if values else None


def _columns_read(statement: Any) -> dict[str, list[str]] | None:
    """The columns that a SELECT reads, by table; None for other statements, and for those with lists or aliases."""
    if isinstance(statement, UpdateBase):
        return None
    columns: dict[str, set[str]] = {}
    selected = (base for column in statement.exported_columns for base in column.base_columns)
    for element in chain(selected, iterate(statement)):
        if isinstance(element, InList):
            return None
        if isinstance(element, Column):
            table: object = element.table
            if not isinstance(table, Table):
                return None
            columns.setdefault(str(table.name), set()).add(str(element.name))
    return {table: sorted(names) for table, names in columns.items()}


def _only_reads(statement: ClauseElement) -> bool:
    """Whether a statement is a SELECT that locks no row."""
    selects = [each for each in iterate(statement) if isinstance(each, GenerativeSelect)]
    return isinstance(statement, SelectBase) and all(each._for_update_arg is None for each in selects)  # noqa: SLF001


def _is_in_one_table(statement: ClauseElement, compiled: SQLCompiler) -> bool:
    """Whether a statement is an INSERT or UPDATE of one table that reads no other one, and returns nothing."""
    if not isinstance(statement, Insert | Update) or compiled.effective_returning:
        return False
    elements = list(iterate(statement))
    tables = {each.table for each in elements if isinstance(each, Column)}
    # `excluded` of an upsert is an alias of the table.
    is_alone = all(table.is_derived_from(statement.table) for table in tables)
    return is_alone and not any(isinstance(each, SelectBase) for each in elements)


def _inserted_columns(statement: ClauseElement) -> dict[str, Any]:
    """The columns of an INSERT .. VALUES that are parameters, with the value that stands for a missing one."""
    if not isinstance(statement, Insert) or statement.select is not None:
        return {}
    table = statement.table
    if not isinstance(table, Table):
        return {}
    missing: dict[str, object] = {}
    for column in table.columns:
        if column is table.autoincrement_column:
            continue
        if column.default is not None and column.default.is_scalar:
            missing[column.name] = column.default.arg
        else:
            missing[column.name] = None if column.nullable else _REQUIRED
    return missing


def _parameters(compiled: SQLCompiler, inserted: dict[str, Any], dialect: str) -> Iterator[Parameter]:
    for name in compiled.positiontup or ():
        bind = compiled.binds.get(name)
        if bind is None:  # an item of a constant list
            yield Parameter(str(name), required=False, missing=compiled.params[name])
            continue
        missing = _REQUIRED if bind.required and bind.value is None else bind.effective_value
        missing = inserted.get(name, missing)
        converter = writes(bind.type, dialect)
        if missing is _REQUIRED:
            yield Parameter(str(name), converter)
        else:
            yield Parameter(str(name), converter, required=False, missing=missing)
