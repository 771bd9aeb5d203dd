"""The background task that runs due jobs and retries failed attempts."""

import asyncio
import logging
import random
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Final

from moothall.api.authenticate import ANONYMOUS
from moothall.api.conflicts import retry_on_conflict
from moothall.api.context import Context, Services
from moothall.api.jobs import queries
from moothall.api.jobs.events import JobsDue
from moothall.api.jobs.kinds import KINDS, Job
from moothall.api.jobs.queries import JobRow
from moothall.api.unit_of_work import run
from moothall.bus import Envelope
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.runtime.background import PeriodicTask
from moothall.storage.database import StorageConflict, StorageError, StorageFull, StorageUnavailable

log = logging.getLogger("moothall.jobs")

MAX_ATTEMPTS: Final = 12
"""The number of failures in a row after which a job is failed: with the delays below, after two and a half hours."""

_FIRST_DELAY: Final = 5.0
"""Seconds until the second attempt; each further delay is twice as long."""
_MAX_DELAY: Final = 3600.0
_JITTER: Final = 0.2
"""The random fraction of a delay, so that jobs that failed together are not retried together."""

_STEP_SECONDS: Final = 60.0
"""A step that takes longer is cancelled, which counts as a failure, so that no job blocks the others."""

_MAX_ERROR_LENGTH: Final = 1000

_DATABASE_ERRORS: Final = (StorageUnavailable, StorageFull, StorageConflict)
"""Errors of the database, which are not counted as failures of the job."""


def retry_delay(attempts: int) -> float:
    """Compute the delay before the next attempt, in seconds, after so many failures in a row."""
    delay = min(_FIRST_DELAY * 2.0 ** (attempts - 1), _MAX_DELAY)
    return delay * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 it protects nothing


def error_text(error: Exception) -> str:
    """An exception's type and message in one line of bounded length, which PostgreSQL can store."""
    line = " ".join("".join(traceback.format_exception_only(error)).split())
    return line.replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:_MAX_ERROR_LENGTH]


class JobRunner(PeriodicTask):
    """Runs due jobs, one step after another: when woken, and every `seconds` otherwise.

    It sleeps for `pause` seconds after each step, which leaves the database to the requests.
    """

    def __init__(self, services: Services, *, seconds: float = 5.0, pause: float = 0.002) -> None:
        super().__init__(seconds=seconds, woken=services.jobs_due)
        self._services = services
        self._pause = pause

    def handle_envelopes(self, envelopes: Sequence[Envelope]) -> None:
        """Wake up when another process announces on the bus that jobs are due."""
        for envelope in envelopes:
            if envelope.name == JobsDue.name:
                self.wake()

    async def drain(self, now: Timestamp | None = None) -> None:
        """Run all jobs that are due, or will be at `now`, to their end. Raises what a step raises, without retries."""
        while rows := await self._select_due(Timestamp.now() if now is None else now):
            for row in rows:
                await self._step(row)

    async def _round(self) -> bool:
        """Run one step of some due jobs of each kind. Returns False if there are none, or the database fails."""
        try:
            rows = await self._select_due(Timestamp.now())
            for row in rows:
                await self._attempt(row)
                await asyncio.sleep(self._pause)
        except StorageError as error:
            log.warning("jobs wait for the database: %s", error)
            return False
        return bool(rows)

    async def _select_due(self, now: Timestamp) -> list[JobRow]:
        # Jobs of an unknown kind belong to another version, whose processes run them.
        async with self._services.database.read() as reader:
            return await queries.select_due(reader, KINDS, now)

    async def _attempt(self, row: JobRow) -> None:
        """Run a step and store its failure. Raises StorageError if that cannot be stored."""
        limit = asyncio.timeout(_STEP_SECONDS)
        try:
            async with limit:
                await self._step(row)
        except Exception as error:  # noqa: BLE001 whatever a job raises is stored with it
            too_long = TimeoutError(f"a step took longer than {_STEP_SECONDS:.0f} seconds")
            await self._store_failure(row, too_long if limit.expired() else error)

    async def _step(self, row: JobRow) -> None:
        # Every process takes the same lock for the same state of a job, so one of them does the step.
        lock = _job_of(row).lock
        await run(self._services, ANONYMOUS, partial(_step_unless_changed, row), lock=row.id if lock is None else lock)

    async def _store_failure(self, row: JobRow, error: Exception) -> None:
        """Schedule the next attempt, or mark the job as failed after `MAX_ATTEMPTS`. Raises StorageError.

        The step's own transaction is rolled back, so this is a second one. It requires the number of attempts that the
        step began with, so that of several processes with the same attempt one counts it. Errors of the database are
        not counted, and only delay the job.
        """
        counted = not isinstance(error, _DATABASE_ERRORS)
        attempts = row.attempts + counted
        is_failed = attempts >= MAX_ATTEMPTS
        delay = retry_delay(attempts) if counted else retry_delay(1)
        now = Timestamp.now()

        async def store() -> bool:
            async with self._services.database.transaction() as tx:
                return await queries.update_failure(
                    tx,
                    row,
                    attempts=attempts,
                    next_attempt_at=Timestamp(now + round(delay * 1000)),
                    failed_at=now if is_failed else None,
                    error=error_text(error),
                )

        if not await retry_on_conflict(store):
            return
        if is_failed:
            log.error("job %s (%s) is failed after %d attempts", row.id, row.kind, attempts, exc_info=error)
        else:
            # The traceback is logged once: it seldom changes from one attempt to the next.
            first = error if attempts == 1 and counted else None
            log.warning(
                "job %s (%s) is tried again in %.0f s: %s", row.id, row.kind, delay, error_text(error), exc_info=first
            )


def _job_of(row: JobRow) -> Job:
    job: Job = convert(row.state, KINDS[row.kind])
    return job


async def _step_unless_changed(before: JobRow, ctx: Context) -> None:
    # Read again under the lock: another process may have finished the job, counted a failure or made progress.
    row = await queries.select_job(ctx.tx, before.id)
    if row is None or (row.attempts, row.not_before) != (before.attempts, before.not_before):
        return
    job = _job_of(row)
    if job.lock != _job_of(before).lock:
        return
    rest = await job.step(ctx)
    if rest is None:
        await queries.delete_job(ctx.tx, row.id)
    elif rest != job or row.last_error is not None:
        await queries.update_progress(ctx.tx, row.id, to_plain(rest))
