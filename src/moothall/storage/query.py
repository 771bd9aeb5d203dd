"""Queries: SQLAlchemy Core statements, compiled once for each dialect and run by the drivers.

The first run compiles a statement to the dialect's text, the order of its parameters and the conversions of its
columns; later runs use the result.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar, overload

import msgspec
from sqlalchemy import Column, Insert, Table, Update, UpdateBase, and_, bindparam, case, update
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import ClauseElement, ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.visitors import iterate

from moothall.storage.columns import Converter, InList, reads, writes

T = TypeVar("T")
S = TypeVar("S")
Row = tuple[Any, ...]

_REQUIRED: Any = msgspec.UNSET


class ByDialect:
    """A statement with a different form for each dialect, as of `upsert` and `insert_ignore`."""

    __slots__ = ("build",)

    def __init__(self, build: Callable[[str], ClauseElement]) -> None:
        self.build = build


Statement = ClauseElement | ByDialect


class Plan(NamedTuple):
    """A query compiled for one dialect."""

    text: str
    bind: Callable[[dict[str, Any]], Row]
    """Converts named values to the driver's parameters. Raises TypeError if one is missing or unknown."""
    make: Callable[[Sequence[Any]], Any] | None
    """Converts a driver's row to the query's; None if they are the same."""
    read_first: Converter | None
    """Converts the first column, for `scalar`."""
    changes: str | None
    """The table that the statement writes; None for one that only reads."""
    sets: frozenset[str] | None = None
    """The columns that an UPDATE sets; None for a statement that writes whole rows."""
    reads: "ColumnsRead | None" = None
    """What a kept query reads; None for a query whose rows are not kept."""


class ColumnsRead:
    """The columns that a kept query reads, by table. Each query has its own object, which stands for it."""

    __slots__ = ("by_table",)

    def __init__(self, by_table: Mapping[str, frozenset[str]]) -> None:
        self.by_table = by_table


class Query(Generic[T]):
    """A statement and the struct that its rows become.

    Modules write `Query(lambda: select(...))`: a statement is built when the query is compiled. To build all of them
    would make every start some five percent slower.

    `into` has the selected columns as its fields, by name and in order, which is checked when the
    query is compiled (TypeError). Without it rows are plain tuples of the driver's values: the
    fastest, but a JSON column is then text and a boolean of SQLite a number.

    An INSERT without VALUES takes every column of its table as a parameter; one that has a default
    or may be NULL can be left out.

    `then` makes of such a struct what the query returns, an object of the API for example.

    The rows of a `kept` query are kept where one process writes, for the transactions that follow, until a statement
    changes a column that it reads. They are tuples, frozen structs, or what `then` makes of others. It costs a
    look-up where no rows are kept, and another one for each write of its tables.
    """

    __slots__ = ("_into", "_kept", "_statement", "_then", "postgresql", "sqlite")

    @overload
    def __init__(self: "Query[Row]", statement: Statement | Callable[[], Statement], *, kept: bool = False) -> None: ...
    @overload
    def __init__(
        self, statement: Statement | Callable[[], Statement], into: type[T], *, kept: bool = False
    ) -> None: ...
    @overload
    def __init__(
        self,
        statement: Statement | Callable[[], Statement],
        into: type[S],
        *,
        then: Callable[[S], T],
        kept: bool = False,
    ) -> None: ...
    def __init__(
        self,
        statement: Statement | Callable[[], Statement],
        into: type[Any] | None = None,
        *,
        then: Callable[[Any], Any] | None = None,
        kept: bool = False,
    ) -> None:
        self._statement = statement
        self._into = into
        self._then = then
        self._kept = kept
        self.sqlite: Plan | None = None
        self.postgresql: Plan | None = None

    def plan(self, dialect: str) -> Plan:
        """The query compiled for "sqlite" or "postgresql"; compiled at the first call."""
        plan: Plan | None = getattr(self, dialect)
        if plan is None:
            statement = self._statement() if callable(self._statement) else self._statement
            plan = _compile(statement, self._into, dialect)
            if self._then is not None and plan.make is not None:
                plan = plan._replace(make=_composed(plan.make, self._then))
            if self._kept:
                plan = plan._replace(reads=_columns_read(statement, self._into if self._then is None else None))
            setattr(self, dialect, plan)
        return plan


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


@cache
def update_columns(table: Table, *, key: tuple[str, ...], columns: frozenset[str]) -> Query[Row]:
    """The query that sets some columns of the row with a key, for partial updates.

    Values and key are bound by column name; each set of columns is compiled once.
    """
    matches = and_(*(table.c[name] == bindparam(name) for name in key))
    return Query(update(table).where(matches).values({name: bindparam(name) for name in sorted(columns)}))


def ddl_dialect(name: str) -> Dialect:
    """The SQLAlchemy dialect that compiles statements for "sqlite" or "postgresql"."""
    return _dialect(name)


@cache
def _dialect(name: str) -> Dialect:
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


