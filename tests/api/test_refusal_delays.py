"""Refusals of who does not stop asking are delayed."""

import asyncio

import pytest

from moothall.api.ratelimit import RateLimiter
from moothall.api.refusal_delays import RefusalDelays
from moothall.runtime.budgets import Payer
from tests.support.harness import Platform

ALICE = Payer(1, "192.0.2.1")
BOB = Payer(2, "192.0.2.2")


class Hours:
    """A clock that sleeps move."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def hours() -> Hours:
    return Hours()


@pytest.fixture
def delays(hours: Hours) -> RefusalDelays:
    return RefusalDelays(clock=hours, sleep=hours.sleep, busy=lambda: True)


async def refuse(delays: RefusalDelays, payer: Payer, times: int) -> None:
    for _ in range(times):
        await delays.delay(payer)


async def test_refusals_are_sent_at_once_until_there_are_many(delays: RefusalDelays, hours: Hours) -> None:
    await refuse(delays, ALICE, 30)
    assert hours.slept == []
    await refuse(delays, ALICE, 20)
    assert len(hours.slept) == 20
    assert all(0 < seconds <= 2 for seconds in hours.slept)


async def test_nothing_is_delayed_while_the_server_has_time(hours: Hours) -> None:
    delays = RefusalDelays(clock=hours, sleep=hours.sleep, busy=lambda: False)
    await refuse(delays, ALICE, 1_000)
    assert hours.slept == []


async def test_who_waits_as_told_is_never_held(delays: RefusalDelays, hours: Hours) -> None:
    for _ in range(200):
        await delays.delay(ALICE)
        hours.now += 0.5
    assert hours.slept == []


async def test_who_stops_for_a_while_is_answered_at_once_again(delays: RefusalDelays, hours: Hours) -> None:
    await refuse(delays, ALICE, 100)
    hours.slept.clear()
    hours.now += 10
    await refuse(delays, ALICE, 20)
    assert hours.slept == []


async def test_an_account_is_not_delayed_for_what_another_is_refused(delays: RefusalDelays, hours: Hours) -> None:
    await refuse(delays, ALICE, 100)
    hours.slept.clear()
    await refuse(delays, BOB, 5)
    await refuse(delays, Payer(3, ALICE.network), 5)
    await refuse(delays, Payer(None, ALICE.network), 5)
    assert hours.slept == []


async def test_many_accounts_of_one_network_are_delayed_as_one(delays: RefusalDelays, hours: Hours) -> None:
    for account in range(100):
        await refuse(delays, Payer(account, "192.0.2.1"), 5)
    assert len(hours.slept) > 200


async def test_clients_of_the_machine_itself_have_a_multiple(hours: Hours) -> None:
    delays = RefusalDelays(loopback_multiplier=20, clock=hours, sleep=hours.sleep, busy=lambda: True)
    await refuse(delays, Payer(1, "", loopback=True), 600)
    assert hours.slept == []
    await refuse(delays, Payer(1, "", loopback=True), 1)
    assert len(hours.slept) == 1


async def test_no_more_refusals_of_one_are_delayed_than_it_may_have_in_memory(hours: Hours) -> None:
    asleep = asyncio.Event()
    sleeping = 0

    async def sleep(_seconds: float) -> None:
        nonlocal sleeping
        sleeping += 1
        await asleep.wait()

    delays = RefusalDelays(clock=hours, sleep=sleep, busy=lambda: True)
    tasks = [asyncio.create_task(delays.delay(ALICE)) for _ in range(200)]
    await asyncio.sleep(0)
    assert sleeping == 64
    assert sum(task.done() for task in tasks) == 136
    # One that gives up makes room for another.
    next(task for task in tasks if not task.done()).cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    tasks.append(asyncio.create_task(delays.delay(ALICE)))
    await asyncio.sleep(0)
    assert sleeping == 65
    asleep.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [task.cancelled() for task in tasks].count(True) == 1


class Recorder(RefusalDelays):
    """Notes whose refusals are about to be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.payers: list[Payer] = []

    async def delay(self, payer: Payer) -> None:
        self.payers.append(payer)


async def test_responses_of_401_and_429_are_counted_by_account_else_by_network(
    platform: Platform,
) -> None:
    owner = await platform.person()
    platform.services.limiter = limiter = RateLimiter(global_requests=2, clock=lambda: 1_000_000.0)
    limiter.delays = recorder = Recorder()
    assert [(await owner.get("/users/@me", client="192.0.2.1")).status for _ in range(3)] == [200, 200, 429]
    assert recorder.payers == [Payer(owner.id, "192.0.2.1")]
    recorder.payers.clear()
    assert (await platform.anonymous.get("/users/@me", client="192.0.2.7")).status == 401
    assert recorder.payers == [Payer(None, "192.0.2.7")]


async def test_what_is_forbidden_or_not_found_is_not_held(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    platform.services.limiter = limiter = RateLimiter()
    limiter.delays = recorder = Recorder()
    stranger = await platform.person()
    assert (await stranger.get(f"/channels/{guild.general}")).status == 403
    assert (await stranger.get("/channels/1")).status == 404
    assert recorder.payers == []
