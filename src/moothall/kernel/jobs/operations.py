"""Job operations: enqueue, and what operators do with failed jobs."""

from collections.abc import Collection

from moothall.kernel.context import Context
from moothall.kernel.jobs import queries
from moothall.kernel.jobs.events import JobsDue
from moothall.kernel.jobs.kinds import Job
from moothall.kernel.jobs.runner import JobRunner
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp, to_plain


class JobsNotFound(Exception):
    """Some of the ids belong to no job that the operation applies to. Nothing was changed."""


async def enqueue(ctx: Context, job: Job, *, at: Timestamp | None = None) -> None:
    """Store a job in this transaction; it is done once that is durable, and never if that is rolled back.

    With `at` it is done some seconds after that moment, and not before.
    """
    await queries.insert_job(
        ctx.tx, id=ctx.ids.next(), kind=job.kind, state=to_plain(job), created_at=ctx.now, not_before=at or 0
    )
    runner = ctx.services.extra.get(JobRunner)
    if runner is not None and at is None:
        ctx.after_commit.append(runner.wake)


async def retry_jobs(ctx: Context, job_ids: Collection[Snowflake]) -> int:
    """Make jobs whose last attempt failed due now, with all attempts before them; how many there were.

    Raises JobsNotFound for ids of no job, and of jobs that never failed: those run when they are due.
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
    """Delete jobs, failed or not; what they have not done is never done. Raises JobsNotFound for ids of no job."""
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
