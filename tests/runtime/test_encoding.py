"""Long lists are encoded in slices."""

import asyncio
from itertools import count

import pytest

from moothall.objects.wire import encode
from moothall.runtime import turns
from moothall.runtime.encoding import SLICE, encode_list
from moothall.runtime.turns import TURN_SECONDS


@pytest.mark.parametrize("length", [0, 1, SLICE, SLICE + 1, 10 * SLICE + 3])
async def test_slices_make_the_same_text(length: int) -> None:
    items = [{"id": number, "name": f"[{number}]"} for number in range(length)]
    assert await encode_list(items) == encode(items)


async def test_others_run_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each look at the clock is later by the time that a turn has.
    monkeypatch.setattr(turns, "stopwatch", count(0.0, TURN_SECONDS).__next__)
    passed = 0
    encoding = asyncio.ensure_future(encode_list(list(range(10 * SLICE))))
    while not encoding.done():
        passed += 1
        await asyncio.sleep(0)
    assert passed >= 10