def _compile(statement: ClauseElement | ByDialect, into: type[Any] | None, dialect: str) -> Plan:
    if isinstance(statement, ByDialect):
        statement = statement.build(dialect)
    options: dict[str, Any] = {"compile_kwargs": {"render_postcompile": True}}
    inserted = _inserted_columns(statement)
    if inserted:
        options["column_keys"] = list(inserted)
    compiled = statement.compile(dialect=_dialect(dialect), **options)
    if not isinstance(compiled, SQLCompiler):
        raise TypeError(f"not a statement that can be run: {statement}")
    converters = _row_converters(statement, into, dialect)
    return Plan(
        compiled.string,
        _binder(compiled, inserted, dialect),
        _row_maker(into, converters) if into is not None else None,
        converters[0] if converters else None,
        statement.table.name if isinstance(statement, UpdateBase) and isinstance(statement.table, Table) else None,
        _columns_set(statement),
    )


def _composed(make: Callable[[Sequence[Any]], Any], then: Callable[[Any], Any]) -> Callable[[Sequence[Any]], Any]:
    return lambda row: then(make(row))


def _columns_set(statement: ClauseElement) -> frozenset[str] | None:
    values = getattr(statement, "_values", None) if isinstance(statement, Update) else None
    return frozenset(getattr(column, "key", column) for column in values) if values else None


def _columns_read(statement: Any, into: type[Any] | None) -> ColumnsRead:
    """The columns of a kept query by table. Raises TypeError for a query whose rows cannot be kept."""
    if into is not None and not into.__struct_config__.frozen:
        raise TypeError(f"{into.__name__} is not frozen: its rows cannot be kept")
    columns: dict[str, set[str]] = {}
    selected = (base for column in statement.exported_columns for base in column.base_columns)
    for element in chain(selected, iterate(statement)):
        if isinstance(element, InList):
            raise TypeError("rows are kept by single values, not by lists")
        if isinstance(element, Column):
            if not isinstance(element.table, Table):
                raise TypeError("a kept query reads tables, without aliases")
            columns.setdefault(element.table.name, set()).add(element.name)
    return ColumnsRead({table: frozenset(names) for table, names in columns.items()})


def _inserted_columns(statement: ClauseElement) -> dict[str, Any]:
    """The columns of an INSERT .. VALUES that are parameters, with the value that stands for a missing one."""
    if not isinstance(statement, Insert) or statement.select is not None:
        return {}
    table = statement.table
    if not isinstance(table, Table):
        return {}
    missing: dict[str, Any] = {}
    for column in table.columns:
        if column is table.autoincrement_column:
            continue
        if column.default is not None and column.default.is_scalar:
            missing[column.name] = column.default.arg
        else:
            missing[column.name] = None if column.nullable else _REQUIRED
    return missing


def _binder(compiled: SQLCompiler, inserted: dict[str, Any], dialect: str) -> Callable[[dict[str, Any]], Row]:
    slots: list[tuple[str, Any, Converter | None]] = []
    for name in compiled.positiontup or ():
        bind = compiled.binds.get(name)
        if bind is None:  # an item of a constant list
            slots.append((name, compiled.params[name], None))
            continue
        missing = _REQUIRED if bind.required and bind.value is None else bind.effective_value
        slots.append((name, inserted.get(name, missing), writes(bind.type, dialect)))
    if not slots:
        return _bind_nothing
    names = [name for name, _, _ in slots]
    missing = {name: value for name, value, _ in slots if value is not _REQUIRED}
    return _bind_all(names, missing, [(at, write) for at, (_, _, write) in enumerate(slots) if write is not None])


def _bind_nothing(values: dict[str, Any]) -> Row:
    if values:
        raise TypeError(f"the query takes no parameters, got {', '.join(values)}")
    return ()


def _bind_all(
    names: list[str], missing: dict[str, Any], writers: list[tuple[int, Converter]]
) -> Callable[[dict[str, Any]], Row]:
    known, count, single = set(names), len(set(names)), len(names) == 1
    required = known - missing.keys()
    pick: Callable[[dict[str, Any]], Any] = itemgetter(*names)

    def bind(values: dict[str, Any]) -> Row:
        bound = {**missing, **values} if missing else values
        if len(bound) != count:
            raise _mismatch(required, known, values)
        try:
            row: Row = (pick(bound),) if single else pick(bound)
        except KeyError:  # one missing, another too many
            raise _mismatch(required, known, values) from None
        if not writers:
            return row
        changed = list(row)
        for at, write in writers:
            if changed[at] is not None:
                changed[at] = write(changed[at])
        return tuple(changed)

    return bind


def _mismatch(required: set[str], known: set[str], values: dict[str, Any]) -> TypeError:
    wrong = [f"missing {name}" for name in sorted(required - values.keys())]
    wrong += [f"unknown {name}" for name in sorted(values.keys() - known)]
    return TypeError(f"the query's parameters do not fit: {', '.join(wrong)}")


def _row_converters(statement: ClauseElement, into: type[Any] | None, dialect: str) -> list[Converter | None]:
    columns = list(getattr(statement, "exported_columns", ()))
    if into is not None:
        names, fields = tuple(column.name for column in columns), into.__struct_fields__
        if names != fields:
            raise TypeError(f"{into.__name__} has the fields {fields}, the query selects {names}")
    return [reads(column.type, dialect) for column in columns]


def _row_maker(into: type[Any], converters: list[Converter | None]) -> Callable[[Sequence[Any]], Any]:
    needed = [(index, convert) for index, convert in enumerate(converters) if convert is not None]

    def make(row: Sequence[Any]) -> Any:
        values = list(row)
        for index, convert in needed:
            value = values[index]
            if value is not None:
                values[index] = convert(value)
        return into(*values)

    return make
