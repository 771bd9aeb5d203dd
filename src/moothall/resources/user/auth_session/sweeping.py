"""Ending logins that are not used, and removing tokens that have expired."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.background import PeriodicTask
from moothall.kernel.context import Services
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session import queries
from moothall.resources.user.auth_session.operations import end_tokens
from moothall.resources.user.auth_session.queries import EndedRow
from moothall.resources.user.auth_session.usage import UsageBook
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.password.queries import delete_unused, has_unused
from moothall.storage.database import Reader, StorageError

Select = Callable[[Reader, Timestamp, int], Awaitable[list[EndedRow]]]

log = logging.getLogger("moothall.sessions")

_MAX_AT_ONCE: Final = 200
_DAY_MS: Final = 86_400_000


class SessionSweeper(PeriodicTask):
    """Ends logins that were not used for the time that the settings say, every `seconds`.

    `connected` tells the tokens of gateway sessions: to be connected is to use one.
    """

    def __init__(
        self, services: Services, book: UsageBook, connected: Callable[[], Iterable[bytes]], *, seconds: float = 600.0
    ) -> None:
        super().__init__(seconds=seconds)
        self._services = services
        self._book = book
        self._connected = connected

    async def sweep(self) -> int:
        """End what is not used and remove what has expired; how many tokens there were."""
        count = await self.end_unused() + await self._end(queries.select_expired, Timestamp.now())
        await self._forget_networks(self._unused_since())
        if count:
            log.info("removed %d tokens that expired or were not used", count)
        return count

    async def end_unused(self) -> int:
        """End logins that were not used for too long; how many there were."""
        for digest in self._connected():
            self._book.note(digest)
        await self._book.flush()
        return await self._end(queries.select_unused, self._unused_since())

    async def _round(self) -> bool:
        try:
            await self.sweep()
        except StorageError as problem:
            log.warning("tokens cannot be swept: %s", problem)
        return False

    def _unused_since(self) -> Timestamp:
        return Timestamp(Timestamp.now() - self._services.limits.session_unused_days * _DAY_MS)

    async def _end(self, select: Select, before: Timestamp) -> int:
        """End the tokens that a query selects, some at a time; how many there were."""
        count = 0
        while True:
            async with self._services.database.read() as reader:
                rows = await select(reader, before, _MAX_AT_ONCE)
            if not rows:
                return count
            await unit_of_work.run(self._services, ANONYMOUS, partial(end_tokens, rows), fires=(SessionsClose,))
            count += len(rows)

    async def _forget_networks(self, before: Timestamp) -> None:
        """Forget from where people logged in who have not done so for as long."""
        async with self._services.database.read() as reader:
            if not await has_unused(reader, before):
                return
        async with self._services.database.transaction() as tx:
            await delete_unused(tx, before)
