"""Fetches the previews that messages wait for, outside any transaction, and attaches them."""

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.background import PeriodicTask
from moothall.kernel.context import Context
from moothall.objects.wire import Timestamp
from moothall.resources.link_preview.fetcher import LinkPreviews
from moothall.resources.message.events import MessageUpdate
from moothall.resources.message.operations.previews import PreviewsRequested, attach_previews
from moothall.resources.message.queries.previews import (
    PreviewRequest,
    claim_preview_requests,
    delete_preview_request,
    is_preview_request_due,
)
from moothall.storage.database import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from msgspec import Raw

    from moothall.kernel.context import Services

ATTEMPTS_MAX: Final = 3
"""Attempts after which a message stays without previews: each has ended with its process, or without the database."""
_CLAIM_MS: Final = 120_000
"""Time after which another process may try, if the one that claimed a request ended."""
_MAX_IN_FLIGHT: Final = 50

log = logging.getLogger("moothall.link_previews")


class PreviewWorker(PeriodicTask):
    """Attaches previews to the messages that wait for them: when woken, and every `seconds` otherwise."""

    def __init__(self, services: "Services", *, seconds: float = 5.0) -> None:
        super().__init__(seconds=seconds, woken=services.resources[PreviewsRequested])
        self._services = services
        self._tasks: set[asyncio.Task[None]] = set()

    async def drain(self, now: Timestamp | None = None) -> None:
        """Handle every request that is due, or would be at `now`, and wait until all are done."""
        while await self._start_due(Timestamp.now() if now is None else now) or self._tasks:
            await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Stop, and cancel what is under way: it is tried again later."""
        await self.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _round(self) -> bool:
        try:
            return await self._start_due(Timestamp.now())
        except StorageError as error:
            log.warning("link previews wait for the database: %s", error)
            return False

    async def _start_due(self, now: Timestamp) -> bool:
        """Start to handle requests that are due; whether there were any."""
        free = _MAX_IN_FLIGHT - len(self._tasks)
        if free <= 0 or not await self._is_any_due(now):
            return False

        async def claim(ctx: Context) -> list[PreviewRequest]:
            until = Timestamp(max(now, ctx.now) + _CLAIM_MS)
            return await claim_preview_requests(ctx.tx, ctx.ids.next(), free, now=now, until=until)

        requests = await unit_of_work.run(self._services, ANONYMOUS, claim, fires=())
        for request in requests:
            task = asyncio.create_task(self._handle(request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return bool(requests)

    async def _is_any_due(self, now: Timestamp) -> bool:
        """Whether a request is due: asked by a reader, so that an idle server does not write."""
        async with self._services.database.read() as reader:
            return await is_preview_request_due(reader, now)

    async def _handle(self, request: PreviewRequest) -> None:
        try:
            previews: Mapping[str, Sequence[Raw]] = {}
            if request.attempts <= ATTEMPTS_MAX:
                previews = await self._services.resources[LinkPreviews].get_all(request.links)
            await unit_of_work.run(
                self._services, ANONYMOUS, partial(_finish, request, previews), fires=(MessageUpdate,)
            )
        except StorageError as error:
            log.warning("previews of message %s wait for the database: %s", request.message_id, error)
        except Exception:
            log.exception("previews of message %s cannot be attached", request.message_id)
        finally:
            self.wake()


async def _finish(request: PreviewRequest, previews: "Mapping[str, Sequence[Raw]]", ctx: Context) -> None:
    if any(previews.values()):
        await attach_previews(ctx, request.channel_id, request.message_id, previews)
    await delete_preview_request(ctx.tx, request.id)
