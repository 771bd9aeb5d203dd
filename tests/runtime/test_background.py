"""Background tasks (runtime/background.py), and transactions repeated after a conflict (api/conflicts.py)."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from moothall.api.conflicts import retry_on_conflict
from moothall.runtime import background
from moothall.runtime.background import PeriodicTask
from moothall.storage.database import StorageConflict

_LONG = 60.0


class Rounds(PeriodicTask):
    """Does what its script says, round by round, and then has nothing to do."""

    def __init__(self, *script: object, seconds: float = _LONG) -> None:
        super().__init__(seconds=seconds)
        self.script: Iterator[object] = iter(script)
        self.count = 0
        self.started = asyncio.Event()

    async def _round(self) -> bool:
        self.count += 1
        self.started.set()
        what = next(self.script, False)
        if isinstance(what, Exception):
            raise what
        if isinstance(what, asyncio.Event):
            await what.wait()
            return False
        return bool(what)

    async def reach(self, count: int) -> None:
        async with asyncio.timeout(30):
            while self.count < count:
                self.started.clear()
                await self.started.wait()

    async def until(self, count: int) -> None:
        """Reach a count, and stay there for now."""
        await self.reach(count)
        for _ in range(3):
            await asyncio.sleep(0)
        assert self.count == count


async def test_rounds_follow_each_other_while_there_is_more_and_then_wait_to_be_woken() -> None:
    rounds = Rounds(True, True, False)
    rounds.start()
    await rounds.until(3)
    rounds.wake()
    await rounds.until(4)
    await rounds.stop()


async def test_a_task_that_is_woken_during_a_round_does_another() -> None:
    gate = asyncio.Event()
    rounds = Rounds(gate)
    rounds.start()
    await rounds.until(1)
    rounds.wake()
    gate.set()
    await rounds.until(2)
    await rounds.stop()


async def test_without_being_woken_a_round_comes_every_so_often() -> None:
    rounds = Rounds(seconds=0.001)
    rounds.start()
    await rounds.reach(3)
    await rounds.stop()


async def test_a_round_that_fails_is_logged_and_others_follow(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_AFTER_FAILURE", 0.0)
    rounds = Rounds(LookupError("what?"), seconds=0.001)
    with caplog.at_level(logging.ERROR):
        rounds.start()
        await rounds.reach(2)
    await rounds.stop()
    assert "what?" in caplog.text


async def test_stopping_does_not_wait_for_a_round_and_it_can_begin_again() -> None:
    rounds = Rounds(asyncio.Event())
    rounds.start()
    await rounds.until(1)
    async with asyncio.timeout(30):
        await rounds.stop()
        await rounds.stop()
    rounds.start()
    await rounds.until(2)
    await rounds.stop()


@pytest.mark.parametrize("losses", [0, 1, 3])
async def test_work_is_run_again_after_each_conflict(losses: int) -> None:
    tries = iter(range(4))

    async def work() -> int:
        if (number := next(tries)) < losses:
            raise StorageConflict("lost")
        return number

    assert await retry_on_conflict(work) == losses


async def test_work_that_always_loses_says_so_after_four_times() -> None:
    tries: list[int] = []

    async def work() -> None:
        tries.append(1)
        raise StorageConflict("lost")

    with pytest.raises(StorageConflict):
        await retry_on_conflict(work)
    assert len(tries) == 4
