"""Fetches the previews that messages wait for, outside any transaction, and attaches them."""

import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
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
from moothall.runtime.budgets import Payer, WorkRefused
from moothall.storage.database import StorageError
from moothall.storage.queue_worker import QueueWorker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from msgspec import Raw

    from moothall.api.context import Services

ATTEMPTS_MAX: Final = 3
"""Attempts after which a message stays without previews.

Each has ended with its process, without the database, or with an author over the budget.
"""
_CLAIM_MS: Final = 120_000
"""Time after which another process may try, if the one that claimed a request ended."""
_MAX_IN_FLIGHT: Final = 50

log = logging.getLogger("moothall.link_previews")


class PreviewWorker(QueueWorker):
    """Attaches previews to the messages that wait for them: when woken, and every `seconds` otherwise."""

    def __init__(self, services: "Services", *, seconds: float = 5.0) -> None:
        super().__init__(
            "link previews", maximum=_MAX_IN_FLIGHT, seconds=seconds, woken=services.resources[PreviewsRequested]
        )
        self._services = services

    async def _start_due(self, now: Timestamp) -> bool:
        free = self._free
        if free <= 0 or not await self._is_any_due(now):
            return False

        async def claim(ctx: Context) -> list[PreviewRequest]:
            until = Timestamp(max(now, ctx.now) + _CLAIM_MS)
            return await claim_preview_requests(ctx.tx, ctx.ids.next(), free, now=now, until=until)

        requests = await unit_of_work.run(self._services, ANONYMOUS, claim, fires=())
        for request in requests:
            self._start(self._handle(request))
        return bool(requests)

    async def _is_any_due(self, now: Timestamp) -> bool:
        """Whether a request is due: asked by a reader, so that an idle server does not write."""
        async with self._services.database.read() as reader:
            return await is_preview_request_due(reader, now)

    async def _handle(self, request: PreviewRequest) -> None:
        try:
            previews: Mapping[str, Sequence[Raw]] = {}
            if request.attempts <= ATTEMPTS_MAX and request.author_id is not None:
                payer = Payer(request.author_id, "")
                previews = await self._services.resources[LinkPreviews].get_all(request.links, payer)
            await unit_of_work.run(
                self._services, ANONYMOUS, partial(_finish, request, previews), fires=(MessageUpdate,)
            )
        except WorkRefused as refusal:
            # Another attempt follows once the claim has expired.
            log.info("previews of message %s wait: %s", request.message_id, refusal)
        except StorageError as error:
            log.warning("previews of message %s wait for the database: %s", request.message_id, error)
        except Exception:
            log.exception("previews of message %s cannot be attached", request.message_id)


async def _finish(request: PreviewRequest, previews: "Mapping[str, Sequence[Raw]]", ctx: Context) -> None:
    if any(previews.values()):
        await attach_previews(ctx, request.channel_id, request.message_id, previews)
    await delete_preview_request(ctx.tx, request.id)
