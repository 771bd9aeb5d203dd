"""Work that outlives its request (api/jobs)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import apsw
import asyncpg
import pytest
from msgspec import structs
from sqlalchemy import select, update

from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.api.jobs import KINDS, MAX_ATTEMPTS, Job, JobRunner, enqueue, job, operations, queries, runner
from moothall.api.jobs.queries import JobCounts, JobRow
from moothall.api.jobs.runner import error_text, retry_delay
from moothall.api.unit_of_work import run
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.storage.database import (
    ConstraintFailed,
    Query,
    StorageConflict,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from moothall.storage.schema import jobs
from tests.support.harness import Platform

_HOUR_MS = 3_600_000

done: list[int] = []
errors: dict[int, BaseException] = {}
"""What a job raises at a number."""


@job
class CountDown(Job, frozen=True, kw_only=True):
    """Counts down to 0, one number a step."""

    kind: ClassVar[str] = "test_count_down"
    left: int

    async def step(self, ctx: Context) -> "Job | None":
        if (error := errors.get(self.left)) is not None:
            await ctx.tx.execute(_touch)  # to be rolled back
            raise error
        done.append(self.left)
        return structs.replace(self, left=self.left - 1) if self.left else None


@job
class Fail(Job, frozen=True, kw_only=True):
    """Fails at every attempt."""

    kind: ClassVar[str] = "test_fail"
    number: int

    async def step(self, ctx: Context) -> "Job | None":
        del ctx
        if self.number < 0:
            done.append(self.number)
            return None
        raise ArithmeticError("always")


@job
class Hang(Job, frozen=True, kw_only=True):
    """Never ends its step."""

    kind: ClassVar[str] = "test_hang"

    async def step(self, ctx: Context) -> "Job | None":
        del ctx
        await asyncio.sleep(3600)
        return None


@job
class Wait(Job, frozen=True, kw_only=True):
    """Remains as it is at every step."""

    kind: ClassVar[str] = "test_wait"

    async def step(self, ctx: Context) -> "Job | None":
        del ctx
        if 0 in errors:
            raise errors[0]
        return self


_touch = Query(update(jobs).values(created_at=0))
_select_jobs = Query(select(jobs).order_by(jobs.c.id), into=JobRow)
_make_due = Query(update(jobs).values(not_before=0))
_garble = Query(update(jobs).values(state={"left": "many"}))


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()
    errors.clear()


async def enqueue_all(platform: Platform, *work: Job) -> None:
    async def enqueue_each(ctx: Context) -> None:
        for each in work:
            await enqueue(ctx, each)

    await run(platform.services, ANONYMOUS, enqueue_each)


async def rows(platform: Platform) -> list[JobRow]:
    async with platform.database.read() as reader:
        return await reader.all(_select_jobs)


async def row(platform: Platform) -> JobRow:
    (only,) = await rows(platform)
    return only


async def until_left(platform: Platform, count: int) -> None:
    """Wait until so many jobs are left: a step that has run is done only once it is committed."""
    async with asyncio.timeout(30):
        while len(await rows(platform)) > count:  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.01)


async def attempt(platform: Platform, *, times: int = 1) -> None:
    """Let every job have its next attempts now, whatever the delays."""
    for _ in range(times):
        async with platform.database.transaction() as tx:
            await tx.execute(_make_due)
        await JobRunner(platform.services, pause=0)._round()


async def counts(platform: Platform) -> JobCounts:
    async with platform.database.read() as reader:
        return await queries.count_jobs(reader, Timestamp.now())


@asynccontextmanager
async def running(platform: Platform, *, seconds: float = 60) -> AsyncIterator[JobRunner]:
    """A runner at work, which requests wake."""
    started = JobRunner(platform.services, seconds=seconds, pause=0)
    started.start()
    yield started
    await started.stop()


async def until(true: Callable[[], bool], *, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.01)


async def test_a_job_is_done_step_by_step_to_its_end(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=3))
    await JobRunner(platform.services).drain()
    assert done == [3, 2, 1, 0]
    await JobRunner(platform.services).drain()
    assert done == [3, 2, 1, 0]


async def test_a_job_of_a_failed_transaction_was_never_enqueued(platform: Platform) -> None:
    async def work(ctx: Context) -> None:
        await enqueue(ctx, CountDown(left=1))
        raise LookupError

    with pytest.raises(LookupError):
        await run(platform.services, ANONYMOUS, work)
    assert await rows(platform) == []


async def test_what_a_crash_interrupts_goes_on_where_the_last_step_ended(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=3))
    errors[1] = ArithmeticError("stumbled")
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            await JobRunner(platform.services).drain()
    errors.clear()
    await JobRunner(platform.services).drain()
    assert done == [3, 2, 1, 0]


async def test_a_new_job_wakes_the_runner(platform: Platform) -> None:
    async with running(platform):
        await asyncio.sleep(0.05)  # it has looked, and found none
        await enqueue_all(platform, CountDown(left=2))
        await until(lambda: done == [2, 1, 0])


async def test_two_runners_do_each_step_once(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=20))
    await asyncio.gather(JobRunner(platform.services).drain(), JobRunner(platform.services).drain())
    assert done == list(range(20, -1, -1))


async def test_a_job_for_later_is_not_done_before(platform: Platform) -> None:
    async def work(ctx: Context) -> None:
        await enqueue(ctx, CountDown(left=0), at=Timestamp(ctx.now + _HOUR_MS))

    await run(platform.services, ANONYMOUS, work)
    await JobRunner(platform.services).drain()
    assert done == []
    await JobRunner(platform.services).drain(Timestamp(Timestamp.now() + 2 * _HOUR_MS))
    assert done == [0]


async def test_kinds_of_another_version_are_left_to_that_version_and_delay_no_other(platform: Platform) -> None:
    await enqueue_all(platform, *(CountDown(left=0) for _ in range(200)))
    kind = KINDS.pop(CountDown.kind)
    try:
        async with running(platform):
            await enqueue_all(platform, Fail(number=-1))
            await until_left(platform, 200)
    finally:
        KINDS[CountDown.kind] = kind
    assert done == [-1]
    assert {each.attempts for each in await rows(platform)} == {0}
    await JobRunner(platform.services).drain()
    assert done == [-1, *[0] * 200]


def test_two_kinds_with_one_name_are_refused() -> None:
    with pytest.raises(TypeError):

        @job
        class Other(Job, frozen=True, kw_only=True):
            kind: ClassVar[str] = "test_count_down"


# Jobs that fail


async def test_a_thousand_failing_jobs_do_not_delay_one_of_another_kind(platform: Platform) -> None:
    await enqueue_all(platform, *(Fail(number=number) for number in range(1000)), CountDown(left=0))
    await JobRunner(platform.services, pause=0)._round()
    assert done == [0]


@pytest.mark.timeout(600)  # a thousand attempts of two transactions each
async def test_a_thousand_failing_jobs_do_not_keep_one_of_their_kind_from_being_done(platform: Platform) -> None:
    await enqueue_all(platform, *(Fail(number=number) for number in range(1000)), Fail(number=-1))
    runner = JobRunner(platform.services, pause=0)
    while not done:
        assert await runner._round()


async def test_a_thousand_failed_jobs_cost_the_others_nothing(platform: Platform) -> None:
    await enqueue_all(platform, *(Fail(number=number) for number in range(1000)))
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(jobs).values(attempts=MAX_ATTEMPTS, failed_at=1)))
    await enqueue_all(platform, Fail(number=-1))
    async with running(platform):
        await until_left(platform, 1000)
    assert done == [-1]
    assert {each.attempts for each in await rows(platform)} == {MAX_ATTEMPTS}


async def test_a_failed_attempt_is_counted_with_its_error_and_the_next_one_comes_later(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=1))
    errors[0] = ArithmeticError("no\nzero")
    before = Timestamp.now()
    await attempt(platform, times=2)
    failed = await row(platform)
    assert (failed.attempts, failed.failed_at, failed.last_error) == (1, None, "ArithmeticError: no zero")
    assert failed.state == {"left": 0}  # the first step stands
    assert failed.created_at > 0  # what the failed step wrote does not
    assert 4_000 <= failed.not_before - before <= 7_000
    await JobRunner(platform.services)._round()
    assert (await row(platform)).attempts == 1
    assert await counts(platform) == JobCounts(waiting=1, failed=0)


async def test_a_job_is_failed_after_its_last_attempt_and_never_tried_again(platform: Platform) -> None:
    await enqueue_all(platform, Fail(number=1))
    await attempt(platform, times=MAX_ATTEMPTS - 1)
    last = await row(platform)
    assert (last.attempts, last.failed_at) == (MAX_ATTEMPTS - 1, None)
    await attempt(platform)
    last = await row(platform)
    assert last.attempts == MAX_ATTEMPTS
    assert last.failed_at is not None
    await attempt(platform, times=3)
    assert (await row(platform)).attempts == MAX_ATTEMPTS
    assert await counts(platform) == JobCounts(waiting=0, failed=1)


async def test_a_step_that_succeeds_forgets_the_failures_before_it(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=2))
    errors[2] = ArithmeticError("stumbled")
    await attempt(platform, times=MAX_ATTEMPTS - 1)
    errors.clear()
    await attempt(platform)
    assert structs.astuple(await row(platform))[5:] == (0, None, None)


async def test_a_step_that_succeeds_forgets_an_outage_before_it_even_if_as_much_remains(platform: Platform) -> None:
    await enqueue_all(platform, Wait())
    errors[0] = StorageUnavailable("away")
    await attempt(platform)
    assert "away" in ((await row(platform)).last_error or "")
    errors.clear()
    await attempt(platform)
    assert (await row(platform)).last_error is None


async def test_a_state_that_its_kind_cannot_read_is_a_failure_of_that_job_alone(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=0))
    async with platform.database.transaction() as tx:
        await tx.execute(_garble)
    await enqueue_all(platform, CountDown(left=1))
    await attempt(platform, times=2)
    garbled = await row(platform)
    assert done == [1, 0]
    assert garbled.attempts == 2
    assert "ValidationError" in (garbled.last_error or "")


async def test_a_step_that_never_ends_is_cancelled_and_counted(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_STEP_SECONDS", 1.0)
    await enqueue_all(platform, Hang(), CountDown(left=0))
    async with asyncio.timeout(30):
        await attempt(platform)
    hanging = await row(platform)
    assert done == [0]
    assert (hanging.attempts, hanging.last_error) == (1, "TimeoutError: a step took longer than 1 seconds")


@pytest.mark.parametrize("error", [StorageUnavailable("away"), StorageFull("full"), StorageConflict("lost")])
async def test_an_outage_of_the_database_is_no_attempt_of_a_job(platform: Platform, error: StorageError) -> None:
    await enqueue_all(platform, CountDown(left=0))
    errors[0] = error
    before = Timestamp.now()
    await attempt(platform, times=MAX_ATTEMPTS + 1)
    waiting = await row(platform)
    assert (waiting.attempts, waiting.failed_at) == (0, None)
    assert waiting.last_error is not None
    assert str(error) in waiting.last_error
    assert waiting.not_before > before + 3_000  # or it would be tried again at once
    errors.clear()
    await attempt(platform)
    assert done == [0]


async def test_an_outage_that_keeps_failures_from_being_stored_ends_with_all_jobs_as_they_were(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    await enqueue_all(platform, CountDown(left=0), CountDown(left=1))
    before = await rows(platform)
    errors[0] = errors[1] = StorageUnavailable("away")

    async def refuse(*_: object, **__: object) -> bool:
        raise StorageUnavailable("away")

    with monkeypatch.context() as outage:
        outage.setattr(queries, "update_failure", refuse)
        for _ in range(MAX_ATTEMPTS + 1):
            assert await JobRunner(platform.services, pause=0)._round() is False
    assert await rows(platform) == before
    errors.clear()
    await JobRunner(platform.services).drain()
    assert sorted(done) == [0, 0, 1]


async def test_a_statement_that_the_database_refuses_is_an_attempt(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=0))
    errors[0] = ConstraintFailed("taken")
    await attempt(platform)
    assert (await row(platform)).attempts == 1


async def test_two_processes_that_fail_at_the_same_attempt_count_it_once(platform: Platform) -> None:
    await enqueue_all(platform, *(Fail(number=number) for number in range(10)))
    first, second = (JobRunner(platform.services, pause=0) for _ in range(2))
    await asyncio.gather(first._round(), second._round())
    assert [each.attempts for each in await rows(platform)] == [1] * 10


async def test_a_failure_that_another_process_has_counted_is_not_counted_again(platform: Platform) -> None:
    await enqueue_all(platform, Fail(number=1))
    seen = await row(platform)
    for _ in range(2):
        await JobRunner(platform.services)._store_failure(seen, ArithmeticError("always"))
    assert (await row(platform)).attempts == 1
    # Nor does a process that has read the job before the failure run it before its time.
    await JobRunner(platform.services)._attempt(seen)
    assert (await row(platform)).attempts == 1


def test_delays_double_up_to_an_hour_and_vary() -> None:
    expected = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, *[3600] * 10]
    for attempts, seconds in enumerate(expected, start=1):
        delays = [retry_delay(attempts) for _ in range(100)]
        assert 0.8 * seconds <= min(delays) < 0.95 * seconds
        assert 1.05 * seconds < max(delays) <= 1.2 * seconds


class Unprintable(Exception):
    """An exception whose message cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("not even that")


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (ValueError("a\0b"), "ValueError: a\ufffdb"),
        (ValueError("\ud800"), "ValueError: "),
        (ValueError("x" * 100_000), "ValueError: xxx"),
        (Unprintable(), "tests.api.test_jobs.Unprintable: "),
        (LookupError(), "LookupError"),
    ],
    ids=["nul", "surrogate", "long", "unprintable", "empty"],
)
async def test_any_error_can_be_stored(
    platform: Platform, caplog: pytest.LogCaptureFixture, error: Exception, start: str
) -> None:
    await enqueue_all(platform, CountDown(left=0))
    errors[0] = error
    # A log with half a surrogate pair cannot be sent from a test process to the one that reports.
    with caplog.at_level(logging.CRITICAL, "moothall.jobs"):
        await attempt(platform)
    stored = (await row(platform)).last_error
    assert stored == error_text(error)
    assert stored is not None
    assert stored.startswith(start)
    assert len(stored) <= 1000


