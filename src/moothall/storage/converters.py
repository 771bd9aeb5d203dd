"""Converters between values and what the drivers store, by name, so that a stored statement can tell them.

`read_converter` and `write_converter` return the converter of a name; None converts nothing. Neither ever sees NULL.
"""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Final, get_args, get_origin

import msgspec

from moothall.objects.ids import Snowflake
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp, decoder, encode

Converter = Callable[[Any], Any]

_decode_integers = msgspec.json.Decoder(list[int]).decode


def _read_ids(text: str) -> list[Snowflake]:
    return list(map(Snowflake, _decode_integers(text)))


def _write_ids(ids: Iterable[int]) -> str:
    return f"[{','.join(map(str, ids))}]"


def write_json(value: object) -> str:
    """The JSON text of a value."""
    return encode(value).decode()


def _write_json_items(items: Iterable[object]) -> str:
    # Ids have to stay numbers, which the wire encoder would make strings of.
    return msgspec.json.encode([int(item) if isinstance(item, int) else item for item in items]).decode()


_READS: Final[dict[str, Converter]] = {
    "bool": bool,
    "ids": _read_ids,
    "permissions": PermissionSet,
    "snowflake": Snowflake,
    "timestamp": Timestamp,
}
_WRITES: Final[dict[str, Converter]] = {
    "ids": _write_ids,
    "items": list,
    "json": write_json,
    "json items": _write_json_items,
}
_JSON: Final = "json "


def read_converter(name: str | None) -> Converter | None:
    """The converter of a driver's value to a column's; `json_reading` names those of JSON."""
    if name is None:
        return None
    if name.startswith(_JSON):
        return _json_reader(name.removeprefix(_JSON))
    return _READS[name]


def write_converter(name: str | None) -> Converter | None:
    """The converter of a parameter to the driver's value."""
    return None if name is None else _WRITES[name]


def json_reading(kind: object) -> str:
    """The name of the converter from JSON text to a type: ids, or any type of built-in types, `Any` and classes."""
    return "ids" if is_id_list(kind) else _JSON + _kind_text(kind)


def json_writing(kind: object) -> str:
    """The name of the converter from a type to JSON text."""
    return "ids" if is_id_list(kind) else "json"


def is_id_list(kind: object) -> bool:
    """Whether a type is a list of ids, which JSON holds as numbers: `json_each` then gives what an id column holds."""
    if get_origin(kind) is not list:
        return False
    item = get_args(kind)[0]
    return getattr(item, "__supertype__", item) is Snowflake


def _kind_text(kind: Any) -> str:
    """A type as text, such as "builtins:list builtins:str"; `_read_kind` reads it."""
    origin = get_origin(kind) or kind
    return " ".join([f"{origin.__module__}:{origin.__qualname__}", *map(_kind_text, get_args(kind))])


_ARGUMENTS: Final = {"builtins:list": 1, "builtins:dict": 2}


@cache
def _json_reader(text: str) -> Converter:
    kind, rest = _read_kind(text.split())
    if rest:
        raise ValueError(f"not a type: {text}")
    return decoder(kind).decode


def _read_kind(words: list[str]) -> tuple[Any, list[str]]:
    first, rest = words[0], words[1:]
    module, _, name = first.partition(":")
    kind = attrgetter(name)(import_module(module))
    arguments: list[Any] = []
    if rest:
        for _ in range(_ARGUMENTS.get(first, 0)):
            argument, rest = _read_kind(rest)
            arguments.append(argument)
    return (kind[tuple(arguments)] if arguments else kind), rest
