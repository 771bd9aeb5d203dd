"""What clients did and learned, and whether any order of the writes explains it.

A register is one thing with one value at a time: the content of a message, whether a user is banned. The value of a
write is in force from some moment between its request and its response; one whose response was lost may be in force
or never. A read must return a value that was in force at some moment between its request and its response.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Any, Final

from msgspec import Struct

FOREVER: Final = float("inf")
Key = tuple[Hashable, ...]


class Write(Struct, frozen=True):
    """A write. `response` is when it was in force at the latest; `known` whether it succeeded for certain."""

    value: Any
    request: float
    response: float
    known: bool = True


class Read(Struct, frozen=True):
    """A read of a value."""

    value: Any
    request: float
    response: float
    client: int = 0


class History:
    """The writes and reads of all registers."""

    def __init__(self) -> None:
        self.initial: dict[Key, Any] = {}
        """Values before any write; None for others."""
        self.writes: dict[Key, list[Write]] = defaultdict(list)
        self.reads: dict[Key, list[Read]] = defaultdict(list)

    def write(self, key: Key, value: Any, request: float, response: float, *, known: bool = True) -> None:
        """Record a write."""
        self.writes[key].append(Write(value, request, response, known))

    def read(self, key: Key, value: Any, request: float, response: float, client: int = 0) -> None:
        """Record a read."""
        self.reads[key].append(Read(value, request, response, client))

    def last(self, key: Key) -> Any:
        """A value that may be in force: that of the newest write."""
        writes = self.writes.get(key)
        return writes[-1].value if writes else self.initial.get(key)

    def problems(self) -> Iterator[str]:
        """The reads that no order of the writes explains."""
        for key, reads in self.reads.items():
            yield from self._problems_of(key, reads)

    def _problems_of(self, key: Key, reads: list[Read]) -> Iterator[str]:
        writes = [Write(self.initial.get(key), -1.0, -1.0), *self.writes.get(key, ())]
        explained: list[tuple[Read, list[Write]]] = []
        for read in sorted(reads, key=lambda each: each.response):
            sources = [w for w in writes if w.value == read.value and w.request <= read.response]
            if not sources:
                yield f"{key}: read {read.value!r}, which nobody wrote, at {read.response:.3f}"
                continue
            current = [source for source in sources if not _overwritten(source, read, writes)]
            if not current:
                newest = max(writes, key=lambda w: w.request if w.known else -1.0)
                yield (
                    f"{key}: read {read.value!r} at {read.request:.3f}-{read.response:.3f}, "
                    f"overwritten before, last by {newest.value!r} at {newest.request:.3f}-{newest.response:.3f}"
                )
                continue
            for earlier, before in explained:
                if earlier.response < read.request and all(
                    new.response < old.request for new in current for old in before
                ):
                    yield f"{key}: read {read.value!r} at {read.request:.3f} after {earlier.value!r} was read"
                    break
            explained.append((read, current))


def _overwritten(source: Write, read: Read, writes: list[Write]) -> bool:
    """Whether a write that began after another had ended was over before a read began."""
    return any(
        other.known
        and other.value != source.value
        and other.request > source.response
        and other.response < read.request
        for other in writes
    )
