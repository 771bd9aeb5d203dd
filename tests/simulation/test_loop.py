"""The simulated event loop and its seeded choices."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from moothall.objects.clock import CLOCK
from tests.simulation.loop import EPOCH, SimulatedLoop, Stuck, run
from tests.simulation.processes import ProcessLoop
from tests.simulation.randomness import Choices, Randomness, seeded_secrets


def simulate(seed: int, main: Callable[[SimulatedLoop, Choices], Coroutine[Any, Any, Any]]) -> Any:
    randomness = Randomness(seed)
    loop = SimulatedLoop(randomness.stream("loop"))
    return run(loop, main(loop, randomness.stream("main")))


async def _race(loop: SimulatedLoop, choices: Choices) -> list[int]:
    order: list[int] = []

    async def read(number: int) -> None:
        await loop.io(choices.delay(0.01, 1.0))
        order.append(number)

    await asyncio.gather(*(read(number) for number in range(8)))
    return order


def test_a_seed_repeats_the_order_of_completions_and_another_seed_has_another() -> None:
    orders = [simulate(seed, _race) for seed in range(20)]
    assert orders == [simulate(seed, _race) for seed in range(20)]
    assert len({tuple(order) for order in orders}) > 10


def test_callbacks_run_in_the_order_in_which_they_are_scheduled() -> None:
    async def main(loop: SimulatedLoop, _choices: Choices) -> list[int]:
        order: list[int] = []
        for number in range(100):
            loop.call_soon(order.append, number)
        await asyncio.sleep(0)
        return order

    assert all(simulate(seed, main) == list(range(100)) for seed in range(5))


def test_timers_due_at_once_run_in_an_order_of_the_seed() -> None:
    async def main(loop: SimulatedLoop, _choices: Choices) -> tuple[int, ...]:
        order: list[int] = []
        for number in range(4):
            loop.call_at(1.0, order.append, number)
        await asyncio.sleep(2)
        return tuple(order)

    assert len({simulate(seed, main) for seed in range(40)}) > 10


def test_a_year_passes_in_no_time_and_the_platforms_clock_shows_it() -> None:
    async def main(loop: SimulatedLoop, _choices: Choices) -> tuple[float, float]:
        await asyncio.sleep(31_536_000)
        return loop.time(), CLOCK.now()

    elapsed, now = simulate(1, main)
    assert 31_536_000 <= elapsed < 31_536_001
    assert abs(now - EPOCH - elapsed) < 1e-3
    assert CLOCK.now() != now


def test_waiting_for_what_never_comes_is_an_error() -> None:
    async def main(loop: SimulatedLoop, _choices: Choices) -> None:
        await loop.create_future()

    with pytest.raises(Stuck):
        simulate(1, main)


def test_an_executor_calls_on_this_thread_and_hands_over_exceptions() -> None:
    async def main(loop: SimulatedLoop, _choices: Choices) -> int:
        with pytest.raises(ZeroDivisionError):
            await loop.run_in_executor(None, lambda: 1 // 0)
        return await loop.run_in_executor(None, lambda: 7)

    assert simulate(1, main) == 7


def test_an_exception_of_a_callback_is_recorded() -> None:
    async def main(loop: SimulatedLoop, _choices: Choices) -> list[dict[str, Any]]:
        loop.call_soon(lambda: 1 // 0)
        await asyncio.sleep(0)
        return loop.errors

    assert isinstance(simulate(1, main)[0]["exception"], ZeroDivisionError)


def test_a_stream_does_not_depend_on_other_streams() -> None:
    alone, beside = Randomness(3), Randomness(3)
    beside.stream("other").integer(0, 100)
    assert [alone.stream("one").integer(0, 100) for _ in range(9)] == [
        beside.stream("one").integer(0, 100) for _ in range(9)
    ]


def test_a_suppressed_fault_leaves_the_later_choices_as_they_are() -> None:
    def choose(randomness: Randomness) -> list[bool]:
        return [randomness.stream("socket").fault("reset", 0.3) for _ in range(40)]

    first = Randomness(5)
    happened = choose(first)
    second = Randomness(5, suppressed=first.faults[1:2])
    left = choose(second)
    assert [a for a, b in zip(happened, left, strict=True) if a != b] == [True]
    assert second.faults == [first.faults[0], *first.faults[2:]]


def test_tokens_come_from_the_seed() -> None:
    def tokens() -> tuple[str, bytes]:
        with seeded_secrets(Randomness(9).stream("secrets")):
            return secrets.token_hex(8), secrets.token_bytes(4)

    assert tokens() == tokens()


def test_what_a_killed_process_begins_while_it_is_closed_never_runs_and_is_not_waited_for() -> None:
    loop = ProcessLoop(Randomness(1).stream("loop"))
    done: list[str] = []

    async def end() -> None:
        done.append("ended")

    async def work() -> None:
        try:
            await loop.io(100)
        finally:
            ending = asyncio.ensure_future(end())
            await asyncio.wait((ending,))

    async def main() -> None:
        working = loop.start_in(1, work())
        await loop.io(1)
        loop.kill(1)
        loop.bury()
        assert not working.done()

    run(loop, main())
    assert done == []
    assert loop.time() < 100
