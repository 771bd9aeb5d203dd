"""Work that outlives its request (kernel/jobs.py)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar

import pytest
from msgspec import structs

from moothall.kernel.authenticate import NOBODY
from moothall.kernel.context import Context
from moothall.kernel.jobs import KINDS, Job, JobRunner, enqueue, job
from moothall.kernel.unit import run
from tests.harness import Platform

done: list[int] = []


@job
class CountDown(Job, frozen=True, kw_only=True):
    """Counts to nothing, and stumbles over a number if asked to."""

    kind: ClassVar[str] = "test_count_down"
    left: int
    stumble_at: int = -1

    async def step(self, ctx: Context) -> "Job | None":
        del ctx
        if self.left == self.stumble_at:
            raise ArithmeticError("stumbled")
        done.append(self.left)
        return structs.replace(self, left=self.left - 1) if self.left else None


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


def enqueuing(*jobs: Job) -> Callable[[Context], Awaitable[None]]:
    async def work(ctx: Context) -> None:
        for each in jobs:
            await enqueue(ctx, each)

    return work


async def test_a_job_is_done_step_by_step_to_its_end(platform: Platform) -> None:
    await run(platform.services, NOBODY, enqueuing(CountDown(left=3)))
    await JobRunner(platform.services).drain()
    assert done == [3, 2, 1, 0]
    await JobRunner(platform.services).drain()
    assert done == [3, 2, 1, 0]


async def test_a_job_of_a_failed_transaction_was_never_enqueued(platform: Platform) -> None:
    async def work(ctx: Context) -> None:
        await enqueue(ctx, CountDown(left=1))
        raise LookupError

    with pytest.raises(LookupError):
        await run(platform.services, NOBODY, work)
    await JobRunner(platform.services).drain()
    assert done == []


async def test_what_a_crash_interrupts_goes_on_where_the_last_step_ended(platform: Platform) -> None:
    await run(platform.services, NOBODY, enqueuing(CountDown(left=3, stumble_at=1)))
    with pytest.raises(ArithmeticError):
        await JobRunner(platform.services).drain()
    with pytest.raises(ArithmeticError):
        await JobRunner(platform.services).drain()
    assert done == [3, 2]


async def test_a_new_job_wakes_the_runner_and_one_failing_job_holds_up_no_other(platform: Platform) -> None:
    runner = JobRunner(platform.services, seconds=60, pause=0)
    platform.services.extra[JobRunner] = runner
    runner.start()
    await run(platform.services, NOBODY, enqueuing(CountDown(left=9, stumble_at=9), CountDown(left=2)))
    async with asyncio.timeout(5):
        while done != [2, 1, 0]:  # noqa: ASYNC110 the runner tells nobody
            await asyncio.sleep(0.01)
    await runner.stop()


async def test_two_runners_do_each_step_once(platform: Platform) -> None:
    await run(platform.services, NOBODY, enqueuing(CountDown(left=20)))
    await asyncio.gather(JobRunner(platform.services).drain(), JobRunner(platform.services).drain())
    assert done == list(range(20, -1, -1))


async def test_a_kind_of_another_version_is_left_to_that_version(platform: Platform) -> None:
    await run(platform.services, NOBODY, enqueuing(CountDown(left=0)))
    kind = KINDS.pop(CountDown.kind)
    try:
        await JobRunner(platform.services).drain()
        assert done == []
    finally:
        KINDS[CountDown.kind] = kind
    await JobRunner(platform.services).drain()
    assert done == [0]


def test_two_kinds_with_one_name_are_refused() -> None:
    with pytest.raises(TypeError):

        @job
        class Other(Job, frozen=True, kw_only=True):
            kind: ClassVar[str] = "test_count_down"
