"""The Erlang external term format: `encoding=etf` of the gateway.

Clients of the gateway in Erlang's format use a small part of it, and so does this module: what JSON can say.
Objects are maps with binaries as keys, strings are binaries, and null, true and false are the atoms `nil`, `true`
and `false`. No Python object is made for an atom other than a string, and no term refers to another.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

from moothall.objects.json_object import JsonObject

VERSION: Final = b"\x83"
"""The byte before every term."""

MAX_DEPTH: Final = 32
"""Maximum nesting of a decoded term."""

_SMALL_INTEGER, _INTEGER, _NEW_FLOAT = 97, 98, 70
_SMALL_BIG: Final = 110
_ATOM, _SMALL_ATOM, _ATOM_UTF8, _SMALL_ATOM_UTF8 = 100, 115, 118, 119
_BINARY, _STRING, _NIL, _LIST, _MAP = 109, 107, 106, 108, 116
_SMALL_TUPLE, _LARGE_TUPLE = 104, 105

_MAX_BIG_BYTES: Final = 8
_MAX_CACHED_KEYS: Final = 2_048

_Append = Callable[[bytes], object]

_pack_sized = struct.Struct(">BI").pack
_pack_integer = struct.Struct(">Bi").pack
_pack_float = struct.Struct(">Bd").pack
_unpack_float = struct.Struct(">d").unpack_from
_SMALL_INTEGERS: Final = [bytes((_SMALL_INTEGER, number)) for number in range(256)]


class EtfDecodeError(ValueError):
    """The data is not a term, or not one that JSON could say."""


# Encoding


def atom(name: str) -> bytes:
    """An atom, in the form that every client decodes (SMALL_ATOM_EXT)."""
    encoded = name.encode("latin-1")
    return bytes((_SMALL_ATOM, len(encoded))) + encoded


_NULL: Final = atom("nil")
_TRUE: Final = atom("true")
_FALSE: Final = atom("false")

_keys: dict[str, bytes] = {}
"""Encoded keys of maps; bounded, because some keys are chosen by users."""


def integer(number: int) -> bytes:
    """An integer of at most 255 bytes."""
    if 0 <= number < 256:
        return _SMALL_INTEGERS[number]
    if -(1 << 31) <= number < 1 << 31:
        return _pack_integer(_INTEGER, number)
    magnitude = abs(number)
    size = (magnitude.bit_length() + 7) // 8
    return bytes((_SMALL_BIG, size, number < 0)) + magnitude.to_bytes(size, "little")


def term(value: object) -> bytes:
    """Encode a decoded JSON value, without the version byte."""
    fragments: list[bytes] = []
    _append_term(value, fragments.append)
    return b"".join(fragments)


def term_slices(value: object, items: int) -> Iterator[bytes]:
    """Encode a value as `term` does; an object in pieces of at most `items` items of any list of it."""
    if type(value) is not dict:
        yield term(value)
        return
    yield _pack_sized(_MAP, len(value))
    for key, field in value.items():
        yield _key(key)
        if type(field) is list and len(field) > items:
            yield _pack_sized(_LIST, len(field))
            for start in range(0, len(field), items):
                yield b"".join(map(term, field[start : start + items]))
            yield b"j"
        else:
            yield term(field)


def _key(key: str) -> bytes:
    encoded = _keys.get(key)
    if encoded is None:
        data = key.encode()
        encoded = _pack_sized(_BINARY, len(data)) + data
        if len(_keys) < _MAX_CACHED_KEYS:
            _keys[key] = encoded
    return encoded


def _append_term(value: Any, append: _Append) -> None:
    kind = type(value)
    if kind is str:
        data = value.encode()
        append(_pack_sized(_BINARY, len(data)))
        append(data)
    elif kind is dict:
        _append_map(value, append)
    elif kind is list:
        if value:
            append(_pack_sized(_LIST, len(value)))
            for item in value:
                _append_term(item, append)
        append(b"j")
    else:
        append(_scalar(value))


def _append_map(fields: JsonObject, append: _Append) -> None:
    append(_pack_sized(_MAP, len(fields)))
    for key, value in fields.items():
        append(_keys.get(key) or _key(key))
        # The kinds of most fields stand here once more, because a call costs more than they do.
        if value is None:
            append(_NULL)
        elif type(value) is str:
            data = value.encode()
            append(_pack_sized(_BINARY, len(data)))
            append(data)
        else:
            _append_term(value, append)


def _scalar(value: object) -> bytes:
    if value is None:
        return _NULL
    if value is True:
        return _TRUE
    if value is False:
        return _FALSE
    return integer(value) if type(value) is int else _pack_float(_NEW_FLOAT, value)


# Decoding


def decode(data: bytes) -> Any:
    """Decode a term that a client sent, as a value of JSON. Raises EtfDecodeError.

    Keys must be binaries, as the documentation says, and differ. Compressed terms, and types that JSON does not
    have, are refused; tuples are read as lists, and atoms other than null and booleans as strings. Every length is
    checked against the data that is left before anything of that length is made.
    """
    if data[:1] != VERSION:
        raise EtfDecodeError("not a term of version 131")
    reader = _Reader(data)
    value = reader.term(MAX_DEPTH)
    if reader.position != len(data):
        raise EtfDecodeError("data after the term")
    return value


_ATOM_VALUES: Final[JsonObject] = {"nil": None, "null": None, "undefined": None, "true": True, "false": False}


class _Reader:
    __slots__ = ("_data", "position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 1

    def term(self, depth: int) -> object:
        """Read a term that may be nested `depth` deep."""
        tag = self._integer(1)
        read = _READERS.get(tag)
        if read is None:
            raise EtfDecodeError(f"unknown tag {tag}")
        if not depth:
            raise EtfDecodeError("nested too deeply")
        return read(self, depth - 1)

    def _bytes(self, size: int) -> bytes:
        start, end = self.position, self.position + size
        if end > len(self._data):
            raise EtfDecodeError("data ends within a term")
        self.position = end
        return self._data[start:end]

    def _integer(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), "big")

    def _text(self, size: int, encoding: str) -> str:
        try:
            return self._bytes(size).decode(encoding)
        except UnicodeDecodeError:
            raise EtfDecodeError("invalid UTF-8") from None

    def small_integer(self, _depth: int) -> int:
        return self._integer(1)

    def integer(self, _depth: int) -> int:
        return int.from_bytes(self._bytes(4), "big", signed=True)

    def small_big(self, _depth: int) -> int:
        size, negative = self._integer(1), self._integer(1)
        if size > _MAX_BIG_BYTES:
            raise EtfDecodeError("integer of more than 64 bits")
        number = int.from_bytes(self._bytes(size), "little")
        return -number if negative else number

    def new_float(self, _depth: int) -> float:
        number: float = _unpack_float(self._bytes(8))[0]
        if number - number != 0:
            raise EtfDecodeError("not a finite number")
        return number

    def atom(self, _depth: int) -> object:
        return self._atom(2, "latin-1")

    def small_atom(self, _depth: int) -> object:
        return self._atom(1, "latin-1")

    def atom_utf8(self, _depth: int) -> object:
        return self._atom(2, "utf-8")

    def small_atom_utf8(self, _depth: int) -> object:
        return self._atom(1, "utf-8")

    def _atom(self, size: int, encoding: str) -> object:
        name = self._text(self._integer(size), encoding)
        return _ATOM_VALUES.get(name, name)

    def binary(self, _depth: int) -> str:
        return self._text(self._integer(4), "utf-8")

    def string(self, _depth: int) -> list[int]:
        """A list of integers below 256: Erlang writes these, such as the shard [0, 1], in a shorter form."""
        return list(self._bytes(self._integer(2)))

    def nil(self, _depth: int) -> list[object]:
        return []

    def list_of_terms(self, depth: int) -> list[object]:
        items = self._items(self._integer(4), depth)
        if self._integer(1) != _NIL:
            raise EtfDecodeError("a list without an end")
        return items

    def small_tuple(self, depth: int) -> list[object]:
        return self._items(self._integer(1), depth)

    def large_tuple(self, depth: int) -> list[object]:
        return self._items(self._integer(4), depth)

    def _items(self, count: int, depth: int) -> list[object]:
        self._check_count(count)
        return [self.term(depth) for _ in range(count)]

    def map(self, depth: int) -> JsonObject:
        count = self._integer(4)
        self._check_count(2 * count)
        fields: dict[str, object] = {}
        for _ in range(count):
            if self._integer(1) != _BINARY:
                raise EtfDecodeError("a key that is not a binary")
            key = self.binary(depth)
            if key in fields:
                raise EtfDecodeError("a key that occurs twice")
            fields[key] = self.term(depth)
        return fields

    def _check_count(self, count: int) -> None:
        if count > len(self._data) - self.position:
            raise EtfDecodeError("data ends within a term")


_READERS: Final[dict[int, Callable[[_Reader, int], object]]] = {
    _SMALL_INTEGER: _Reader.small_integer,
    _INTEGER: _Reader.integer,
    _SMALL_BIG: _Reader.small_big,
    _NEW_FLOAT: _Reader.new_float,
    _ATOM: _Reader.atom,
    _SMALL_ATOM: _Reader.small_atom,
    _ATOM_UTF8: _Reader.atom_utf8,
    _SMALL_ATOM_UTF8: _Reader.small_atom_utf8,
    _BINARY: _Reader.binary,
    _STRING: _Reader.string,
    _NIL: _Reader.nil,
    _LIST: _Reader.list_of_terms,
    _MAP: _Reader.map,
    _SMALL_TUPLE: _Reader.small_tuple,
    _LARGE_TUPLE: _Reader.large_tuple,
}
