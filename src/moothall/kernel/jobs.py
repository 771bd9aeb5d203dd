"""Work that outlives its request: enqueued in the request's transaction, done in steps after it.

A job is a row, so a crash loses none: whichever process finds it goes on where the last step ended.
A step is a short transaction of its own, so that a job of an hour never holds up anybody for more
than milliseconds. Steps of one job run one after another, whatever the number of processes.
"""

import asyncio
import logging
import time
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, update

from moothall.kernel.authenticate import NOBODY
from moothall.kernel.context import Context, Services
from moothall.kernel.repeating import Repeater
from moothall.kernel.unit import run
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp, convert, to_plain
from moothall.storage.database import Query, StorageError
from moothall.storage.schema import jobs

log = logging.getLogger("moothall.jobs")


class Job(Struct, frozen=True, kw_only=True):
    """A piece of work; its fields are all that it remembers between two steps."""

    kind: ClassVar[str]
    """The name that the database knows it by: never changed, as long as one may be waiting."""

    async def step(self, ctx: Context) -> "Job | None":
        """Do a little, in a transaction of its own: what remains to be done, or None when all is done.

        It may be repeated whole after a crash or a conflict, but then nothing of it was done.
        """
        raise NotImplementedError


J = TypeVar("J", bound=type[Job])

KINDS: Final[dict[str, type[Job]]] = {}
"""Every kind of job that has been imported."""

SETTLED_MS: Final = 60_000
"""By then all transactions are over that were under way when another one committed: what they have written is there."""

_MOST_AT_ONCE: Final = 100
_AFTER_FAILURE: Final = 60.0


class JobRow(Struct):
    """A row of `jobs`."""

    id: Snowflake
    kind: str
    state: Any


_insert = Query(insert(jobs))
_select = Query(
    select(jobs.c.id, jobs.c.kind, jobs.c.state)
    .where(jobs.c.not_before <= bindparam("now"))
    .order_by(jobs.c.not_before, jobs.c.id)
    .limit(_MOST_AT_ONCE),
    into=JobRow,
)
_select_one = Query(select(jobs.c.id, jobs.c.kind, jobs.c.state).where(jobs.c.id == bindparam("job_id")), into=JobRow)
_update = Query(update(jobs).where(jobs.c.id == bindparam("job_id")).values(state=bindparam("new_state")))
_delete = Query(delete(jobs).where(jobs.c.id == bindparam("job_id")))


def job(kind: J) -> J:
    """Make a kind of job known. Raises TypeError if its name is taken."""
    if KINDS.setdefault(kind.kind, kind) is not kind:
        raise TypeError(f"two jobs are called {kind.kind}")
    return kind


async def enqueue(ctx: Context, work: Job, *, at: Timestamp | None = None) -> None:
    """Have a job done once the transaction is durable; if it fails, the job was never there.

    With `at` it is done some seconds after that moment, and not before.
    """
    await ctx.tx.execute(
        _insert, id=ctx.ids.next(), kind=work.kind, state=to_plain(work), created_at=ctx.now, not_before=at or 0
    )
    runner = ctx.services.extra.get(JobRunner)
    if runner is not None and at is None:
        ctx.after_commit.append(runner.wake)


class JobRunner(Repeater):
    """Runs due jobs: at once when woken, else it looks every `seconds`.

    It rests for `pause` seconds after each step, which leaves the database to those who wait.
    """

    def __init__(self, services: Services, *, seconds: float = 5.0, pause: float = 0.002) -> None:
        super().__init__(seconds=seconds)
        self._services = services
        self._pause = pause
        self._not_before: dict[int, float] = {}

    async def drain(self, now: Timestamp | None = None) -> None:
        """Do all that is due, or will be at a moment, to its end. Raises what a step raises."""
        while rows := await self._waiting(now):
            for row in rows:
                await self._step(row)

    async def _round(self) -> bool:
        """One step of each job that waits; whether there was any."""
        now = time.monotonic()
        try:
            waiting = await self._waiting()
        except StorageError as problem:
            log.warning("jobs cannot be read: %s", problem)
            return False
        rows = [row for row in waiting if self._not_before.get(row.id, 0.0) <= now]
        for row in rows:
            try:
                await self._step(row)
            except StorageError as problem:
                log.warning("job %s (%s) will be repeated: %s", row.id, row.kind, problem)
                self._not_before[row.id] = now + self._seconds
            except Exception:
                log.exception("job %s (%s) failed", row.id, row.kind)
                self._not_before[row.id] = now + _AFTER_FAILURE
            await asyncio.sleep(self._pause)
        return bool(rows)

    async def _waiting(self, now: Timestamp | None = None) -> list[JobRow]:
        async with self._services.database.read() as reader:
            rows = await reader.all(_select, now=Timestamp.now() if now is None else now)
        # A kind that is unknown here belongs to another version, whose processes will do it.
        return [row for row in rows if row.kind in KINDS]

    async def _step(self, row: JobRow) -> None:
        await run(self._services, NOBODY, partial(_do_step, row.id), lock=row.id)
        self._not_before.pop(row.id, None)


async def _do_step(job_id: Snowflake, ctx: Context) -> None:
    # Read again under the lock: another process may have come further, or finished it.
    row = await ctx.tx.one(_select_one, job_id=job_id)
    if row is None:
        return
    work: Job = convert(row.state, KINDS[row.kind])
    rest = await work.step(ctx)
    if rest is None:
        await ctx.tx.execute(_delete, job_id=job_id)
    elif rest != work:
        await ctx.tx.execute(_update, job_id=job_id, new_state=to_plain(rest))
