"""Background jobs over HTTP, as operators see and repair them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.api.jobs.events import JobsDue
from moothall.api.jobs.operations import JobsNotFound
from moothall.api.jobs.queries import JobRow, select_jobs_after
from moothall.api.operators import may_act, may_read
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.job_administration import operations

_READS, _ACTS = may_read(OperatorPermission.JOBS), may_act(OperatorPermission.JOBS)
_State = Literal["waiting", "scheduled", "retrying", "failed"]
_Kind = Annotated[str, Meta(min_length=1, max_length=64)]


class AdministeredJob(Struct, frozen=True, kw_only=True):
    """Work that is not finished; what it is about is not shown, as it may hold what people write."""

    id: Snowflake
    kind: str
    state: _State
    """Due, due at a later moment, due again after a failure, or failed for good."""
    attempts: int
    created_at: Timestamp
    next_attempt_at: Timestamp | None
    """Null for a failed job, which is not run again by itself."""
    failed_at: Timestamp | None
    last_error: str | None


class RetryFailedJobs(Struct, frozen=True):
    """Which failed jobs are run again: those of a kind, or all."""

    kind: _Kind | None = None


class ChangedJobs(Struct, frozen=True):
    """How many jobs were changed."""

    count: int


@get("/admin/v1/jobs", permission=_READS)
async def list_administered_jobs(
    ctx: Context,
    *,
    failed: bool = False,
    kind: _Kind | None = None,
    after: Snowflake | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[AdministeredJob]:
    """List jobs in the order in which they were enqueued; with `failed` the failed ones."""
    rows = await select_jobs_after(ctx.tx, failed=failed, kind=kind, after=after, maximum=limit)
    return [_job(row, ctx.now) for row in rows]


@post("/admin/v1/jobs/retry", permission=_ACTS, audit_reason=True, fires=(JobsDue,), status=200)
async def retry_failed_jobs(ctx: Context, body: RetryFailedJobs) -> ChangedJobs:
    """Run all failed jobs again, or those of a kind, from where their last steps ended."""
    return ChangedJobs(await operations.retry_failed_jobs(ctx, body.kind))


@post("/admin/v1/jobs/{job_id}/retry", permission=_ACTS, audit_reason=True, fires=(JobsDue,))
async def retry_job(ctx: Context, job_id: Snowflake) -> None:
    """Run a job whose last attempt failed again, now."""
    try:
        await operations.retry_jobs(ctx, [job_id])
    except JobsNotFound:
        raise Refusal(errors.NOT_FOUND) from None


@delete("/admin/v1/jobs/{job_id}", permission=_ACTS, audit_reason=True)
async def drop_job(ctx: Context, job_id: Snowflake) -> None:
    """Delete a job. What is left of its work is never done: rows may stay that nothing uses."""
    try:
        await operations.drop_jobs(ctx, [job_id])
    except JobsNotFound:
        raise Refusal(errors.NOT_FOUND) from None


def _job(row: JobRow, now: Timestamp) -> AdministeredJob:
    return AdministeredJob(
        id=row.id,
        kind=row.kind,
        state=_state(row, now),
        attempts=row.attempts,
        created_at=row.created_at,
        next_attempt_at=Timestamp(row.not_before or row.created_at) if row.failed_at is None else None,
        failed_at=row.failed_at,
        last_error=row.last_error,
    )


def _state(row: JobRow, now: Timestamp) -> _State:
    if row.failed_at is not None:
        return "failed"
    if row.attempts:
        return "retrying"
    return "scheduled" if row.not_before > now else "waiting"
