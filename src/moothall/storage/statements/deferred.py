"""Expressions that are recorded when a module writes them, and evaluated when a statement is compiled.

SQLAlchemy takes a third of a server's start to import, and is only needed to compile statements, which a build does
beforehand (`storage.statement_store`). So queries are written with names of `storage.sql` and `storage.tables`: what is
done with such a name is recorded, as in

    messages.c.channel_id == bindparam("channel_id")

`evaluate` carries it out with the real objects, and `describe` returns it as text, by which a compiled statement is
stored.
"""

import operator
from collections.abc import Callable, Collection, Iterator
from enum import Enum
from importlib import import_module
from typing import Any, Final, NewType

_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and": operator.and_,
    "or": operator.or_,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mod": operator.mod,
    "getitem": operator.getitem,
    "invert": operator.invert,
    "neg": operator.neg,
}
_ATTRIBUTE: Final = "."
_CALL: Final = "()"
_NAME: Final = "name"
_PENDING: Final = object()


class NotDescribable(TypeError):
    """An expression contains a value without a text of its own: its statement cannot be stored."""


class Deferred:
    """A recorded expression: a name of a module, or what is done with other expressions.

    Each is evaluated at most once, since an alias of a table is another one each time it is made.
    """

    __slots__ = ("deferred_operands", "deferred_operation", "deferred_value")

    def __init__(self, operation: str, *operands: Any) -> None:
        self.deferred_operation = operation
        self.deferred_operands = operands
        self.deferred_value: Any = _PENDING

    def __getattr__(self, name: str) -> "Deferred":
        if name.startswith("_"):
            raise AttributeError(name)
        return Deferred(_ATTRIBUTE, self, name)

    def __call__(self, *arguments: Any, **options: Any) -> "Deferred":
        """Record a call."""
        return Deferred(_CALL, self, arguments, options)

    def __iter__(self) -> Iterator[Any]:
        return iter(evaluate(self))

    def __clause_element__(self) -> Any:
        """The real object, for SQLAlchemy where it meets a recorded one."""
        return evaluate(self)

    def __str__(self) -> str:
        raise TypeError("an expression of SQL is no text")

    def __bool__(self) -> bool:
        raise TypeError("an expression of SQL is neither true nor false")

    __hash__ = object.__hash__


class DeferredTable(Deferred):
    """A table, of which the name is known without it."""

    __slots__ = ("name",)

    def __init__(self, module: str, variable: str, name: str) -> None:
        super().__init__(_NAME, module, variable)
        self.name = name


def _recorder(name: str) -> Callable[..., Deferred]:
    def record(self: Deferred, *others: Any) -> Deferred:
        return Deferred(name, self, *others)

    return record


for _name in _OPERATORS:
    setattr(Deferred, f"__{_name}__", _recorder(_name))


def deferred_name(module: str, name: str) -> Deferred:
    """An object of a module that is imported when it is needed."""
    return Deferred(_NAME, module, name)


def evaluate(value: Any) -> Any:
    """The real object of a recorded expression; other values, and those in collections, as they are."""
    if isinstance(value, Deferred):
        if value.deferred_value is _PENDING:
            value.deferred_value = _evaluated(value.deferred_operation, value.deferred_operands)
        return value.deferred_value
    if isinstance(value, list | tuple):
        return type(value)(map(evaluate, value)) if type(value) in {list, tuple} else value
    if isinstance(value, dict):
        return {evaluate(key): evaluate(item) for key, item in value.items()}
    return value


def _evaluated(operation: str, operands: tuple[Any, ...]) -> Any:
    if operation == _NAME:
        module, name = operands
        return getattr(import_module(module), name)
    if operation == _ATTRIBUTE:
        owner, name = operands
        return getattr(evaluate(owner), name)
    if operation == _CALL:
        function, arguments, options = operands
        return evaluate(function)(*map(evaluate, arguments), **{key: evaluate(item) for key, item in options.items()})
    return _OPERATORS[operation](*map(evaluate, operands))


def describe(expression: Deferred) -> str:
    """The text of an expression, the same in every process. Raises NotDescribable.

    A part that is used again is written as its number: two aliases of a table differ from one that is used twice.
    """
    fragments: list[str] = []
    _Description(fragments.append).add(expression)
    return "".join(fragments)


class _Description:
    def __init__(self, write: Callable[[str], Any]) -> None:
        self._write = write
        self._numbers: dict[int, int] = {}

    def add(self, value: Any) -> None:
        if isinstance(value, Deferred):
            self._add_expression(value)
        elif isinstance(value, dict):
            self._write("mapping")
            self._add_items([item for pair in value.items() for item in pair])
        elif isinstance(value, list | tuple):
            self._add_items(value)
        elif isinstance(value, int) and not isinstance(value, Enum | bool):
            self._write(int.__repr__(value))
        elif value is None or isinstance(value, str | bool | bytes | float | Enum):
            self._write(repr(value))
        elif isinstance(value, type | NewType):
            self._write(f"{value.__module__}.{value.__name__}")
        else:
            raise NotDescribable(f"{value!r} has no text of its own")

    def _add_items(self, items: Collection[Any]) -> None:
        self._write("(")
        for item in items:
            self.add(item)
            self._write(",")
        self._write(")")

    def _add_expression(self, expression: Deferred) -> None:
        operation, operands = expression.deferred_operation, expression.deferred_operands
        if operation == _NAME:
            self._write(".".join(operands))
        elif operation == _ATTRIBUTE:
            self.add(operands[0])
            self._write(f".{operands[1]}")
        elif (number := self._numbers.get(id(expression))) is not None:
            self._write(f"#{number}")
        else:
            self._numbers[id(expression)] = len(self._numbers)
            self._write(f" {operation}")
            self._add_items(operands)
