"""Loops over many items return what plain ones do, and let others run meanwhile."""

import asyncio
from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.runtime import turns
from moothall.storage import bulk
from moothall.storage.bulk import map_batches, map_items


class Reads:
    """A reader, or a transaction."""

    def __init__(self, *, committed: bool) -> None:
        self.committed = committed


async def double_each(items: Sequence[int]) -> list[int]:
    await asyncio.sleep(0)
    return [2 * item for item in items]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(st.integers(), max_size=50), size=st.integers(1, 60), committed=st.booleans())
async def test_they_return_what_a_plain_loop_does(
    monkeypatch: pytest.MonkeyPatch, items: list[int], size: int, *, committed: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(bulk, "stopwatch", count(0.0, 1.0).__next__)
        patch.setattr(turns, "stopwatch", count(0.0, turns.FIRST_SECONDS).__next__)
        reader = Reads(committed=committed)
        assert await map_items(reader, str, items) == [str(item) for item in items]
        assert await map_batches(reader, double_each, items, size) == [2 * item for item in items]


@pytest.mark.parametrize("committed", [True, False])
async def test_others_run_while_they_last(monkeypatch: pytest.MonkeyPatch, *, committed: bool) -> None:
    monkeypatch.setattr(bulk, "stopwatch", count(0.0, 1.0).__next__)
    monkeypatch.setattr(turns, "stopwatch", count(0.0, turns.FIRST_SECONDS).__next__)
    seen: list[str] = []

    async def run_beside() -> None:
        for _ in range(3):
            await asyncio.sleep(0)
            seen.append("other")

    other = asyncio.create_task(run_beside())
    await asyncio.sleep(0)
    await map_items(Reads(committed=committed), lambda item: seen.append(str(item)), range(50))
    await other
    assert seen.index("other") < seen.index("49")


async def test_what_one_item_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await map_items(Reads(committed=True), lambda item: 1 // item, [1, 0])
