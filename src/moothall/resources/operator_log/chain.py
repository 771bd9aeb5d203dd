"""The chain of the operators' log: each row's hash covers the row and the hash of the row before."""

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

from moothall.objects.wire import Timestamp
from moothall.resources.operator_log.queries import LogRow, select_after
from moothall.storage.database import Reader

START: Final = bytes(32)
"""What stands for the hash before the first row."""
_PAGE: Final = 1000


class LogBroken(Exception):
    """The log is not as it was written; the message names the first number that is wrong."""


class VerifiedLog(msgspec.Struct, frozen=True):
    """A log that is as it was written: how many rows it has, and the hash of the last one in hexadecimal."""

    rows: int
    head: str


def hash_of(before: bytes, row: LogRow) -> bytes:
    """The SHA-256 of the hash before and all columns of a row but its own hash, as a JSON array."""
    values = (
        int(row.number),
        int(row.created_at),
        None if row.user_id is None else int(row.user_id),
        row.actor,
        row.origin,
        row.act,
        None if row.target_id is None else int(row.target_id),
        row.changes,
        row.reason,
    )
    return hashlib.sha256(before + msgspec.json.encode(values)).digest()


async def verify(reader: Reader, known: Iterable[tuple[int, str]] = ()) -> VerifiedLog:
    """Read the whole log and compute its chain. `known` are numbers with the hashes that were noted of them.

    Rows at the end that the owner of the database removed leave a good chain: only a number and hash that were noted
    elsewhere show that they are missing. Raises LogBroken.
    """
    expected = dict(known)
    number, head = 0, START
    while rows := await select_after(reader, number, _PAGE):
        for row in rows:
            number += 1
            if row.number != number:
                raise LogBroken(f"row {number} is missing: the next one has the number {int(row.number)}")
            if row.hash != hash_of(head, row):
                raise LogBroken(f"row {number} of {Timestamp(row.created_at).wire()} is not as it was written")
            head = row.hash
            if expected.pop(number, head.hex()) != head.hex():
                raise LogBroken(f"row {number} has the hash {head.hex()}, not the one that was noted")
    if expected:
        raise LogBroken(f"row {min(expected)} is missing: the log ends with {number}")
    return VerifiedLog(number, head.hex())
