"""Stores figures of the server every minute: additions to the rows of the present hour and day."""

import logging
from collections.abc import Callable, Mapping
from typing import Final

from moothall.api.context import Services
from moothall.objects.wire import Timestamp
from moothall.resources.server_figure import queries
from moothall.resources.server_figure.counts import FigureCounts
from moothall.resources.server_figure.rules import HOUR_MS, latency_names
from moothall.resources.server_overview.queries import select_figures
from moothall.runtime.background import PeriodicTask
from moothall.runtime.metrics import NO_REQUESTS, RequestCounts
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.figures")

HOURS: Final = 14 * 24
"""Hours of which figures by hour are stored."""
DAYS: Final = 2 * 366
"""Days of which figures by day are stored."""
_TOTALS_MS: Final = 900_000
"""Between two counts of all accounts, guilds and files, which take as long as they are many."""


class FigureSampler(PeriodicTask):
    """Adds what has happened since its last round to the figures, and now and then counts how much there is.

    What a process has not stored when it ends is lost: at most a minute. Each process of a cluster adds its own.
    """

    def __init__(
        self, services: Services, count_requests: Callable[[], RequestCounts], *, seconds: float = 60.0
    ) -> None:
        super().__init__(seconds=seconds)
        self._services = services
        self._count_requests = count_requests
        self._before = NO_REQUESTS
        self._messages_before = 0
        self._next_totals = 0

    async def sample(self, now: Timestamp) -> None:
        """Store the figures since the last sample. Raises StorageError; the next sample then has them too."""
        counts = self._services.resources[FigureCounts]
        requests, messages = self._count_requests().plus(counts.requests), counts.messages
        added = {"messages": messages - self._messages_before, **_figures_of(requests.since(self._before))}
        hour, totals = int(now) // HOUR_MS, None
        if now >= self._next_totals:
            async with self._services.database.read() as reader:
                figures = await select_figures(reader)
            totals = {"users": figures.users, "guilds": figures.guilds, "file_bytes": figures.file_bytes}
        async with self._services.database.transaction() as tx:
            await queries.add_figures(tx, hour, {name: number for name, number in added.items() if number})
            if totals is not None:
                await queries.set_figures(tx, hour, totals)
                await queries.delete_old_figures(tx, first_hour=hour - HOURS, first_day=hour - DAYS * queries.DAY)
        self._before, self._messages_before = requests, messages
        if totals is not None:
            self._next_totals = int(now) + _TOTALS_MS

    async def _round(self) -> bool:
        try:
            await self.sample(Timestamp.now())
        except StorageError as problem:
            log.warning("figures are stored later: %s", problem)
        return False


def _figures_of(counts: RequestCounts) -> Mapping[str, int]:
    latencies = dict(zip(latency_names(), counts.within, strict=True))
    return {"requests": counts.requests, "errors": counts.errors, **latencies}
