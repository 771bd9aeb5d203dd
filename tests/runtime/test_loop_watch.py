"""What keeps the event loop from its next turn is reported with its place."""

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator

import pytest

from moothall.logs import current_endpoint
from moothall.runtime import loop_watch
from moothall.runtime.loop_watch import LoopWatch


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


async def report_of(caplog: pytest.LogCaptureFixture, *tasks: asyncio.Task[None]) -> dict[str, object]:
    """The report of the stretch in which tasks ran."""
    with caplog.at_level(logging.WARNING, logger="moothall.loop"):
        await asyncio.gather(*tasks)
        while not caplog.records:  # noqa: ASYNC110 a log announces nothing
            await asyncio.sleep(0.005)
    return max((record.__dict__ for record in caplog.records), key=lambda fields: float(fields["milliseconds"]))


async def test_all_endpoints_of_a_stretch_are_named_the_longest_first(
    watch: LoopWatch, caplog: pytest.LogCaptureFixture
) -> None:
    del watch

    async def respond(endpoint: str, times: int) -> None:
        current_endpoint.set(endpoint)
        await asyncio.sleep(0.01)
        for _ in range(times):
            block()

    async def wait_for_hours() -> None:
        await asyncio.sleep(3_600)

    idle = asyncio.create_task(wait_for_hours())
    tasks = [asyncio.create_task(respond(name, times)) for name, times in (("get_guild", 1), ("create_message", 2))]
    await asyncio.sleep(0)
    block()  # both are due by now, and run in one turn
    ran = (await report_of(caplog, *tasks))["ran"]
    assert isinstance(ran, dict)
    assert list(ran)[:2] == ["create_message", "get_guild"]
    assert 300 <= ran["get_guild"] < ran["create_message"]
    assert wait_for_hours.__qualname__ not in ran
    idle.cancel()


async def test_a_task_without_an_endpoint_is_named_by_its_function(
    watch: LoopWatch, caplog: pytest.LogCaptureFixture
) -> None:
    del watch

    async def sweep() -> None:
        block()

    ran = (await report_of(caplog, asyncio.create_task(sweep())))["ran"]
    assert isinstance(ran, dict)
    assert sweep.__qualname__ in ran


async def test_the_share_of_garbage_collections_is_reported(watch: LoopWatch, caplog: pytest.LogCaptureFixture) -> None:
    del watch

    async def collect() -> None:
        block()
        gc.collect()

    before = await report_of(caplog, asyncio.create_task(collect()))
    collector = before["collector"]
    assert isinstance(collector, float)
    assert collector > 0


async def test_a_watched_task_ends_as_any_other(watch: LoopWatch) -> None:
    del watch

    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError

    async def respond() -> str:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "answer"

    failing, waiting = asyncio.create_task(fail()), asyncio.create_task(respond())
    with pytest.raises(KeyError):
        await failing
    waiting.cancel()
    assert await waiting == "answer"
    assert "respond" in repr(waiting)


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
    assert watch._note_collection not in gc.callbacks
    assert asyncio.get_running_loop().get_task_factory() is None
    with caplog.at_level(logging.WARNING, logger="moothall.loop"):
        block()
        await asyncio.sleep(0.05)
    assert not caplog.records


async def test_a_task_from_before_the_start_is_named_too(caplog: pytest.LogCaptureFixture) -> None:
    watch, going_on = LoopWatch(0.1), asyncio.Event()

    async def background() -> None:
        await going_on.wait()
        block()

    watch.follow_tasks()
    task = asyncio.create_task(background())
    watch.start()
    await asyncio.sleep(0.01)
    going_on.set()
    ran = (await report_of(caplog, task))["ran"]
    watch.stop()
    assert isinstance(ran, dict)
    assert [name for name in ran if name.endswith("background")]


async def test_a_watch_that_was_never_started_ends_too() -> None:
    watch = LoopWatch(0.1)
    watch.follow_tasks()
    watch.stop()
    assert asyncio.get_running_loop().get_task_factory() is None
