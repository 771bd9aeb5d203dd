"""Sends webhook events to applications, outside any transaction, and counts those that are not acknowledged."""

import logging
import random
from collections import Counter
from typing import TYPE_CHECKING, Final

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.ids import ApplicationId
from moothall.objects.webhook_event import EventWebhooksStatus
from moothall.objects.wire import Timestamp
from moothall.resources.application.endpoint_requests import RESPONSE_SECONDS, signed_headers
from moothall.resources.application.queries import ApplicationRow, select_applications, update_application
from moothall.resources.webhook_event import queries
from moothall.resources.webhook_event.queries import EventRow
from moothall.runtime.outgoing import Outgoing, OutgoingFailed
from moothall.storage.database import StorageError
from moothall.storage.queue_worker import QueueWorker

if TYPE_CHECKING:
    from moothall.api.context import Services

RETRY_MS: Final = 600_000
"""How long after it occurred an event is tried again."""
MAX_FAILURES: Final = 10
"""So many events in a row that are not acknowledged disable the webhook events of an application."""

_FIRST_DELAY_MS: Final = 5_000
"""Time until the second attempt; each further delay is twice as long."""
_JITTER: Final = 0.1
_CLAIM_MS: Final = 30_000
"""Time after which another process may try an event, if the one that claimed it ended."""
_MAX_PER_APPLICATION: Final = 5
_MAX_IN_FLIGHT: Final = 50
_MAX_RESPONSE_BYTES: Final = 65_536
_ACKNOWLEDGED: Final = range(200, 300)

log = logging.getLogger("moothall.webhook_events")


def retry_delay(attempts: int) -> int:
    """Milliseconds until the next attempt, after so many."""
    return round(_FIRST_DELAY_MS * 2.0 ** (attempts - 1) * random.uniform(1 - _JITTER, 1 + _JITTER))  # noqa: S311


class WebhookEventSender(QueueWorker):
    """Sends due events: when woken, and every `seconds` otherwise.

    Each application has at most 5 requests in flight, so that a slow one delays no other.
    """

    def __init__(self, services: "Services", *, seconds: float = 5.0) -> None:
        super().__init__("webhook events", maximum=_MAX_IN_FLIGHT, seconds=seconds)
        self._services = services
        self._in_flight: Counter[ApplicationId] = Counter()
        self.outgoing = Outgoing(allow_private=services.limits.allow_private_addresses)

    async def close(self) -> None:
        """Cancel the requests in flight; their events are sent again later."""
        await super().close()
        await self.outgoing.close()

    async def _start_due(self, now: Timestamp) -> bool:
        free = self._free
        if free <= 0:
            return False
        busy = [key for key, count in self._in_flight.items() if count >= _MAX_PER_APPLICATION]
        async with self._services.database.read() as reader:
            due = await queries.select_due(reader, now, busy, free)
        chosen, counts = [], self._in_flight.copy()
        for event_id, application_id in due:
            if counts[application_id] < _MAX_PER_APPLICATION:
                counts[application_id] += 1
                chosen.append(event_id)
        if not chosen:
            return False

        async def claim(ctx: Context) -> tuple[list[EventRow], dict[ApplicationId, ApplicationRow]]:
            until = Timestamp(max(now, ctx.now) + _CLAIM_MS)
            events = await queries.claim_events(ctx.tx, chosen, ctx.ids.next(), now=now, until=until)
            return events, await select_applications(ctx.tx, [event.application_id for event in events])

        events, applications = await unit_of_work.run(self._services, ANONYMOUS, claim, fires=())
        for event in events:
            self._in_flight[event.application_id] += 1
            self._start(self._attempt(event, applications.get(event.application_id), now))
        return True

    async def _attempt(self, event: EventRow, application: ApplicationRow | None, now: Timestamp) -> None:
        """Send an event once and store the result."""
        try:
            url = None if application is None or application.disabled else application.event_webhooks_url
            if application is None or url is None or application.event_webhooks_status != EventWebhooksStatus.ENABLED:
                await self._store(event, now, acknowledged=None)
            else:
                acknowledged = await self._send(event, application, url)
                await self._store(event, now, acknowledged=acknowledged)
        except StorageError as error:
            log.warning("the result of webhook event %s is not stored: %s", event.id, error)
        except Exception:
            log.exception("webhook event %s cannot be sent", event.id)
        finally:
            self._in_flight[event.application_id] -= 1
            if not self._in_flight[event.application_id]:
                del self._in_flight[event.application_id]

    async def _send(self, event: EventRow, application: ApplicationRow, url: str) -> bool:
        """Whether the application acknowledged the event."""
        body = event.body.encode()
        headers = signed_headers(self._services, application, body)
        try:
            response = await self.outgoing.post(
                url, body, headers, seconds=RESPONSE_SECONDS, maximum=_MAX_RESPONSE_BYTES
            )
        except OutgoingFailed as problem:
            log.info("webhook event %s of application %s: %s", event.id, application.id, problem)
            return False
        return response.status in _ACKNOWLEDGED

    async def _store(self, event: EventRow, now: Timestamp, *, acknowledged: bool | None) -> None:
        """Delete an event that was acknowledged or has no receiver (None) any more, or put it off."""

        async def work(ctx: Context) -> None:
            at = Timestamp(max(now, ctx.now) + retry_delay(event.attempts))
            if acknowledged is False and at <= event.created_at + RETRY_MS:
                await queries.postpone_event(ctx.tx, event.id, at)
                return
            await queries.delete_event(ctx.tx, event.id)
            if acknowledged:
                await queries.forget_failures(ctx.tx, event.application_id)
            elif acknowledged is False:
                await _count_failure(ctx, event.application_id)

        await unit_of_work.run(self._services, ANONYMOUS, work, fires=())


async def _count_failure(ctx: Context, application_id: ApplicationId) -> None:
    """Count an event that was given up; after too many in a row, disable the application's webhook events."""
    if await queries.count_failure(ctx.tx, application_id) < MAX_FAILURES:
        return
    await update_application(
        ctx.tx, application_id, event_webhooks_status=int(EventWebhooksStatus.DISABLED_BY_PLATFORM)
    )
    await queries.delete_events_of_application(ctx.tx, application_id)
    log.warning("application %s gets no webhook events any more: it acknowledged too few", application_id)
