"""Queries: SQLAlchemy Core statements, compiled once for each dialect and run by the drivers.

The first run takes a statement's text from those that a build has compiled, or compiles it
(`storage.statement_store`), and makes of it what binds its parameters and converts its rows; later runs use the result.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

from moothall.storage.converters import Converter, read_converter, write_converter
from moothall.storage.sql import ClauseElement, Table
from moothall.storage.statements.deferred import Deferred
from moothall.storage.statements.placeholders import for_keys
from moothall.storage.statements.statement import ByDialect, CompiledStatement, Parameter
from moothall.storage.statements.store import StatementRecorder, compiled_statement
from moothall.storage.tables import facts_of

T = TypeVar("T")
S = TypeVar("S")
Row = tuple[Any, ...]
Statement = ClauseElement | ByDialect


class Plan(NamedTuple):
    """A query compiled for one dialect."""

    text: str
    bind: Callable[[dict[str, object]], Row]
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
    """What a query reads whose rows may be cached; None for others."""
    only_reads: bool = False
    """Whether it changes and locks nothing."""
    in_one_table: bool = False
    """Whether it is an INSERT or UPDATE of one table that reads no other one, and returns nothing."""
    for_keys: str | None = None
    """The statement that reads the rows of many keys; None unless the query has a key and is for PostgreSQL."""
    key: tuple[int, ...] = ()
    """Where the query's key is among the driver's parameters."""


class ColumnsRead:
    """The columns that a query reads, by table. Each query has its own object, which stands for it."""

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

    `key` names the parameters by which an index finds the row that a statement reads or changes, or a few of them. A
    SELECT has no other parameters then. Engines read the rows of several keys together, cache those that cannot be
    changed (tuples, frozen structs, and what `then` makes) until a statement changes a column that was read, and write
    rows in the order of their keys.
    """

    __slots__ = ("_into", "_key", "_statement", "_then", "postgresql", "sqlite")

    @overload
    def __init__(
        self: "Query[Row]",
        statement: Statement | Callable[[], Statement],
        *,
        key: Sequence[str] = (),
    ) -> None: ...
    @overload
    def __init__(
        self,
        statement: Statement | Callable[[], Statement],
        into: type[T],
        *,
        key: Sequence[str] = (),
    ) -> None: ...
    @overload
    def __init__(
        self,
        statement: Statement | Callable[[], Statement],
        into: type[S],
        *,
        then: Callable[[S], T],
        key: Sequence[str] = (),
    ) -> None: ...
    def __init__(
        self,
        statement: Statement | Callable[[], Statement],
        into: type[object] | None = None,
        *,
        then: Callable[[Any], Any] | None = None,
        key: Sequence[str] = (),
    ) -> None:
        self._statement = statement
        self._key = tuple(key)
        self._into = into
        self._then = then
        self.sqlite: Plan | None = None
        self.postgresql: Plan | None = None
        if StatementRecorder.active is not None:
            StatementRecorder.active.queries.append(self)

    def plan(self, dialect: str) -> Plan:
        """The query compiled for "sqlite" or "postgresql"; compiled at the first call."""
        plan: Plan | None = getattr(self, dialect)
        if plan is None:
            compiled = compiled_statement(self.statement(dialect), dialect, cacheable=self.cacheable)
            plan = _plan(compiled, self._into, self._then)
            if self._key:
                plan = plan._replace(key=_key_positions(compiled, self._key))
                if plan.only_reads and dialect == "postgresql":
                    plan = plan._replace(for_keys=for_keys(compiled.text))
            setattr(self, dialect, plan)
        return plan

    @property
    def cacheable(self) -> bool:
        """Whether its rows are found by a key and cannot be changed by who reads them."""
        return bool(self._key) and (self._into is None or self._then is not None or _is_frozen(self._into))

    def statement(self, dialect: str) -> Any:
        """The statement, in its form for a dialect."""
        statement = self._statement
        # What is recorded can be called too, but is the statement itself.
        if callable(statement) and not isinstance(statement, Deferred):
            statement = statement()
        while isinstance(statement, ByDialect):
            statement = statement.build(dialect)
        return statement


def compiled_beforehand(queries: Callable[[], Iterable[Query[Any]]]) -> None:
    """Let builds compile queries of which each is otherwise made when it is first used."""
    _made_when_used.append(queries)


_made_when_used: Final[list[Callable[[], Iterable[Query[Any]]]]] = []


