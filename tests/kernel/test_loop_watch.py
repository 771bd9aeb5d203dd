"""What keeps the event loop from its next turn is reported with its place."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator

import pytest

from moothall.kernel import loop_watch
from moothall.kernel.loop_watch import LoopWatch


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LoopWatch]:
    """A watch over the test's loop, to which this folder counts as ours."""
    monkeypatch.setattr(loop_watch, "_PACKAGE", __file__.rpartition("/")[0])
    watch = LoopWatch(0.1)
    watch.start()
    yield watch
    watch.stop()


def block() -> None:
    """Keep the loop waiting: three times as long as the watch allows."""
    time.sleep(0.3)


async def test_a_blocking_call_is_reported_with_its_place(watch: LoopWatch, caplog: pytest.LogCaptureFixture) -> None:
    await asyncio.sleep(0.01)
    with caplog.at_level(logging.WARNING, logger="moothall.loop"):
        block()
        while not caplog.records:  # noqa: ASYNC110 a log announces nothing
            await asyncio.sleep(0.005)
    reported = max(caplog.records, key=lambda record: record.__dict__["milliseconds"])
    assert reported.__dict__["milliseconds"] >= 300
    assert reported.__dict__["busy"] < 300, "sleeping takes no processor"
    assert reported.__dict__["at"][0].startswith("test_loop_watch:block:")
    assert watch.longest >= 0.3


async def test_waiting_is_no_stretch_without_a_turn(watch: LoopWatch) -> None:
    """The loop turns while all its tasks wait."""
    del watch  # as long as it reports nothing but what the machine itself delays
    short = LoopWatch(30.0)
    short.start()
    await asyncio.sleep(0.3)
    short.stop()
    assert short.longest == 0.0


async def test_a_watch_ends(watch: LoopWatch, caplog: pytest.LogCaptureFixture) -> None:
    watch.stop()
    with caplog.at_level(logging.WARNING, logger="moothall.loop"):
        block()
        await asyncio.sleep(0.05)
    assert not caplog.records
