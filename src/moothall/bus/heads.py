"""Which messages a process received from the stream: by their heads, which no two messages share.

A stream that has lost its newest messages gives their numbers to others. A consumer may go on behind these: the last
message received is in its place again then, and only the comparison with what came before shows the loss.
"""

from typing import Final

_MAX_HEADS: Final = 1_000
"""Messages that are remembered: more than are stored within the seconds that a stream may lose."""


class ReceivedHeads:
    """The heads of the newest messages received, by sequence number."""

    def __init__(self) -> None:
        self._heads: dict[int, bytes] = {}
        self._last = self._doubtful = 0

    def restart(self, sequence: int, head: bytes) -> None:
        """Begin with one message; an empty head if it is not known."""
        self._heads = {sequence: head} if head else {}
        self._last, self._doubtful = sequence, 0

    def add(self, sequence: int, head: bytes) -> None:
        """Note that the next message was received."""
        self._heads[sequence] = head
        self._heads.pop(sequence - _MAX_HEADS, None)
        self._last = sequence

    def contradicts(self, sequence: int, head: bytes) -> bool:
        """Whether another message was received with a number before; it is one of `to_compare` from then on."""
        if self._heads.get(sequence, head) == head:
            return False
        self._doubtful = sequence
        return True

    def to_compare(self) -> list[tuple[int, bytes]]:
        """The messages that the stream has to have, by number and head, if it has lost nothing."""
        numbers = dict.fromkeys((self._doubtful, self._last))
        return [(number, self._heads[number]) for number in numbers if number in self._heads]
