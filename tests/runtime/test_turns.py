"""Work that begins in the turns of the event loop."""

import asyncio

import pytest

from moothall.runtime import turns
from moothall.runtime.lanes import enter_lane
from moothall.runtime.turns import TURN_SECONDS, in_pieces, room_in_turn, yield_turn


class Load:
    """Work that takes so many seconds each, by a clock of its own, and the turn of the loop in which each began."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.entries: list[tuple[int, int]] = []
        self.seconds = seconds
        self._now = 0.0
        self._turn = 0
        monkeypatch.setattr(turns, "stopwatch", lambda: self._now)
        # Turns that were timed by another clock halve nothing for long.
        monkeypatch.setattr(turns._of_thread, "turns", turns.Turns())

    async def work(self, number: int) -> None:
        await room_in_turn()
        self._now += self.seconds
        self.entries.append((number, self._turn))

    def pass_time(self, seconds: float) -> None:
        """Do other work for so long."""
        self._now += seconds

    async def run(self, count: int) -> list[int]:
        """Begin so many at once; return how many began in each turn."""
        tasks = [asyncio.ensure_future(self.work(number)) for number in range(count)]
        while not all(task.done() for task in tasks):
            self._turn += 1
            await asyncio.sleep(0)
        in_turns = [turn for _, turn in self.entries]
        return [in_turns.count(turn) for turn in sorted(set(in_turns))]


async def test_work_that_takes_long_is_spread_over_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    sizes = await load.run(100)
    assert sum(sizes) == 100
    assert max(sizes) <= 8
    assert max(sizes[10:]) <= 2


async def test_short_work_begins_in_few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await Load(monkeypatch, 0.0).run(200) == [200]
    assert len(await Load(monkeypatch, TURN_SECONDS / 100).run(1_000)) < 40


async def test_work_begins_in_the_order_in_which_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS / 3)
    await load.run(50)
    assert [number for number, _ in load.entries] == list(range(50))


async def test_work_that_others_wait_for_begins_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    tasks = [asyncio.create_task(load.work(number)) for number in range(20)]
    await asyncio.sleep(0)
    began = len(load.entries)
    await room_in_turn(first=True)
    assert len(load.entries) == began
    await asyncio.gather(*tasks)
    assert [number for number, _ in load.entries] == list(range(20))


async def test_work_in_pieces_lets_others_run_once_the_turn_has_had_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(turns, "stopwatch", lambda: clock)
    turn, pieces = 0, []

    async def work() -> None:
        nonlocal clock
        async for piece in in_pieces(range(10), 2):
            pieces.append((list(piece), turn))
            clock += TURN_SECONDS / 2

    task = asyncio.create_task(work())
    while not task.done():
        turn += 1
        await asyncio.sleep(0)
    assert [number for piece, _ in pieces for number in piece] == list(range(10))
    in_turns = [turn for _, turn in pieces]
    assert max(in_turns.count(turn) for turn in set(in_turns)) <= 2


async def test_work_goes_on_in_a_young_turn_before_what_has_yet_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    tasks = [asyncio.create_task(load.work(number)) for number in range(40)]
    await asyncio.sleep(0)
    load.seconds = 0.0
    # In the next turn those begin that it wakes.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    began = len(load.entries)
    assert 1 < began < 40
    await yield_turn()
    assert len(load.entries) == began
    await asyncio.gather(*tasks)


async def test_who_is_cancelled_while_waiting_leaves_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    tasks = [asyncio.ensure_future(load.work(number)) for number in range(20)]
    await asyncio.sleep(0)
    for task in tasks[5:15]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [number for number, _ in load.entries] == [*range(5), *range(15, 20)]


def test_a_loop_begins_anew_where_another_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    for _ in range(2):
        loop = asyncio.new_event_loop()
        tasks = [loop.create_task(load.work(number)) for number in range(3)]
        loop.run_until_complete(tasks[0])
        for task in tasks[1:]:
            task.cancel()
        loop.close()
    assert [number for number, _ in load.entries] == [0, 0]


async def test_lanes_take_turns_however_many_wait_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)

    async def work(lane: str, number: int) -> None:
        enter_lane(lambda: lane)
        await load.work(number)

    tasks = [asyncio.ensure_future(work("flood", number)) for number in range(100)]
    tasks += [asyncio.ensure_future(work(lane, 100 + at)) for at, lane in enumerate(("alice", "bob", "alice"))]
    await asyncio.gather(*tasks)
    order = [number for number, _ in load.entries]
    assert [number for number in order if number < 100] == list(range(100))
    assert order.index(100) < order.index(101) < order.index(102) <= 14


async def test_the_lane_that_has_had_the_least_time_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, 4 * TURN_SECONDS)

    async def work(lane: str, number: int) -> None:
        enter_lane(lambda: lane)
        await load.work(number)

    floods = [f"flood {number}" for number in range(10)]
    tasks = [asyncio.ensure_future(work(lane, number)) for number in range(20) for lane in floods]
    await tasks[50]
    count = len(load.entries)
    tasks += [asyncio.ensure_future(work("alice", 100 + number)) for number in range(3)]
    await asyncio.gather(*tasks)
    order = [number for number, _ in load.entries]
    assert [order.index(100 + number) < count + 12 for number in range(3)] == [True] * 3


async def test_who_has_had_hardly_any_time_waits_for_no_newcomer(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)

    async def work(lane: object, number: int) -> None:
        enter_lane(lambda: lane)
        await load.work(number)

    await asyncio.gather(*(work("alice", number) for number in range(8)))
    tasks = [asyncio.ensure_future(work("flood", number)) for number in range(8, 60)]
    tasks += [asyncio.ensure_future(work("alice", 60))]
    tasks += [asyncio.ensure_future(work(f"newcomer {number}", number)) for number in range(61, 120)]
    await asyncio.gather(*tasks)
    assert [number for number, _ in load.entries].index(60) < 20


async def test_a_lane_is_charged_for_its_own_steps_and_not_for_what_else_runs_in_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = Load(monkeypatch, TURN_SECONDS)

    async def work(lane: str, number: int, *, others: float = 0.0) -> None:
        enter_lane(lambda: lane)
        await load.work(number)
        if others:
            # What its work wakes runs in the same turn, after it.
            asyncio.get_running_loop().call_soon(load.pass_time, others)

    tasks = [asyncio.create_task(work("flood", number)) for number in range(60)]
    tasks += [asyncio.create_task(work("alice", 100, others=1.0))]
    await tasks[-1]
    tasks += [asyncio.create_task(work("flood", number)) for number in range(60, 80)]
    tasks += [asyncio.create_task(work("alice", 101))]
    await asyncio.gather(*tasks)
    order = [number for number, _ in load.entries]
    assert order.index(101) < order.index(59)


async def test_who_enters_no_lane_waits_in_that_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)

    async def flood() -> None:
        enter_lane(lambda: "flood")
        await asyncio.gather(*(load.work(number) for number in range(1, 50)))

    tasks = [asyncio.create_task(flood()), asyncio.create_task(load.work(0))]
    await asyncio.gather(*tasks)
    assert [number for number, _ in load.entries].index(0) <= 12


async def test_a_lane_that_has_had_much_time_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, 0.05)

    async def work(lane: object, number: int) -> None:
        enter_lane(lambda: lane)
        await load.work(number)

    heavy = [asyncio.ensure_future(work("heavy", number)) for number in range(40)]
    await asyncio.gather(*heavy)
    # At each moment some wait who have had no time at all.
    newcomers = [asyncio.ensure_future(work(number, number)) for number in range(100, 120)]
    await asyncio.sleep(0)
    last = asyncio.ensure_future(work("heavy", 40))
    for number in range(120, 1_000):
        newcomers.append(asyncio.ensure_future(work(number, number)))
        await newcomers[number - 120]
    assert last.done()
    await asyncio.gather(*newcomers)


async def test_a_loop_is_busy_while_many_have_to_wait_for_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    for number in range(100):
        await load.work(number)
    assert not turns.is_busy()
    await asyncio.gather(*(load.work(number) for number in range(100)))
    assert turns.is_busy()
    load.pass_time(5)
    assert not turns.is_busy()


async def test_a_loop_whose_work_waits_for_itself_only_is_not_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch, TURN_SECONDS)
    for _ in range(100):
        load.pass_time(0.01)
        await yield_turn()
    assert not turns.is_busy()
