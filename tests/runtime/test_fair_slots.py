"""Heavy work that addresses share."""

import asyncio

import pytest

from moothall.runtime.budgets import Overloaded
from moothall.runtime.fair_slots import FairSlots


class Work:
    """Pieces of work that go on until they are let go."""

    def __init__(self, slots: FairSlots) -> None:
        self.slots = slots
        self.running: list[str] = []
        self.maximum = 0
        self.go = asyncio.Event()

    async def do(self, network: str) -> None:
        async with self.slots.slot(network):
            self.running.append(network)
            self.maximum = max(self.maximum, len(self.running))
            await self.go.wait()
            self.running.remove(network)

    def start(self, *networks: str) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.do(network)) for network in networks]


async def run_ready_tasks() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_an_address_has_one_slot_however_much_it_asks_for() -> None:
    work = Work(FairSlots(2, waiting_max=100, waiting_each=100))
    tasks = work.start(*["a"] * 50)
    await run_ready_tasks()
    assert work.running == ["a"]
    tasks += work.start("b")
    await run_ready_tasks()
    assert work.running == ["a", "b"]
    work.go.set()
    await asyncio.gather(*tasks)
    assert work.maximum == 2


async def test_a_new_caller_waits_for_one_piece_of_each_earlier_caller() -> None:
    slots = FairSlots(1, waiting_max=100, waiting_each=100)
    order: list[str] = []

    async def short(network: str) -> None:
        async with slots.slot(network):
            order.append(network)
            await asyncio.sleep(0.001)

    tasks = [asyncio.create_task(short(network)) for network in ["a"] * 10 + ["b"] * 10]
    await run_ready_tasks()
    tasks.append(asyncio.create_task(short("c")))
    await asyncio.gather(*tasks)
    assert order.index("c") <= 3


async def test_no_more_wait_than_may_in_all_and_for_one_address_and_room_is_made_again() -> None:
    work = Work(FairSlots(2, waiting_max=5, waiting_each=3))
    tasks = work.start("a", "a", "a")
    await run_ready_tasks()
    with pytest.raises(Overloaded) as refused:
        await work.do("a")
    assert refused.value.seconds > 0
    tasks += work.start("b", "c")
    await run_ready_tasks()
    with pytest.raises(Overloaded):
        await work.do("d")
    work.go.set()
    await asyncio.gather(*tasks)
    await asyncio.gather(*work.start("a", "a", "a", "d"))


async def test_one_that_gives_up_or_fails_leaves_its_slot_to_others() -> None:
    slots = FairSlots(1, waiting_max=5, waiting_each=3)
    work = Work(slots)
    first, second = work.start("a", "b")
    await run_ready_tasks()
    second.cancel()
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    with pytest.raises(ZeroDivisionError):
        async with slots.slot("a"):
            raise ZeroDivisionError
    work.go.set()
    await asyncio.wait_for(work.do("c"), 30)
    assert not slots._lanes


async def test_a_slot_is_given_to_who_had_the_least_time_lately() -> None:
    slots = FairSlots(1, waiting_max=100, waiting_each=100)
    order: list[str] = []

    async def use(network: str, seconds: float) -> None:
        async with slots.slot(network):
            order.append(network)
            await asyncio.sleep(seconds)

    await use("heavy", 0.05)
    holder = asyncio.create_task(use("holder", 0.01))
    await run_ready_tasks()
    tasks = [asyncio.create_task(use(network, 0)) for network in ("heavy", "light")]
    await asyncio.gather(holder, *tasks)
    assert order == ["heavy", "holder", "light", "heavy"]


async def test_a_slot_given_to_a_task_that_is_cancelled_meanwhile_is_not_lost() -> None:
    slots = FairSlots(1, waiting_max=100, waiting_each=100)
    let_go = asyncio.Event()

    async def hold(network: str) -> None:
        async with slots.slot(network):
            await let_go.wait()

    holder = asyncio.create_task(hold("a"))
    await run_ready_tasks()
    waiting = [asyncio.create_task(hold(network)) for network in ("b", "c")]
    await run_ready_tasks()
    waiting[1].cancel()
    let_go.set()
    await holder
    # The slot is b's by now, which has not gone on yet.
    waiting[0].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    async with asyncio.timeout(1), slots.slot("d"):
        assert slots.waiting == 1


async def test_who_gives_up_is_not_remembered_until_a_slot_is_free() -> None:
    work = Work(FairSlots(1, waiting_max=100, waiting_each=100))
    holder = work.start("a")
    await run_ready_tasks()
    for _ in range(3):
        waiting = work.start("b", "c")
        await run_ready_tasks()
        assert len(list(work.slots._queue)) == 2
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert not work.slots._queue
    after = work.start("d")
    work.go.set()
    await asyncio.wait_for(asyncio.gather(*holder, *after), 30)