async def test_due_jobs_are_selected_by_an_index_alone(database_url: str) -> None:
    plan = queries._select_due(frozenset({"one", "two"}))
    if database_url.startswith("sqlite"):
        connection = apsw.Connection(str(Path(database_url.removeprefix("sqlite:///"))))
        compiled = plan.plan("sqlite")
        steps = connection.execute(f"EXPLAIN QUERY PLAN {compiled.text}", compiled.bind({"now": 1})).fetchall()
        connection.close()
        text = "\n".join(str(step[3]) for step in steps)
        assert text.count("SEARCH jobs USING INDEX ix_jobs_kind_not_before_id (kind=? AND not_before<?)") == 2
        assert "SCAN jobs" not in text
        assert "TEMP B-TREE" not in text
    else:
        compiled = plan.plan("postgresql")
        server = await asyncpg.connect(database_url)
        await server.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        lines = await server.fetch(f"EXPLAIN {compiled.text}", *compiled.bind({"now": 1}))
        await server.close()
        text = "\n".join(line[0] for line in lines)
        assert text.count("Index Scan using ix_jobs_kind_not_before_id") == 2
        assert "Sort" not in text


# What operators do


async def operate(platform: Platform, work: Callable[[Context], Awaitable[int]]) -> int:
    return await run(platform.services, ANONYMOUS, work)


