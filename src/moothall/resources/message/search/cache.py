"""Results of the newest searches of the index, kept until the index changes.

What is kept are ids: a search names the channels that its caller may read, and each response reads its messages anew.

"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from moothall.objects.clock import stopwatch
from moothall.resources.message.search import queries
from moothall.resources.message.search.queries import HitPage, IndexSearch
from moothall.runtime.cache import Cache
from moothall.runtime.single_flight import SingleFlight
from moothall.storage.database import Database, Reader

Hit = tuple[int, int]
"""The ids of a message and its channel."""

_MAX_RESULTS: Final = 500
_SMALL: Final = 4_000
"""An index of fewer entries is read on the event loop: no search takes longer than a millisecond."""
_SMALL_SECONDS: Final = 1.0
_LARGE_SECONDS: Final = 60.0


class SearchCache:
    """Counts and pages by search, for a database that no other process changes."""

    def __init__(self, database: Database) -> None:
        self._dialect = database.dialect
        self._results: Cache[object, Any] = Cache(_MAX_RESULTS)
        self._results.watch(database, "message_index")
        self._running: SingleFlight[object, Any] = SingleFlight()
        self._is_small = False
        self._measured_until = 0.0

    async def total(self, reader: Reader, search: IndexSearch) -> int:
        """The number of results, at most `MAX_COUNTED`."""
        cached: int | None = self._results.get(search)
        if cached is not None:
            return cached
        at_once = await self._at_once(reader)
        count = partial(queries.count_hits, reader, search, at_once=at_once)
        total: int = await self._run(reader, search, count, at_once=at_once)
        return total

    async def hits(self, reader: Reader, search: IndexSearch, page: HitPage, total: int) -> list[Hit]:
        """A page of the `total` results."""
        key = search, page
        cached: list[Hit] | None = self._results.get(key)
        if cached is not None:
            return cached
        at_once = await self._at_once(reader)
        select = partial(queries.select_hits, reader, self._dialect, search, page, total=total, at_once=at_once)
        hits: list[Hit] = await self._run(reader, key, select, at_once=at_once)
        return hits

    async def _run(
        self, reader: Reader, key: object, work: Callable[[], Coroutine[object, None, Any]], *, at_once: bool
    ) -> Any:
        if not self._results.enabled or not reader.committed:
            return await work()
        generation = self._results.generation
        # Simultaneous searches of the same wait for one thread. Another state of the index is another key.
        result = await (work() if at_once else self._running.get((generation, key), work))
        self._results.keep(key, result, generation=generation)
        return result

    async def _at_once(self, reader: Reader) -> bool:
        now = stopwatch()
        if now > self._measured_until:
            self._is_small = await queries.is_small(reader, self._dialect, _SMALL)
            self._measured_until = now + (_SMALL_SECONDS if self._is_small else _LARGE_SECONDS)
        return self._is_small
