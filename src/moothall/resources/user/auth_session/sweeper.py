"""Deletes unused logins and expired tokens."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Services
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session import queries
from moothall.resources.user.auth_session.operations import end_tokens
from moothall.resources.user.auth_session.queries import ExpiredRow
from moothall.resources.user.auth_session.usage import TokenUseRecorder
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.password.queries import delete_unused, has_unused
from moothall.runtime.background import PeriodicTask
from moothall.storage.database import Reader, StorageError

Select = Callable[[Reader, Timestamp, int], Awaitable[list[ExpiredRow]]]

log = logging.getLogger("moothall.sessions")

_MAX_AT_ONCE: Final = 200
_DAY_MS: Final = 86_400_000


class SessionSweeper(PeriodicTask):
    """Deletes logins that were not used for `session_unused_days` and expired tokens, every `seconds`.

    `connected` returns the tokens of open gateway sessions, which count as used.
    """

    def __init__(
        self,
        services: Services,
        recorder: TokenUseRecorder,
        connected: Callable[[], Iterable[bytes]],
        *,
        seconds: float = 600.0,
    ) -> None:
        super().__init__(seconds=seconds)
        self._services = services
        self._recorder = recorder
        self._connected = connected

    async def sweep(self) -> int:
        """Delete unused and expired tokens; return how many."""
        count = await self.end_unused() + await self._end(queries.select_expired, Timestamp.now())
        await self._forget_networks(self._unused_since())
        if count:
            log.info("removed %d tokens that expired or were not used", count)
        return count

    async def end_unused(self) -> int:
        """Delete logins that were not used for too long; return how many."""
        for digest in self._connected():
            self._recorder.record(digest)
        await self._recorder.flush()
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
        """Delete the tokens that a query selects, in batches; return how many."""
        count = 0
        while True:
            async with self._services.database.read() as reader:
                rows = await select(reader, before, _MAX_AT_ONCE)
            if not rows:
                return count
            await unit_of_work.run(self._services, ANONYMOUS, partial(end_tokens, rows), fires=(SessionsClose,))
            count += len(rows)

    async def _forget_networks(self, before: Timestamp) -> None:
        """Delete networks from which users have not logged in for as long."""
        async with self._services.database.read() as reader:
            if not await has_unused(reader, before):
                return
        async with self._services.database.transaction() as tx:
            await delete_unused(tx, before)