async def fail_for_good(platform: Platform, *work: Job) -> None:
    await enqueue_all(platform, *work)
    async with platform.database.transaction() as tx:
        await tx.execute(
            Query(update(jobs).values(attempts=MAX_ATTEMPTS, failed_at=1, last_error="ArithmeticError: always"))
        )


async def test_a_failed_job_that_is_retried_is_done_at_once_with_all_attempts_before_it(platform: Platform) -> None:
    await fail_for_good(platform, CountDown(left=0), CountDown(left=1))
    failed = await rows(platform)
    assert await operate(platform, lambda ctx: operations.retry_jobs(ctx, [failed[1].id])) == 1
    after = await rows(platform)
    assert after[0] == failed[0]
    assert (after[1].attempts, after[1].failed_at) == (0, None)
    assert platform.heard[-1].name == "JOBS_DUE"
    await JobRunner(platform.services).drain()
    assert done == [1, 0]
    assert await rows(platform) == [failed[0]]


async def test_all_failed_jobs_or_those_of_a_kind_are_retried_together(platform: Platform) -> None:
    await fail_for_good(platform, CountDown(left=0), Fail(number=-1), Fail(number=-2))
    assert await operate(platform, lambda ctx: operations.retry_failed_jobs(ctx, Fail.kind)) == 2
    await JobRunner(platform.services).drain()
    assert sorted(done) == [-2, -1]
    assert await operate(platform, operations.retry_failed_jobs) == 1
    await JobRunner(platform.services).drain()
    assert await rows(platform) == []
    assert await operate(platform, operations.retry_failed_jobs) == 0


