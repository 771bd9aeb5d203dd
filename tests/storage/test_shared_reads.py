"""Reads of the same rows at the same time: who shares which statement."""

import asyncio

import pytest

from moothall.storage.shared_reads import SharedReads


class Rows:
    """A row whose reads end when the test says so; each returns the value that the row had when it began."""

    def __init__(self) -> None:
        self.value = 0
        self.started = 0
        self.may_end = asyncio.Event()

    async def read(self) -> int:
        self.started += 1
        value = self.value
        await self.may_end.wait()
        return value


async def started(*tasks: asyncio.Task[int]) -> None:
    """Let tasks run until they wait."""
    for _ in tasks:
        await asyncio.sleep(0)


async def test_a_read_never_has_the_rows_of_a_statement_that_began_before_it() -> None:
    rows, shared = Rows(), SharedReads()
    first = asyncio.create_task(shared.read("row", rows.read))
    await started(first)
    rows.value = 1  # committed while the first read is under way
    second = asyncio.create_task(shared.read("row", rows.read))
    await started(second)
    rows.may_end.set()
    assert (await first, await second) == (0, 1)


async def test_all_who_ask_while_a_statement_is_under_way_share_the_next_one() -> None:
    rows, shared = Rows(), SharedReads()
    tasks = [asyncio.create_task(shared.read("row", rows.read)) for _ in range(10)]
    await started(*tasks)
    rows.may_end.set()
    assert await asyncio.gather(*tasks) == [0] * 10
    assert rows.started == 2


async def test_reads_of_other_rows_do_not_wait() -> None:
    rows, others, shared = Rows(), Rows(), SharedReads()
    first = asyncio.create_task(shared.read("row", rows.read))
    await started(first)
    others.may_end.set()
    assert await shared.read("other row", others.read) == 0
    rows.may_end.set()
    await first


async def test_a_caller_who_is_cancelled_leaves_the_rows_to_the_others() -> None:
    rows, shared = Rows(), SharedReads()
    first, second, third = (asyncio.create_task(shared.read("row", rows.read)) for _ in range(3))
    await started(first, second, third)
    first.cancel()
    second.cancel()
    rows.may_end.set()
    assert await third == 0
    assert rows.started == 2


async def test_nothing_is_read_for_callers_who_are_all_cancelled() -> None:
    rows, shared = Rows(), SharedReads()
    first, second = (asyncio.create_task(shared.read("row", rows.read)) for _ in range(2))
    await started(first, second)
    second.cancel()
    await started(second)
    rows.may_end.set()
    await first
    assert rows.started == 1
    assert await shared.read("row", rows.read) == 0


async def test_an_error_is_raised_for_all_who_share_the_statement() -> None:
    shared = SharedReads()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise OSError

    results = await asyncio.gather(*(shared.read("row", fail) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [OSError] * 3
    with pytest.raises(OSError):  # noqa: PT011 it has no text
        await shared.read("row", fail)
