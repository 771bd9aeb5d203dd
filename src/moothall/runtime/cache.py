"""The cache of the server: bounded, and forgotten when what it was made of changes (docs/caches.md).

A look-up is a look-up in a dictionary, as most of them are on the path of every request.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Watched(Protocol):
    """A database."""

    def watch(self, table: str, changed: Callable[[], None]) -> bool:
        """Call back after each commit that wrote a table; False if other processes may write it too."""


class Cache(OrderedDict[K, V]):
    """Values by key, of at most `maximum` weight together; the oldest is dropped first.

    `weigh` returns the weight of a value, 1 without it. A single value that is heavier is not kept. `get` is that of a
    dictionary; `use` moves the value behind all others too, so that the least recently used is dropped first. Values
    are kept with `keep` only.
    """

    def __init__(self, maximum: int, *, weigh: Callable[[V], int] | None = None) -> None:
        super().__init__()
        self._maximum = maximum
        self._weigh = weigh
        self._weight = 0
        self.enabled = True
        """Whether anything is kept: not where another process may change what it is made of unnoticed."""
        self.generation = 0
        """Grows when everything is forgotten. What was read in an earlier one is not kept any more."""

    @property
    def weight(self) -> int:
        """The weight of all values."""
        return len(self) if self._weigh is None else self._weight

    def watch(self, database: Watched, *tables: str) -> None:
        """Forget everything at each commit to a table, before its response; keep nothing if not every one is seen."""
        watched = [database.watch(table, self.forget_all) for table in tables]
        self.enabled = all(watched)

    def use(self, key: K) -> V | None:
        """The value of a key, as the most recently used one; None if it is not kept."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value

    def keep(self, key: K, value: V, *, generation: int | None = None) -> None:
        """Keep a value, as the newest one; not if it was read in an earlier `generation`."""
        if not self.enabled or (generation is not None and generation != self.generation):
            return
        if self._weigh is None:
            self[key] = value
            self.move_to_end(key)
            if len(self) > self._maximum:
                self.popitem(last=False)
            return
        self.forget(key)
        self[key] = value
        self._weight += self._weigh(value)
        while self._weight > self._maximum:
            _, dropped = self.popitem(last=False)
            self._weight -= self._weigh(dropped)

    def forget(self, key: K) -> None:
        """Forget the value of a key, if there is one."""
        value = self.pop(key, None)
        if value is not None and self._weigh is not None:
            self._weight -= self._weigh(value)

    def forget_all(self) -> None:
        """Forget everything, also what is being read."""
        self.generation += 1
        self._weight = 0
        self.clear()
