"""Long lists are encoded in slices."""

import asyncio

import pytest

from moothall.objects.wire import SLICE, encode, encode_list


@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1, 10 * SLICE + 3])
async def test_slices_make_the_same_text(count: int) -> None:
    items = [{"id": number, "name": f"[{number}]"} for number in range(count)]
    assert await encode_list(items) == encode(items)


async def test_others_run_between_slices() -> None:
    turns = 0
    encoding = asyncio.ensure_future(encode_list(list(range(10 * SLICE))))
    while not encoding.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns >= 10
