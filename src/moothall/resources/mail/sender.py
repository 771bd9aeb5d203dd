"""Sends the mails that wait, outside any transaction, and retries those that the mail server does not take.

A job's step is a transaction, and a mail server that hangs would keep the one writer of SQLite for as long: so mails
are a queue of their own, from which a process claims what it sends.
"""

import logging
import random
from typing import TYPE_CHECKING, Final

import msgspec

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.mail import queries
from moothall.resources.mail.config import MailConfig
from moothall.resources.mail.delivery import DeliveryFailed, deliver
from moothall.resources.mail.messages import MailKind, build_message
from moothall.resources.mail.queries import MailRow, MailState
from moothall.runtime.secrets import SecretUnreadable
from moothall.storage.database import StorageError
from moothall.storage.queue_worker import QueueWorker

if TYPE_CHECKING:
    from moothall.api.context import Services

MAX_ATTEMPTS: Final = 10
"""The number of failed attempts after which a mail is given up: with the delays below, after four hours."""
LOG_DAYS: Final = 30
"""Days for which the log of mails is stored."""

_FIRST_DELAY_MS: Final = 30_000
"""Time until the second attempt; each further delay is twice as long."""
_MAX_DELAY_MS: Final = 3_600_000
_JITTER: Final = 0.1
_CLAIM_MARGIN_MS: Final = 30_000
"""Time beyond that of a delivery after which another process tries a mail, if the one that claimed it ended."""
_MAX_IN_FLIGHT: Final = 4
_SWEEP_MS: Final = 3_600_000
_SWEPT_AT_ONCE: Final = 200
_DAY_MS: Final = 86_400_000

log = logging.getLogger("moothall.mail")


def sealed_about(mail_id: Snowflake) -> bytes:
    """What the encrypted values of a mail are bound to."""
    return f"mail {int(mail_id)}".encode()


def retry_delay(attempts: int) -> int:
    """Milliseconds until the next attempt, after so many."""
    delay = min(_FIRST_DELAY_MS * 2.0 ** (attempts - 1), _MAX_DELAY_MS)
    return round(delay * random.uniform(1 - _JITTER, 1 + _JITTER))  # noqa: S311 it protects nothing


class MailSender(QueueWorker):
    """Sends due mails: when woken, and every `seconds` otherwise. Without a mail server (None) it sends none."""

    def __init__(
        self, services: "Services", config: MailConfig | None, *, seconds: float = 10.0, seconds_each: float = 20.0
    ) -> None:
        super().__init__("mails", maximum=_MAX_IN_FLIGHT, seconds=seconds)
        self._services = services
        self.config = config
        self.seconds_each = seconds_each
        """How long delivering one mail may take in all, where an operator sets the mail server."""
        self._next_sweep = Timestamp(0)

    async def _start_due(self, now: Timestamp) -> bool:
        config = self.config
        if config is None:
            return False
        if now >= self._next_sweep:
            self._next_sweep = Timestamp(now + _SWEEP_MS)
            await self.sweep(now)
        if (free := self._free) <= 0:
            return False
        async with self._services.database.read() as reader:
            due = await queries.select_due(reader, now, free)
        if not due:
            return False

        async def claim(ctx: Context) -> list[MailRow]:
            until = Timestamp(max(now, ctx.now) + round(config.seconds * 1000) + _CLAIM_MARGIN_MS)
            return await queries.claim_mails(ctx.tx, due, ctx.ids.next(), now=now, until=until)

        for row in await unit_of_work.run(self._services, ANONYMOUS, claim, fires=()):
            self._start(self._attempt(config, row, now))
        return True

    async def sweep(self, now: Timestamp) -> None:
        """Delete the log of mails that are older than `LOG_DAYS`."""
        before = Timestamp(now - LOG_DAYS * _DAY_MS)
        while True:
            async with self._services.database.read() as reader:
                mail_ids = await queries.select_old(reader, before, _SWEPT_AT_ONCE)
            if not mail_ids:
                return
            async with self._services.database.transaction() as tx:
                await queries.delete_mails(tx, mail_ids)

    async def _attempt(self, config: MailConfig, row: MailRow, now: Timestamp) -> None:
        """Send a mail once and store the result.

        An unexpected exception counts as a failed attempt: else the mail would be tried, and stay stored, for 30 days.
        """
        try:
            failure = await self._deliver(config, row, now)
        except Exception as error:
            log.exception("mail %s cannot be sent", row.id)
            failure = DeliveryFailed(f"an unexpected error: {type(error).__name__}")
        try:
            await self._store(row, now, failure)
        except StorageError as error:
            log.warning("the result of mail %s is not stored: %s", row.id, error)
        except Exception:
            log.exception("the result of mail %s is not stored", row.id)

    async def _deliver(self, config: MailConfig, row: MailRow, now: Timestamp) -> DeliveryFailed | None:
        """Send a mail; return why it was not taken, or None."""
        if row.expires_at is not None and row.expires_at <= now:
            return DeliveryFailed("its link has expired before it could be sent", permanent=True)
        try:
            sealed = self._services.box.decrypt(row.sealed or b"", about=sealed_about(row.id))
            values = msgspec.json.decode(sealed, type=dict[str, str])
            message = build_message(config, MailKind(row.kind), row.language, row.address, values, mail_id=int(row.id))
        except SecretUnreadable as error:
            return DeliveryFailed(f"its text cannot be read: {error}", permanent=True)
        try:
            await deliver(config, message, row.address)
        except DeliveryFailed as error:
            return error
        return None

    async def _store(self, row: MailRow, now: Timestamp, failure: DeliveryFailed | None) -> None:
        """Store that a mail was sent, or why not, and when it is tried again."""
        moment = Timestamp(max(now, Timestamp.now()))

        async def work(ctx: Context) -> None:
            if failure is None:
                await queries.end_mail(ctx.tx, row.id, MailState.SENT, sent_at=moment)
            elif failure.permanent or row.attempts >= MAX_ATTEMPTS:
                await queries.end_mail(ctx.tx, row.id, MailState.FAILED, error=str(failure))
            else:
                at = Timestamp(moment + retry_delay(row.attempts))
                await queries.postpone_mail(ctx.tx, row.id, at, str(failure))

        if failure is not None:
            log.warning("mail %s (%s), attempt %d: %s", row.id, row.kind, row.attempts, failure)
        await unit_of_work.run(self._services, ANONYMOUS, work, fires=())
