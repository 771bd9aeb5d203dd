"""Pools of threads for long work."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from moothall.runtime.budgets import Allowance, Budgets, Holdings, OverBudget, Overloaded, Payer, Rates
from moothall.runtime.work_pool import WorkPool

ALICE, BOB = Payer(1, "192.0.2.1"), Payer(2, "192.0.2.1")


class Gate:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.running = 0
        self.maximum = 0
        self.order: list[str] = []
        self._lock = threading.Lock()

    def work(self, name: str) -> Callable[[], str]:
        def run() -> str:
            with self._lock:
                self.order.append(name)
                self.running += 1
                self.maximum = max(self.maximum, self.running)
            self.go.wait(30)
            with self._lock:
                self.running -= 1
            return name

        return run


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 a thread brings it about
            await asyncio.sleep(0.001)


def burn() -> None:
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass


def budgets() -> Budgets:
    small = Allowance(0.01, 0.0001)
    return Budgets(
        Rates(account=small, network=small.times(100), anonymous=small),
        Holdings(account=1, network=1, anonymous=1, total=1),
    )


async def test_a_payer_has_one_thread_however_much_it_asks_for_and_others_do_not_wait_for_it() -> None:
    pool, gate = WorkPool("test", threads=2), Gate()
    tasks = [asyncio.create_task(pool.run(ALICE, gate.work("alice"))) for _ in range(10)]
    await until(lambda: gate.running == 1)
    tasks.append(asyncio.create_task(pool.run(BOB, gate.work("bob"))))
    await until(lambda: gate.running == 2)
    assert gate.order == ["alice", "bob"]
    gate.go.set()
    await asyncio.gather(*tasks)
    assert gate.maximum == 2
    pool.close()


async def test_too_much_work_is_refused_at_once_for_one_payer_and_for_all() -> None:
    pool, gate = WorkPool("test", waiting_max=5, waiting_each=3), Gate()
    tasks = [asyncio.create_task(pool.run(ALICE, gate.work("alice"))) for _ in range(3)]
    await until(lambda: pool.waiting == 3)
    with pytest.raises(Overloaded):
        await pool.run(ALICE, gate.work("alice"))
    tasks += [asyncio.create_task(pool.run(BOB, gate.work("bob"))) for _ in range(2)]
    await until(lambda: pool.waiting == 5)
    with pytest.raises(Overloaded):
        await pool.run(Payer(3, "192.0.2.3"), gate.work("carol"))
    gate.go.set()
    assert await asyncio.gather(*tasks) == ["alice"] * 3 + ["bob"] * 2
    assert pool.waiting == 0
    pool.close()


async def test_what_waits_holds_no_more_bytes_than_the_pool_may() -> None:
    pool, gate = WorkPool("test", bytes_max=100), Gate()
    large = asyncio.create_task(pool.run(ALICE, gate.work("large"), size=500))  # alone it may be of any size
    await until(lambda: gate.running == 1)
    with pytest.raises(Overloaded):
        await pool.run(BOB, gate.work("bob"), size=1)
    gate.go.set()
    await large
    assert await pool.run(BOB, gate.work("bob"), size=100) == "bob"
    assert pool.bytes == 0
    pool.close()


async def test_the_cpu_time_of_work_is_charged_and_who_is_over_the_budget_starts_no_more() -> None:
    pool = WorkPool("test", budgets())
    ran: list[str] = []
    await pool.run(ALICE, burn)
    with pytest.raises(OverBudget):
        await pool.run(ALICE, lambda: ran.append("alice"))
    await pool.run(BOB, lambda: ran.append("bob"))
    assert ran == ["bob"]
    pool.close()


async def test_what_waits_behind_costly_work_of_the_same_payer_is_refused_when_its_turn_comes() -> None:
    pool = WorkPool("test", budgets())
    ran: list[int] = []
    results = await asyncio.gather(
        pool.run(ALICE, burn),
        *(pool.run(ALICE, lambda: ran.append(1)) for _ in range(5)),
        return_exceptions=True,
    )
    assert [type(result) for result in results[1:]] == [OverBudget] * 5
    assert not ran
    pool.close()


async def test_work_that_fails_is_charged_too_and_its_error_is_the_callers() -> None:
    pool = WorkPool("test", budgets())

    def fail() -> None:
        burn()
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await pool.run(ALICE, fail)
    with pytest.raises(OverBudget):
        await pool.run(ALICE, burn)
    pool.close()


async def test_a_cancelled_caller_keeps_its_slot_until_its_thread_is_free() -> None:
    pool, gate = WorkPool("test", waiting_max=1), Gate()
    task = asyncio.create_task(pool.run(ALICE, gate.work("alice")))
    await until(lambda: gate.running == 1)
    task.cancel()
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await pool.run(BOB, gate.work("bob"))
    gate.go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pool.run(BOB, gate.work("bob")) == "bob"
    pool.close()
