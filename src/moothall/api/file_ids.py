"""The ids of uploaded files: unique, ascending with time, and unpredictable.

The low 22 bits of other snowflakes are the number of the process and a counter within the millisecond, so that most are
zero. For files these bits are permuted, by a permutation that depends on the server's key and the millisecond: no two
processes with the same key make the same id, and without the key each of the four million ids of a millisecond is
equally likely.
"""

import hmac
from typing import Final

from moothall.objects.ids import Snowflake, SnowflakeFactory

_LOW_BITS: Final = 22
_LOW_MASK: Final = (1 << _LOW_BITS) - 1
_HALF_BITS: Final = _LOW_BITS // 2
_HALF_MASK: Final = (1 << _HALF_BITS) - 1
_ROUNDS: Final = 4


class FileIds:
    """Makes ids of files from ids of `ids`. Processes that share a database must share `key`."""

    __slots__ = ("_ids", "_key", "_moment")

    def __init__(self, ids: SnowflakeFactory, key: bytes) -> None:
        self._ids = ids
        self._key = key
        self._moment = 0

    def next(self) -> Snowflake:
        """Make an id of a later millisecond than the last one, so that ids are in the order of their creation."""
        plain = self._ids.next()
        self._moment = max(plain >> _LOW_BITS, self._moment + 1)
        return Snowflake(self._moment << _LOW_BITS | self._permuted(plain & _LOW_MASK))

    def _permuted(self, low: int) -> int:
        # A Feistel network is a permutation, whatever its rounds compute.
        left, right = low >> _HALF_BITS, low & _HALF_MASK
        for number in range(_ROUNDS):
            digest = hmac.digest(self._key, b"%d/%d/%d" % (self._moment, number, right), "sha256")
            left, right = right, left ^ (int.from_bytes(digest[:2]) & _HALF_MASK)
        return left << _HALF_BITS | right
