"""Job operations: enqueueing jobs, and retrying and dropping failed ones."""

from collections.abc import Collection, Iterable

from moothall.api.context import Context
from moothall.api.jobs import queries
from moothall.api.jobs.events import JobsDue
from moothall.api.jobs.kinds import Job
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp, to_plain


class JobsNotFound(Exception):
    """Some of the ids belong to no job that the operation applies to. Nothing was changed."""


async def enqueue(ctx: Context, job: Job, *, at: Timestamp | None = None) -> None:
    """Store a job in this transaction. It is run after the commit; with `at`, some seconds after that moment."""
    await queries.insert_job(
        ctx.tx, id=ctx.ids.next(), kind=job.kind, state=to_plain(job), created_at=ctx.now, not_before=at or 0
    )
    if at is None:
        ctx.after_commit.append(ctx.services.jobs_due.set)


async def enqueue_later(ctx: Context, jobs: Iterable[tuple[Job, Timestamp]]) -> None:
    """Store several jobs in this transaction with one statement, each with the moment before which it is not run."""
    rows = [
        {"id": ctx.ids.next(), "kind": job.kind, "state": to_plain(job), "created_at": ctx.now, "not_before": at}
        for job, at in jobs
    ]
    await queries.insert_jobs(ctx.tx, rows)


async def retry_jobs(ctx: Context, job_ids: Collection[Snowflake]) -> int:
    """Make jobs whose last attempt failed due now, and reset their attempts. Returns the number of jobs.

    Raises JobsNotFound for unknown ids, and for jobs without a failure, which run when they are due.
    """
    await _require(ctx, job_ids, attempted=True)
    count = await queries.reset_jobs(ctx.tx, job_ids, ctx.now)
    ctx.emit(JobsDue())
    return count


async def retry_failed_jobs(ctx: Context, kind: str | None = None) -> int:
    """The same for all failed jobs, or those of a kind."""
    count = await queries.reset_failed(ctx.tx, kind, ctx.now)
    ctx.emit(JobsDue())
    return count


async def drop_jobs(ctx: Context, job_ids: Collection[Snowflake]) -> int:
    """Delete jobs in any state, without running their remaining steps. Raises JobsNotFound for unknown ids."""
    await _require(ctx, job_ids, attempted=False)
    return await queries.delete_jobs(ctx.tx, job_ids)


async def drop_failed_jobs(ctx: Context, kind: str | None = None) -> int:
    """The same for all failed jobs, or those of a kind."""
    return await queries.delete_failed(ctx.tx, kind)


async def _require(ctx: Context, job_ids: Collection[Snowflake], *, attempted: bool) -> None:
    missing = set(job_ids) - await queries.select_ids(ctx.tx, job_ids, attempted=attempted)
    if missing:
        listed = ", ".join(str(int(job_id)) for job_id in sorted(missing))
        raise JobsNotFound(f"no job that has failed an attempt: {listed}" if attempted else f"no such job: {listed}")