async def test_a_job_that_never_failed_cannot_be_retried_before_its_time(platform: Platform) -> None:
    async def work(ctx: Context) -> None:
        await enqueue(ctx, CountDown(left=0), at=Timestamp(ctx.now + _HOUR_MS))

    await fail_for_good(platform, Fail(number=1))
    await run(platform.services, ANONYMOUS, work)
    before = await rows(platform)
    with pytest.raises(operations.JobsNotFound, match=str(int(before[1].id))):
        await operate(platform, lambda ctx: operations.retry_jobs(ctx, [each.id for each in before]))
    assert await rows(platform) == before


async def test_jobs_are_dropped_by_id_in_any_state_or_all_failed_ones_together(platform: Platform) -> None:
    await fail_for_good(platform, Fail(number=1), Fail(number=2), CountDown(left=1))
    await enqueue_all(platform, CountDown(left=0), Fail(number=3))
    first, *_, fresh, last = await rows(platform)
    with pytest.raises(operations.JobsNotFound, match=r"^no such job: 1$"):
        await operate(platform, lambda ctx: operations.drop_jobs(ctx, [fresh.id, Snowflake(1)]))
    assert len(await rows(platform)) == 5
    assert await operate(platform, lambda ctx: operations.drop_jobs(ctx, [first.id, fresh.id])) == 2
    assert await operate(platform, lambda ctx: operations.drop_failed_jobs(ctx, Fail.kind)) == 1
    assert await operate(platform, operations.drop_failed_jobs) == 1
    assert await rows(platform) == [last]


async def test_a_job_that_is_dropped_during_its_step_does_not_come_back(platform: Platform) -> None:
    await enqueue_all(platform, CountDown(left=5))
    seen = await row(platform)
    await operate(platform, lambda ctx: operations.drop_jobs(ctx, [seen.id]))
    await JobRunner(platform.services)._attempt(seen)
    await JobRunner(platform.services)._store_failure(seen, ArithmeticError("always"))
    assert done == []
    assert await rows(platform) == []
