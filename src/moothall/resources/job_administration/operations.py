"""Operations of operators on background jobs. Each is a row of their log."""

from collections.abc import Sequence

from moothall.api.context import Context
from moothall.api.jobs import operations as jobs
from moothall.objects.ids import Snowflake
from moothall.resources.operator_log.operations import record_act


async def retry_jobs(ctx: Context, job_ids: Sequence[Snowflake]) -> int:
    """Run jobs whose last attempt failed again, now; their number. Raises JobsNotFound for others."""
    return await _record(ctx, "job.retry", await jobs.retry_jobs(ctx, job_ids), job_ids=job_ids)


async def retry_failed_jobs(ctx: Context, kind: str | None = None) -> int:
    """The same for all failed jobs, or those of a kind."""
    return await _record(ctx, "job.retry", await jobs.retry_failed_jobs(ctx, kind), kind=kind)


async def drop_jobs(ctx: Context, job_ids: Sequence[Snowflake]) -> int:
    """Delete jobs in any state, without running their remaining steps. Raises JobsNotFound for unknown ids."""
    return await _record(ctx, "job.drop", await jobs.drop_jobs(ctx, job_ids), job_ids=job_ids)


async def drop_failed_jobs(ctx: Context, kind: str | None = None) -> int:
    """The same for all failed jobs, or those of a kind."""
    return await _record(ctx, "job.drop", await jobs.drop_failed_jobs(ctx, kind), kind=kind)


async def _record(
    ctx: Context, act: str, count: int, *, job_ids: Sequence[Snowflake] = (), kind: str | None = None
) -> int:
    if count:
        target_id = job_ids[0] if len(job_ids) == 1 else None
        await record_act(ctx, act, target_id, changes={"jobs": (None, count), "kind": (None, kind)})
    return count
