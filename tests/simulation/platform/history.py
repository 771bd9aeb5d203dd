"""What clients did and learned, and whether any order of the writes explains it.

A register is one thing with one value at a time: the content of a message, whether a user is banned. The value of a
write is in force from some moment between its request and its response; one whose response was lost may be in force
or never. A read must return a value that was in force at some moment between its request and its response. What one
response shows of several things, as a page of a channel does, must have been in force at one moment.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
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
    page: int = 0
    """The number of the response that shows it with others, as of one moment; 0 for one alone."""


class History:
    """The writes and reads of all registers."""

    def __init__(self) -> None:
        self.initial: dict[Key, Any] = {}
        """Values before any write; None for others."""
        self.writes: dict[Key, list[Write]] = defaultdict(list)
        self.reads: dict[Key, list[Read]] = defaultdict(list)
        self._pages = 0

    def write(self, key: Key, value: Any, request: float, response: float, *, known: bool = True) -> None:
        """Record a write."""
        self.writes[key].append(Write(value, request, response, known))

    def read(self, key: Key, value: Any, request: float, response: float, page: int = 0) -> None:
        """Record a read."""
        self.reads[key].append(Read(value, request, response, page))

    def new_page(self) -> int:
        """A number for a response that shows several things as of one moment."""
        self._pages += 1
        return self._pages

    def last(self, key: Key) -> Any:
        """A value that may be in force: that of the newest write."""
        writes = self.writes.get(key)
        return writes[-1].value if writes else self.initial.get(key)

    def shared(self, keys: Sequence[Key]) -> Iterator[str]:
        """The registers that had one value at once, of some that never have, by the writes that are known."""
        for key in keys:
            for write in self.writes.get(key, ()):
                for other in keys if write.known and write.value is not None else ():
                    if other != key and self._stands(other, write.value, write.request, write.response):
                        yield f"{key} was given {write.value!r} at {write.request:.3f}, which {other} had"

    def _stands(self, key: Key, value: Any, start: float, end: float) -> bool:
        """Whether a register certainly has a value from one time to another."""
        writes = self.writes.get(key, ())
        acquired = [w for w in writes if w.known and w.value == value and w.response < start]
        last = max(acquired, key=lambda w: w.request, default=None)
        return last is not None and not any(
            w.value != value and w.request < end and w.response > last.request for w in writes
        )

    def problems(self) -> Iterator[str]:
        """The reads that no order of the writes explains."""
        for key, reads in self.reads.items():
            yield from self._problems_of(key, reads)
        yield from self._problems_of_pages()

    def _problems_of_pages(self) -> Iterator[str]:
        """The responses that show what was in force at no one moment, though each part of it was at some moment."""
        pages: dict[int, tuple[tuple[float, Key], tuple[float, Key]]] = {}
        for key, reads in self.reads.items():
            writes = self._writes_of(key)
            for read in reads:
                if not read.page or (span := _span(read, writes)) is None:
                    continue
                after, before = pages.get(read.page, ((read.request, key), (read.response, key)))
                if span[0] > after[0]:
                    after = span[0], key
                if span[1] < before[0]:
                    before = span[1], key
                pages[read.page] = after, before
        for after, before in pages.values():
            if after[0] > before[0]:
                yield (
                    f"one response shows {after[1]} as it was from {after[0]:.3f} on, "
                    f"and {before[1]} as it was until {before[0]:.3f}"
                )

    def _writes_of(self, key: Key) -> list[Write]:
        return [Write(self.initial.get(key), -1.0, -1.0), *self.writes.get(key, ())]

    def _problems_of(self, key: Key, reads: list[Read]) -> Iterator[str]:
        writes = self._writes_of(key)
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


def _span(read: Read, writes: list[Write]) -> tuple[float, float] | None:
    """The times between which the value of a read may have been in force; None if that is explained by no write."""
    sources = [w for w in writes if w.value == read.value and w.request <= read.response]
    if not sources:
        return None
    ends = [
        min(
            (w.response for w in writes if w.known and w.value != source.value and w.request > source.response),
            default=FOREVER,
        )
        for source in sources
    ]
    return min(source.request for source in sources), max(ends)


def _overwritten(source: Write, read: Read, writes: list[Write]) -> bool:
    """Whether a write that began after another had ended was over before a read began."""
    return any(
        other.known
        and other.value != source.value
        and other.request > source.response
        and other.response < read.request
        for other in writes
    )
