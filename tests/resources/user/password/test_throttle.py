"""The count of failed attempts: reserved before the work, discarded on success, bounded in memory."""

import asyncio

import pytest

from moothall.resources.user.password.throttle import AttemptThrottle, Limit, TooManyAttempts

ALICE = Limit("alice", 3)


async def fail(throttle: AttemptThrottle, *limits: Limit) -> None:
    async with throttle.attempt(*limits):
        pass


async def succeed(throttle: AttemptThrottle, *limits: Limit) -> None:
    async with throttle.attempt(*limits) as attempt:
        attempt.discard()


async def test_failures_are_forgotten_after_a_quarter_of_an_hour() -> None:
    now = [5.0]
    throttle = AttemptThrottle(lambda: now[0])
    for _ in range(3):
        await succeed(throttle, ALICE)
        await fail(throttle, ALICE)
        now[0] += 1
    with pytest.raises(TooManyAttempts) as refused:
        await fail(throttle, ALICE)
    assert refused.value.seconds == 897
    await fail(throttle, Limit("bob", 3))
    now[0] = 905
    await fail(throttle, ALICE)


async def test_an_attempt_that_ends_with_an_error_counts() -> None:
    throttle = AttemptThrottle()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with throttle.attempt(ALICE):
                raise ZeroDivisionError
    with pytest.raises(TooManyAttempts):
        await fail(throttle, ALICE)


async def test_what_might_be_one_too_many_waits_for_those_under_way() -> None:
    throttle, running, maximum = AttemptThrottle(), 0, 0
    tried: list[int] = []

    async def attempt(number: int, *, fits: bool) -> None:
        nonlocal running, maximum
        async with throttle.attempt(ALICE) as reserved:
            running, maximum = running + 1, max(maximum, running + 1)
            tried.append(number)
            await asyncio.sleep(0)
            running -= 1
            if fits:
                reserved.discard()

    await asyncio.gather(*(attempt(number, fits=True) for number in range(20)))
    assert (sorted(tried), maximum) == (list(range(20)), 3)
    tried.clear()
    outcomes = await asyncio.gather(*(attempt(n, fits=False) for n in range(20)), return_exceptions=True)
    assert (len(tried), maximum) == (3, 3)
    assert [type(outcome) for outcome in outcomes] == [type(None)] * 3 + [TooManyAttempts] * 17


async def test_who_does_not_wait_is_refused_while_others_might_fail() -> None:
    throttle = AttemptThrottle()
    async with throttle.attempt(Limit("alice", 1)) as attempt:
        with pytest.raises(TooManyAttempts):
            async with throttle.attempt(Limit("alice", 1), waits=False):
                pass
        attempt.discard()
    await fail(throttle, Limit("alice", 1))


async def test_one_limit_that_is_reached_costs_the_others_nothing() -> None:
    throttle = AttemptThrottle()
    await fail(throttle, Limit("network", 1))
    for _ in range(5):
        with pytest.raises(TooManyAttempts):
            await fail(throttle, ALICE, Limit("network", 1))
    await fail(throttle, ALICE)


async def test_no_more_than_so_many_wait() -> None:
    throttle, go_on = AttemptThrottle(), asyncio.Event()

    async def attempt() -> None:
        async with throttle.attempt(Limit("alice", 1)) as reserved:
            await go_on.wait()
            reserved.discard()

    tasks = [asyncio.create_task(attempt()) for _ in range(300)]
    await asyncio.sleep(0.01)
    go_on.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [outcome for outcome in outcomes[:257] if outcome is not None] == []
    assert {type(outcome) for outcome in outcomes[257:]} == {TooManyAttempts}


async def test_very_many_names_do_not_get_memory_for_them_all() -> None:
    throttle = AttemptThrottle(lambda: 1.0)
    async with throttle.attempt(Limit("early", 1)):
        for number in range(150_000):
            await fail(throttle, Limit(str(number), 1))
        assert len(throttle) <= 100_000
    for key in ("early", "149999"):
        with pytest.raises(TooManyAttempts):
            await fail(throttle, Limit(key, 1))
