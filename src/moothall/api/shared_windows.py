"""Counts of rate limits in memory that the processes of one machine share.

Each process counts in a table of its own, and reads those of all: so no lock is needed, and what a process has counted
outlives it. The processes are forks of one, so `hash` of a key is the same in all of them.
"""

import mmap
from collections.abc import Hashable
from typing import Final

_SLOTS: Final = 65_536
"""Slots of a table; a key without a free one takes the first of its slots, so that its client may exceed a limit."""
_PROBES: Final = 4
"""Slots in which a key may be."""
_FIELDS: Final = 3
"""Words of a slot: the key's hash, the end of its window, and the amount."""
_WORD: Final = 8


class SharedWindows:
    """The tables of so many `processes`. Made before they are forked."""

    def __init__(self, processes: int, *, slots: int = _SLOTS) -> None:
        memory = memoryview(mmap.mmap(-1, processes * slots * _FIELDS * _WORD))
        self.processes = processes
        self.slots = slots
        self.hashes = memory.cast("q")
        self.numbers = memory.cast("d")


class ProcessWindows:
    """The windows as one process, of a number below `processes`, counts and reads them."""

    def __init__(self, shared: SharedWindows, number: int) -> None:
        self._hashes = shared.hashes
        self._numbers = shared.numbers
        self._slots = shared.slots
        self._own = number * shared.slots
        self._tables = range(0, shared.processes * shared.slots, shared.slots)

    def read(self, key: Hashable, now: float) -> tuple[float, float]:
        """The end of a key's window and the amount that all processes have counted in it; (0, 0) without a window."""
        hashed = hash(key)
        hashes, numbers = self._hashes, self._numbers
        positions = [(hashed + probe) % self._slots for probe in range(_PROBES)]
        end = amount = 0.0
        for table in self._tables:
            for position in positions:
                word = (table + position) * _FIELDS
                if hashes[word] == hashed and numbers[word + 1] > now:
                    end = min(end, numbers[word + 1]) if end else numbers[word + 1]
                    amount += numbers[word + 2]
                    break
        return end, amount

    def add(self, key: Hashable, end: float, amount: float, now: float) -> None:
        """Count an amount in a key's window."""
        hashed = hash(key)
        hashes, numbers = self._hashes, self._numbers
        words = [(self._own + (hashed + probe) % self._slots) * _FIELDS for probe in range(_PROBES)]
        free = words[0]
        for word in reversed(words):
            if numbers[word + 1] <= now:
                free = word
            elif hashes[word] == hashed:
                numbers[word + 2] += amount
                return
        hashes[free], numbers[free + 1], numbers[free + 2] = hashed, end, amount
