"""How often commits have changed each table, in memory that the processes of one machine share.

The process that writes counts after each commit, before anything is answered or published. So a client that has an
answer to a write, and asks another process, asks one that sees the higher count and forgets what it kept of the table.
"""

import mmap
from collections.abc import Iterable
from typing import Final

from moothall.storage.statements.store import table_facts

_BYTES: Final = 8
_SEARCH_INDEX: Final = "message_index"


class CommitCounters:
    """Made before the processes are forked. One process counts, the others read."""

    def __init__(self) -> None:
        self._slots = {name: number for number, name in enumerate(sorted({*table_facts(), _SEARCH_INDEX}), 1)}
        # Words of eight bytes: a reader sees a count before or after a change, never half of one.
        self._counts = memoryview(mmap.mmap(-1, (len(self._slots) + 1) * _BYTES)).cast("Q")

    @property
    def total(self) -> int:
        """Grows with every change of any table."""
        return self._counts[0]

    def of(self, table: str) -> int:
        """The count of a table."""
        return self._counts[self._slots[table]]

    def add(self, tables: Iterable[str]) -> None:
        """Count a commit that changed these tables; names that are no table of the schema are left out."""
        for table in tables:
            slot = self._slots.get(table)
            if slot is not None:
                self._counts[slot] += 1
        # Last, because readers look here first.
        self._counts[0] += 1

    def add_all(self) -> None:
        """Count a change of every table: it is unknown what changed."""
        self.add(self._slots)
