"""The encoding of MLS: integers, and vectors with lengths of variable size (RFC 9420, 2.1)."""

from typing import Final

_SIZES: Final = (1, 2, 4)
_MAX_LENGTH: Final = (1 << 30) - 1


class MlsError(ValueError):
    """Bytes that are no message of MLS, or not one that is allowed here."""


def vector(data: bytes) -> bytes:
    """A vector: its length, and its bytes."""
    length = len(data)
    if length < 1 << 6:
        return bytes((length,)) + data
    if length < 1 << 14:
        return (length | 1 << 14).to_bytes(2, "big") + data
    if length > _MAX_LENGTH:
        raise MlsError("a vector is too long")
    return (length | 2 << 30).to_bytes(4, "big") + data


class Reader:
    """Reads from the start of some bytes on. Every method raises MlsError at their end."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    @property
    def is_at_end(self) -> bool:
        """Whether everything is read."""
        return self.position == len(self.data)

    def take(self, size: int) -> bytes:
        """The next bytes."""
        end = self.position + size
        if end > len(self.data):
            raise MlsError("a message ends early")
        taken = self.data[self.position : end]
        self.position = end
        return taken

    def integer(self, size: int) -> int:
        """An unsigned integer of so many bytes."""
        return int.from_bytes(self.take(size), "big")

    def vector(self) -> bytes:
        """The bytes of a vector."""
        prefix = self.integer(1)
        kind = prefix >> 6
        if kind == len(_SIZES):
            raise MlsError("a length has an unknown form")
        rest = _SIZES[kind] - 1
        length = (prefix & 0x3F) << 8 * rest | self.integer(rest)
        return self.take(length)

    def since(self, start: int) -> bytes:
        """What was read since a position."""
        return self.data[start : self.position]

    def rest(self) -> bytes:
        """Everything that is left."""
        return self.take(len(self.data) - self.position)
