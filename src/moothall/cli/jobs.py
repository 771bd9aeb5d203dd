"""`moothall jobs`: list, retry and drop background jobs."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from moothall.cli.arguments import SNOWFLAKE
from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.api.context import Context
    from moothall.api.jobs.queries import JobRow

_HEADINGS = ("JOB", "KIND", "STATUS", "ATTEMPTS", "NEXT ATTEMPT", "LAST ERROR")

_FAILED = click.option("--failed", is_flag=True, help="All failed jobs.")
_KIND = click.option("--kind", metavar="KIND", help="Only jobs of this kind.")
_JOB_IDS = click.argument("job_ids", metavar="[JOB]...", type=SNOWFLAKE, nargs=-1)


@click.group(short_help="List, retry or drop jobs that have failed.")
def jobs() -> None:
    """List, retry or drop background jobs, like the removal of a deleted guild's messages.

    A job whose attempt fails is retried after growing delays. After too many failures its status is failed: it stays in
    the list and runs no more until it is retried here. No other job waits for it.
    """


@jobs.command("list", short_help="Show jobs, with their last errors.")
@takes_settings(*STORAGE)
@_FAILED
@_KIND
@click.option("--limit", type=click.IntRange(1), default=100, metavar="N", help="How many to show [default 100].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_command(settings: Settings, kind: str | None, limit: int, *, failed: bool, as_json: bool) -> None:
    """Show jobs in the order in which they were enqueued, with the errors of their last attempts.

    The status is `waiting` (due), `scheduled` (for a later moment), `retrying` (due again after a failure) or `failed`.
    """
    from moothall.api.jobs.queries import list_jobs
    from moothall.cli.execution import query_database
    from moothall.runtime.secrets import SecretBox
    from moothall.storage.database import Reader

    async def read(reader: Reader, _box: SecretBox) -> tuple[list["JobRow"], int]:
        return await list_jobs(reader, failed=failed, kind=kind, limit=limit)

    rows, total = query_database(settings, read)
    now = Timestamp.now()
    if as_json:
        for row in rows:
            click.echo(json.dumps(_as_dict(row, now)))
    else:
        click.echo("\n".join(_table([_HEADINGS, *(_cells(row, now) for row in rows)])) if rows else "no jobs")
    if total > len(rows):
        click.echo(f"moothall: {total - len(rows)} more are not shown; see --limit", err=True)


@jobs.command(short_help="Run failed jobs again, now.")
@takes_settings(*STORAGE)
@_JOB_IDS
@_FAILED
@_KIND
def retry(settings: Settings, job_ids: Sequence[Snowflake], kind: str | None, *, failed: bool) -> None:
    """Run the jobs with these ids now, or with --failed all failed jobs, and reset their attempts.

    A running server starts them at once. Jobs that wait for their next attempt can be named too.
    """
    from moothall.resources.job_administration import operations

    count = _operate(settings, job_ids, kind, operations.retry_jobs, operations.retry_failed_jobs, failed=failed)
    click.echo(f"retried: {count}")


@jobs.command(short_help="Delete jobs; their remaining work is never done.")
@takes_settings(*STORAGE)
@_JOB_IDS
@_FAILED
@_KIND
def drop(settings: Settings, job_ids: Sequence[Snowflake], kind: str | None, *, failed: bool) -> None:
    """Delete the jobs with these ids, failed or not, or with --failed all that are failed.

    Their remaining work is never done: unused rows may stay, a poll may never end.
    """
    from moothall.resources.job_administration import operations

    count = _operate(settings, job_ids, kind, operations.drop_jobs, operations.drop_failed_jobs, failed=failed)
    click.echo(f"dropped: {count}")


def _operate(
    settings: Settings,
    job_ids: Sequence[Snowflake],
    kind: str | None,
    change_by_id: Callable[["Context", Sequence[Snowflake]], Awaitable[int]],
    change_failed: Callable[["Context", str | None], Awaitable[int]],
    *,
    failed: bool,
) -> int:
    """Change the named jobs or all failed ones; return how many."""
    from moothall.api.jobs.operations import JobsNotFound
    from moothall.cli.execution import operate

    if bool(job_ids) == failed:
        raise click.UsageError("name either jobs or --failed")
    if job_ids and kind is not None:
        raise click.UsageError("--kind goes with --failed")

    async def work(ctx: "Context") -> int:
        return await (change_failed(ctx, kind) if failed else change_by_id(ctx, job_ids))

    try:
        return operate(settings, work)
    except JobsNotFound as error:
        fail(str(error))


def _status(row: "JobRow", now: Timestamp) -> str:
    if row.failed_at is not None:
        return "failed"
    if row.attempts:
        return "retrying"
    return "scheduled" if row.not_before > now else "waiting"


def _as_dict(row: "JobRow", now: Timestamp) -> dict[str, Any]:
    return {
        "id": str(int(row.id)),
        "kind": row.kind,
        "status": _status(row, now),
        "attempts": row.attempts,
        "created_at": row.created_at.wire(),
        "next_attempt_at": _next_attempt(row),
        "failed_at": None if row.failed_at is None else row.failed_at.wire(),
        "last_error": row.last_error,
        "state": row.state,
    }


def _next_attempt(row: "JobRow") -> str | None:
    """The time of the next attempt in ISO 8601; None for a failed job, the time it was enqueued for one that is due."""
    return None if row.failed_at is not None else Timestamp(row.not_before or row.created_at).wire()


def _cells(row: "JobRow", now: Timestamp) -> tuple[str, ...]:
    moment = _next_attempt(row) or "-"
    return str(int(row.id)), row.kind, _status(row, now), str(row.attempts), moment, row.last_error or "-"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows in columns that are padded to their longest cell, except the last."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True))
        yield "  ".join((*padded, row[-1]))
