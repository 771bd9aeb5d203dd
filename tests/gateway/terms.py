"""Terms of Erlang as a client reads them: written from the format's manual, not from the server's encoder."""

import struct
from collections.abc import Callable
from typing import Any


class Atom(str):
    """An atom other than null and booleans."""

    __slots__ = ()


def unpack(data: bytes) -> tuple[Any, bytes]:
    """The term at the beginning of `data`, and what follows it; atoms as `Atom`, unless JSON has a value for them."""
    assert data[0] == 131
    return _unpack(data[1:])


def _unpack(data: bytes) -> tuple[Any, bytes]:
    tag, data = data[:1], data[1:]
    if tag in _FIXED:
        size, read = _FIXED[tag]
        return read(data[:size]), data[size:]
    if tag == b"n":
        size, sign = data[0], data[1]
        number = int.from_bytes(data[2 : 2 + size], "little")
        return (-number if sign else number), data[2 + size :]
    if tag == b"s":
        name, data = data[1 : 1 + data[0]].decode("latin-1"), data[1 + data[0] :]
        return {"nil": None, "true": True, "false": False}.get(name, Atom(name)), data
    return _unpack_sized(tag, int.from_bytes(data[:4], "big"), data[4:])


_FIXED: dict[bytes, tuple[int, Callable[[bytes], Any]]] = {
    b"a": (1, lambda data: data[0]),
    b"b": (4, lambda data: struct.unpack(">i", data)[0]),
    b"F": (8, lambda data: struct.unpack(">d", data)[0]),
    b"j": (0, lambda _: []),
}


def _unpack_sized(tag: bytes, size: int, data: bytes) -> tuple[Any, bytes]:
    if tag == b"m":
        return data[:size].decode(), data[size:]
    if tag == b"l":
        items = []
        for _ in range(size):
            item, data = _unpack(data)
            items.append(item)
        assert data[:1] == b"j"
        return items, data[1:]
    assert tag == b"t"
    fields = {}
    for _ in range(size):
        key, data = _unpack(data)
        fields[key], data = _unpack(data)
    assert len(fields) == size
    return fields, data


def pack(value: Any) -> bytes:
    """A value as erlpack encodes it."""
    return b"\x83" + _pack(value)


def _pack(value: Any) -> bytes:
    if value is None or isinstance(value, bool | Atom):
        name = "nil" if value is None else value if isinstance(value, Atom) else str(value).lower()
        return b"s" + bytes([len(name)]) + name.encode("latin-1")
    if isinstance(value, int):
        return _pack_integer(value)
    if isinstance(value, float):
        return b"F" + struct.pack(">d", value)
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return b"m" + struct.pack(">I", len(data)) + data
    if isinstance(value, list):
        return (b"l" + struct.pack(">I", len(value)) + b"".join(map(_pack, value)) if value else b"") + b"j"
    return b"t" + struct.pack(">I", len(value)) + b"".join(_pack(k) + _pack(v) for k, v in value.items())


def _pack_integer(value: int) -> bytes:
    if 0 <= value < 256:
        return b"a" + bytes([value])
    if -(2**31) <= value < 2**31:
        return b"b" + struct.pack(">i", value)
    size = (abs(value).bit_length() + 7) // 8
    return b"n" + bytes([size, value < 0]) + abs(value).to_bytes(size, "little")
