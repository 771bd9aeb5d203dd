"""SQL of jobs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final

from msgspec import Struct

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import ColumnElement, and_, bindparam, case, delete, func, insert, or_, select, update
from moothall.storage.statements.statement import ByDialect, CompiledStatement, Parameter
from moothall.storage.tables import facts_of, jobs

MAX_PER_KIND: Final = 20
"""The maximum number of due jobs of one kind that are read at once, so that a backlog of one kind delays no other."""


class JobRow(Struct):
    """A row of `jobs`."""

    id: Snowflake
    kind: str
    state: Any
    created_at: Timestamp
    not_before: int
    attempts: int
    failed_at: Timestamp | None
    last_error: str | None


class JobCounts(Struct, frozen=True):
    """The number of waiting jobs, which are due or will be retried, and of failed ones."""

    waiting: float
    failed: float


_is_failed = jobs.c.failed_at.is_not(None)
_is_not_failed = jobs.c.failed_at.is_(None)

_insert = Query(lambda: insert(jobs))
_select = Query(lambda: select(jobs).where(jobs.c.id == bindparam("job_id")), into=JobRow)
_update_progress = Query(
    lambda: (
        update(jobs)
        .where(jobs.c.id == bindparam("job_id"))
        .values(state=bindparam("new_state"), attempts=0, last_error=None)
    )
)
_update_failure = Query(
    lambda: (
        update(jobs)
        .where(jobs.c.id == bindparam("job_id"), jobs.c.attempts == bindparam("attempts_before"), _is_not_failed)
        .values(
            attempts=bindparam("new_attempts"),
            not_before=bindparam("next_attempt_at"),
            failed_at=bindparam("new_failed_at"),
            last_error=bindparam("error"),
        )
    )
)
_select_next_due = Query(lambda: select(func.min(jobs.c.not_before)).where(_is_not_failed))
_delete = Query(lambda: delete(jobs).where(jobs.c.id == bindparam("job_id")))
_count_states = Query(
    lambda: select(
        func.count(case((and_(_is_not_failed, or_(jobs.c.not_before <= bindparam("now"), jobs.c.attempts > 0)), 1))),
        func.count(jobs.c.failed_at),
    )
)


def _listed(*conditions: ColumnElement[bool]) -> Query[JobRow]:
    return Query(
        lambda: (
            select(jobs)
            .where(jobs.c.id > bindparam("after"), *conditions)
            .order_by(jobs.c.id)
            .limit(bindparam("maximum"))
        ),
        into=JobRow,
    )


_of_kind = jobs.c.kind == bindparam("kind")
_select_any = _listed()
_select_failed = _listed(_is_failed)
_select_of_kind = _listed(_of_kind)
_select_failed_of_kind = _listed(_is_failed, _of_kind)


@cache
def _select_due(kinds: frozenset[str]) -> Query[JobRow]:
    return Query(ByDialect(partial(_due_of_kinds, sorted(kinds))), into=JobRow)


def _due_of_kinds(kinds: Sequence[str], dialect: str) -> CompiledStatement:
    # One range of the index for each kind, which excludes jobs of unknown kinds and failed jobs. Written as text: to
    # compile thirty SELECTs takes fifteen milliseconds of every start.
    facts = facts_of(jobs).columns
    parameter = "?1" if dialect == "sqlite" else "$1"
    ranges = [
        f"SELECT * FROM (SELECT {', '.join(facts)} FROM jobs WHERE kind = {_quoted(kind)} AND failed_at IS NULL"  # noqa: S608
        f" AND not_before <= {parameter} ORDER BY not_before, id LIMIT {MAX_PER_KIND}) AS due"
        for kind in kinds
    ]
    columns = [(name, column.reads) for name, column in facts.items()]
    return CompiledStatement(" UNION ALL ".join(ranges), [Parameter("now")], columns)


def _quoted(kind: str) -> str:
    """A kind of jobs, which is words of letters and digits, as a literal of SQL. Raises ValueError for any other."""
    if not kind.replace(" ", "_").isidentifier():
        raise ValueError(f"{kind!r} is no kind of jobs")
    return f"'{kind}'"


async def select_next_due(reader: Reader) -> Timestamp | None:
    """When the next job is due; None if there is none."""
    due = await reader.scalar(_select_next_due)
    return None if due is None else Timestamp(due)


async def insert_job(tx: Transaction, **values: object) -> None:
    """Store a job."""
    await tx.execute(_insert, **values)


async def insert_jobs(tx: Transaction, rows: Iterable[Mapping[str, object]]) -> None:
    """Store several jobs."""
    await tx.execute_many(_insert, rows)


async def select_due(reader: Reader, kinds: Collection[str], now: Timestamp) -> list[JobRow]:
    """Select the first due jobs of each kind, at most `MAX_PER_KIND`, by the moment of their next attempt."""
    if not kinds:
        return []
    rows = await reader.all(_select_due(frozenset(kinds)), now=now)
    return sorted(rows, key=lambda row: (row.not_before, row.id))


async def select_job(reader: Reader, job_id: Snowflake) -> JobRow | None:
    """Select a job; None if it is done."""
    return await reader.one(_select, job_id=job_id)


async def update_progress(tx: Transaction, job_id: Snowflake, state: object) -> None:
    """Store the state of a job after a successful step, and reset its attempts."""
    await tx.execute(_update_progress, job_id=job_id, new_state=state)


async def update_failure(
    tx: Transaction, row: JobRow, *, attempts: int, next_attempt_at: Timestamp, failed_at: Timestamp | None, error: str
) -> bool:
    """Store a failed attempt. Returns False if another process has stored one since the row was read."""
    changed = await tx.execute(
        _update_failure,
        job_id=row.id,
        attempts_before=row.attempts,
        new_attempts=attempts,
        next_attempt_at=next_attempt_at,
        new_failed_at=failed_at,
        error=error,
    )
    return changed > 0


async def delete_job(tx: Transaction, job_id: Snowflake) -> None:
    """Delete a job that is done."""
    await tx.execute(_delete, job_id=job_id)


async def count_jobs(reader: Reader, now: Timestamp) -> JobCounts:
    """Count the waiting and failed jobs of all kinds."""
    (row,) = await reader.all_long(_count_states, now=now)
    return JobCounts(waiting=row[0], failed=row[1])


# For operators


async def list_jobs(reader: Reader, *, failed: bool, kind: str | None, limit: int) -> tuple[list[JobRow], int]:
    """Select the first jobs by id, and count all of them; optionally only failed ones, or those of a kind."""
    conditions = _matching(failed=failed, kind=kind)
    rows = await reader.all_long(Query(select(jobs).where(*conditions).order_by(jobs.c.id).limit(limit), into=JobRow))
    return rows, int(await reader.scalar(Query(select(func.count()).select_from(jobs).where(*conditions))))


async def select_jobs_after(
    reader: Reader, *, failed: bool, kind: str | None, after: Snowflake | None, maximum: int
) -> list[JobRow]:
    """Select jobs with greater ids than `after` by id; optionally only failed ones, or those of a kind."""
    values: dict[str, object] = {"after": after or 0, "maximum": maximum}
    if kind is None:
        return await reader.all_long(_select_failed if failed else _select_any, **values)
    return await reader.all_long(_select_failed_of_kind if failed else _select_of_kind, kind=kind, **values)


async def select_ids(reader: Reader, job_ids: Collection[Snowflake], *, attempted: bool) -> set[Snowflake]:
    """Select those of the ids that exist; with `attempted`, only of jobs whose last attempt failed."""
    conditions = [in_list(jobs.c.id, "job_ids"), *([jobs.c.attempts > 0] if attempted else [])]
    rows = await reader.all(Query(select(jobs.c.id).where(*conditions)), job_ids=list(job_ids))
    return {Snowflake(row[0]) for row in rows}


async def reset_jobs(tx: Transaction, job_ids: Collection[Snowflake], now: Timestamp) -> int:
    """Make jobs due now and reset their attempts. Returns the number of jobs."""
    return await tx.execute(_reset(in_list(jobs.c.id, "job_ids")), job_ids=list(job_ids), now=now)


async def reset_failed(tx: Transaction, kind: str | None, now: Timestamp) -> int:
    """Make all failed jobs, or those of a kind, due now. Returns the number of jobs."""
    return await tx.execute(_reset(*_matching(failed=True, kind=kind)), now=now)


async def delete_jobs(tx: Transaction, job_ids: Collection[Snowflake]) -> int:
    """Delete jobs in any state. Returns the number of jobs."""
    return await tx.execute(Query(delete(jobs).where(in_list(jobs.c.id, "job_ids"))), job_ids=list(job_ids))


async def delete_failed(tx: Transaction, kind: str | None) -> int:
    """Delete all failed jobs, or those of a kind. Returns the number of jobs."""
    return await tx.execute(Query(delete(jobs).where(*_matching(failed=True, kind=kind))))


def _matching(*, failed: bool, kind: str | None) -> list[ColumnElement[bool]]:
    return [*([_is_failed] if failed else []), *([jobs.c.kind == kind] if kind is not None else [])]


def _reset(*conditions: ColumnElement[bool]) -> Query[Any]:
    return Query(update(jobs).where(*conditions).values(attempts=0, failed_at=None, not_before=bindparam("now")))