def make_all_queries() -> None:
    """Make the queries that `compiled_beforehand` names, for a recorder."""
    for queries in _made_when_used:
        for _ in queries():
            pass


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every selection of some names, none and all of them included."""
    return itertools.chain.from_iterable(itertools.combinations(names, count) for count in range(len(names) + 1))


@cache
def update_columns(table: Table, *, key: tuple[str, ...], columns: frozenset[str], new: str = "") -> Query[Row]:
    """The query that sets some columns of the row with a key, for partial updates.

    Values and key are bound by column name; `new` precedes it for values, where a column is of both.
    """
    return Query(ByDialect(partial(_update, table, key, tuple(sorted(columns)), new)), key=key)


def _update(table: Table, key: tuple[str, ...], columns: tuple[str, ...], new: str, dialect: str) -> CompiledStatement:
    # Written here, as there are too many sets of columns for a build to compile them all.
    facts = facts_of(table)
    numbers = itertools.count(1)
    terms = [f'"{name}" = {"?" if dialect == "sqlite" else f"${next(numbers)}"}' for name in (*columns, *key)]
    changes, matches = ", ".join(terms[: len(columns)]), " AND ".join(terms[len(columns) :])
    return CompiledStatement(
        f'UPDATE "{table.name}" SET {changes} WHERE {matches}',  # noqa: S608 names of the schema
        [
            *(Parameter(f"{new}{name}", facts.columns[name].writes) for name in columns),
            *(Parameter(name, facts.columns[name].writes) for name in key),
        ],
        [],
        table.name,
        list(columns),
        in_one_table=True,
    )


def _plan(compiled: CompiledStatement, into: type[Any] | None, then: Callable[[Any], Any] | None) -> Plan:
    converters = [read_converter(name) for _, name in compiled.columns]
    make = None
    if into is not None:
        names, fields = tuple(name for name, _ in compiled.columns), into.__struct_fields__
        if names != fields:
            raise TypeError(f"{into.__name__} has the fields {fields}, the query selects {names}")
        make = _row_maker(into, converters)
        if then is not None:
            make = _composed(make, then)
    return Plan(
        compiled.text,
        _binder(compiled.parameters),
        make,
        converters[0] if converters else None,
        compiled.changes,
        None if compiled.sets is None else frozenset(compiled.sets),
        None
        if compiled.reads is None
        else ColumnsRead({table: frozenset(names) for table, names in compiled.reads.items()}),
        compiled.only_reads,
        compiled.in_one_table,
    )


def _is_frozen(into: type[Any]) -> bool:
    frozen: bool = into.__struct_config__.frozen
    return frozen


def _key_positions(compiled: CompiledStatement, key: Sequence[str]) -> tuple[int, ...]:
    """Where a key's parameters are first. Raises TypeError if one is missing, or a SELECT has parameters besides."""
    names = [parameter.name for parameter in compiled.parameters]
    required = {parameter.name for parameter in compiled.parameters if parameter.required}
    missing = set(key).difference(names)
    if missing or (compiled.changes is None and not required.issubset(key)):
        raise TypeError(f"the parameters {names} do not fit the key {key}: {compiled.text}")
    return tuple(map(names.index, key))


def _composed(make: Callable[[Sequence[Any]], Any], then: Callable[[Any], Any]) -> Callable[[Sequence[Any]], Any]:
    return lambda row: then(make(row))


def _binder(parameters: Sequence[Parameter]) -> Callable[[dict[str, object]], Row]:
    if not parameters:
        return _bind_nothing
    writers = ((at, write_converter(parameter.writes)) for at, parameter in enumerate(parameters))
    return _bind_all(
        [parameter.name for parameter in parameters],
        {parameter.name: parameter.missing for parameter in parameters if not parameter.required},
        [(at, writer) for at, writer in writers if writer is not None],
    )


def _bind_nothing(values: dict[str, object]) -> Row:
    if values:
        raise TypeError(f"the query takes no parameters, got {', '.join(values)}")
    return ()


def _bind_all(
    names: list[str], missing: dict[str, object], writers: list[tuple[int, Converter]]
) -> Callable[[dict[str, object]], Row]:
    known, count, single = set(names), len(set(names)), len(names) == 1
    required = known - missing.keys()
    pick: Callable[[dict[str, object]], Any] = itemgetter(*names)

    def bind(values: dict[str, object]) -> Row:
        bound = values if len(values) == count else {**missing, **values}
        if len(bound) != count:
            raise _mismatch(required, known, values)
        try:
            row: Row = (pick(bound),) if single else pick(bound)
        except KeyError:  # one missing, another too many
            raise _mismatch(required, known, values) from None
        changed: list[Any] | None = None
        for at, write in writers:
            value = row[at]
            if value is not None:
                if changed is None:
                    changed = list(row)
                changed[at] = write(value)
        return row if changed is None else tuple(changed)

    return bind


def _mismatch(required: set[str], known: set[str], values: dict[str, object]) -> TypeError:
    wrong = [f"missing {name}" for name in sorted(required - values.keys())]
    wrong += [f"unknown {name}" for name in sorted(values.keys() - known)]
    return TypeError(f"the query's parameters do not fit: {', '.join(wrong)}")


def _row_maker(into: type[object], converters: list[Converter | None]) -> Callable[[Sequence[Any]], Any]:
    needed = [(index, convert) for index, convert in enumerate(converters) if convert is not None]

    def make(row: Sequence[Any]) -> Any:
        values = list(row)
        for index, convert in needed:
            value = values[index]
            if value is not None:
                values[index] = convert(value)
        return into(*values)

    return make
