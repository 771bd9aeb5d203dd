"""The order of the batches of the outbox that a process receives from the stream, by which it notices a missing one.

A batch has a number and names the number of its predecessor. Numbers rise, but have gaps: an attempt to publish whose
transaction was rolled back has a number too, and the next attempt, with another number, has the same predecessor and
carries everything that the former did.
"""

from enum import Enum, auto

from msgspec import Struct

from moothall.runtime.invariants import BrokenInvariant


class BatchNumbers(Struct, frozen=True):
    """The number of a batch, and that of the batch before it."""

    number: int
    previous: int

    def __post_init__(self) -> None:
        """Raise BrokenInvariant for a number that does not rise: every process would take the batch for an old one."""
        if self.number <= self.previous:
            raise BrokenInvariant(f"batch {self.number} of the outbox follows batch {self.previous}")


class BatchPosition(Struct, array_like=True, frozen=True):
    """Where a message stands in the batches of the outbox; a large batch is several messages."""

    previous: int
    """The number of the batch before, which is committed; 0 for the first one."""
    number: int
    index: int
    """The number of messages of the batch before this one."""
    is_last: bool
    """Whether it is the last message of its batch."""


class Order(Enum):
    """How a message follows what was received before."""

    NEXT = auto()
    """Nothing is missing in between."""
    STALE = auto()
    """It was received before, or is of an attempt that another one has replaced: all that it carries was received."""
    GAP = auto()
    """Messages in between were not received."""


class BatchSequence:
    """The last batch received. `number` is the last one that was published before the first that is to be received."""

    def __init__(self, number: int) -> None:
        self._last = BatchPosition(number, number, 0, is_last=True)

    def add(self, position: BatchPosition) -> Order:
        """Take a message that was received: it is the last one from now on, also after a gap, unless it is stale."""
        last = self._last
        if position.number < last.number:
            return Order.STALE
        if position.number == last.number:
            if last.is_last or position.index <= last.index:
                return Order.STALE
            is_next = position.index == last.index + 1
        else:
            follows = position.previous == last.number and last.is_last
            replaces = position.previous == last.previous
            is_next = position.index == 0 and (follows or replaces)
        self._last = position
        return Order.NEXT if is_next else Order.GAP

    def has(self, number: int) -> bool:
        """Whether the batch of a number, which is committed, was received, or a later one, which came after it."""
        last = self._last
        return last.number > number or (last.number == number and last.is_last)

    def is_ahead_of(self, number: int) -> bool:
        """Whether a batch was committed after the one of a number: no database that has lost nothing names it last."""
        return self._last.previous > number

    def restart(self, number: int) -> None:
        """Begin anew after the batch of a number."""
        self._last = BatchPosition(number, number, 0, is_last=True)
