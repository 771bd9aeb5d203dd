"""One task makes a value for all who request it at the same time."""

import asyncio

import pytest

from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.runtime.single_flight import SingleFlight


class Maker:
    """Makes a value once `finish` is set."""

    def __init__(self, *, refusals: int = 0) -> None:
        self.made = 0
        self.refusals = refusals
        self.finish = asyncio.Event()

    async def __call__(self) -> int:
        self.made += 1
        number = self.made
        await self.finish.wait()
        if number <= self.refusals:
            raise Refusal(errors.UNAVAILABLE)
        return number


async def test_simultaneous_callers_get_the_value_of_one_task_and_later_ones_a_new_one() -> None:
    flight, make = SingleFlight[str, int](), Maker()
    callers = [asyncio.ensure_future(flight.get("a", make)) for _ in range(3)]
    other = asyncio.ensure_future(flight.get("b", make))
    make.finish.set()
    assert await asyncio.gather(*callers) == [1, 1, 1]
    assert await other == 2
    assert await flight.get("a", make) == 3


async def test_a_cancelled_caller_leaves_the_task_to_the_others() -> None:
    flight, make = SingleFlight[str, int](), Maker()
    first, second = (asyncio.ensure_future(flight.get("a", make)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    make.finish.set()
    assert await second == 1
    assert first.cancelled()


async def test_a_refusal_is_for_the_caller_that_started_the_task() -> None:
    flight, make = SingleFlight[str, int](), Maker(refusals=1)
    first, second, third = (asyncio.ensure_future(flight.get("a", make)) for _ in range(3))
    make.finish.set()
    with pytest.raises(Refusal):
        await first
    assert (await second, await third) == (2, 2)


async def test_closing_cancels_the_tasks() -> None:
    flight, make = SingleFlight[str, int](), Maker()
    caller = asyncio.ensure_future(flight.get("a", make))
    await asyncio.sleep(0)
    await flight.close()
    with pytest.raises(asyncio.CancelledError):
        await caller
