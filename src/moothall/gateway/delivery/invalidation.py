"""Telling clients to identify anew, paced so that not all of them read their guilds at the same time."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from moothall.gateway.sessions.session import Session

_log = logging.getLogger(__name__)

_BATCH: Final = 50
_PAUSE: Final = 0.1
"""Seconds between batches: 500 clients in a second, each of which waits some seconds more before it identifies."""
_MAX_WAIT: Final = 1.0
"""Seconds for which a batch is waited for: what sessions take part in ends with them, which needs the database."""


class Invalidations:
    """Sessions that may have missed an event, and that are ended one batch after another.

    `end` tells a session's client and ends the session; it may raise. The sessions cannot be resumed from the start.
    """

    def __init__(self, end: Callable[[Session, str], Awaitable[None]]) -> None:
        self._end = end
        self._waiting: deque[tuple[Session, str]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self.count = 0
        """Sessions told to identify anew so far."""

    def add(self, sessions: Iterable[Session], reason: str) -> None:
        """Mark sessions as broken and end them soon. Does nothing for those that are broken already."""
        for session in sessions:
            if not session.broken:
                session.broken = True
                self._waiting.append((session, reason))
        if self._waiting and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """End no more sessions."""
        self._waiting.clear()
        for task in (*self._ending, *(() if self._task is None else (self._task,))):
            task.cancel()

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
                self.count += len(batch)
                for session, reason in batch:
                    task = asyncio.get_running_loop().create_task(self._end_one(session, reason))
                    self._ending.add(task)
                    task.add_done_callback(self._ending.discard)
                await asyncio.wait(self._ending, timeout=_MAX_WAIT)
                await asyncio.sleep(_PAUSE)
        finally:
            self._task = None

    async def _end_one(self, session: Session, reason: str) -> None:
        try:
            await self._end(session, reason)
        except Exception:  # noqa: BLE001 - one session's failure must not affect the others
            _log.exception("a session of user %s could not be ended", session.user_id)
