"""Figures over time: what was counted is stored by hour and by day, once, and old rows go."""

from moothall.objects.wire import Timestamp
from moothall.resources.server_figure.counts import FigureCounts
from moothall.resources.server_figure.queries import select_figures_after
from moothall.resources.server_figure.rules import HOUR_MS, quantile_ms
from moothall.resources.server_figure.sampler import DAYS, HOURS, FigureSampler
from moothall.runtime.metrics import REQUEST_SECONDS, Metrics
from moothall.storage.database import StorageError
from tests.support.harness import Platform
from tests.support.operators import make_operator

DAY_MS = 24 * HOUR_MS


async def test_what_was_counted_is_in_the_figures_of_its_hour_and_its_day_once(platform: Platform) -> None:
    operator = await make_operator(platform)
    guild = await platform.guild(operator)
    metrics = Metrics()
    sampler = FigureSampler(platform.services, metrics.count_requests)
    for status, seconds in ((200, 0.004), (200, 0.02), (500, 0.3)):
        metrics.observe_request("row", status, seconds)
    for text in ("one", "two"):
        assert (await operator.post(f"/channels/{guild.general}/messages", {"content": text})).status == 200
    assert (await operator.post(f"/channels/{guild.general}/messages", {"content": ""})).status == 400
    now = Timestamp.now()
    await sampler.sample(now)
    await sampler.sample(now)
    for span in ("hour", "day"):
        (sample,) = (await operator.get("/admin/v1/figures", span=span)).json
        assert (sample["messages"], sample["requests"], sample["errors"]) == (2, 3, 1)
        assert (sample["users"], sample["guilds"], sample["file_bytes"]) == (1, 1, 0)
        assert 10 < sample["median_ms"] <= 25
        assert 250 < sample["p99_ms"] <= 500
    metrics.observe_request("row", 200, 0.004)
    await sampler.sample(Timestamp(now + HOUR_MS))
    async with platform.database.read() as reader:
        hours = [row.value for row in await select_figures_after(reader, 1, 0) if row.name == "requests"]
        days = [row.value for row in await select_figures_after(reader, 24, 0) if row.name == "requests"]
    assert (hours, sum(days)) == ([3, 1], 4)


async def test_a_sample_that_cannot_be_stored_is_part_of_the_next_one(platform: Platform) -> None:
    metrics, now = Metrics(), Timestamp.now()
    sampler = FigureSampler(platform.services, metrics.count_requests)
    metrics.observe_request("row", 200, 0.01)
    platform.services.resources[FigureCounts].count_message()
    database = platform.services.database

    class Broken:
        read = staticmethod(database.read)

        def transaction(self) -> object:
            raise StorageError("the disk is full")

    platform.services.database = Broken()  # type: ignore[assignment]
    assert await sampler._round() is False
    platform.services.database = database
    await sampler.sample(now)
    operator = await make_operator(platform)
    (sample,) = (await operator.get("/admin/v1/figures")).json
    assert (sample["requests"], sample["messages"]) == (1, 1)


async def test_the_rows_of_figures_are_bounded(platform: Platform) -> None:
    metrics = Metrics()
    sampler = FigureSampler(platform.services, metrics.count_requests)
    start = Timestamp.now()
    for moment in (0, HOURS * HOUR_MS + HOUR_MS, DAYS * DAY_MS + 2 * DAY_MS):
        metrics.observe_request("row", 200, 0.01)
        await sampler.sample(Timestamp(start + moment))
    async with platform.database.read() as reader:
        hours = {row.start for row in await select_figures_after(reader, 1, 0)}
        days = {row.start for row in await select_figures_after(reader, 24, 0)}
    assert len(hours) == 1
    assert len(days) == 2


async def test_workers_requests_are_added(platform: Platform) -> None:
    own, worker, now = Metrics(), Metrics(), Timestamp.now()
    sampler = FigureSampler(platform.services, own.count_requests)
    counts = platform.services.resources[FigureCounts]
    own.observe_request("row", 200, 0.01)
    worker.observe_request("row", 503, 0.01)
    before = worker.count_requests()
    counts.add_requests(before)
    await sampler.sample(now)
    worker.observe_request("row", 200, 0.01)
    counts.add_requests(worker.count_requests().since(before))
    await sampler.sample(now)
    (sample,) = (await (await make_operator(platform)).get("/admin/v1/figures")).json
    assert (sample["requests"], sample["errors"]) == (3, 1)


def test_a_quantile_lies_in_the_bound_of_its_request() -> None:
    empty = [0] * (len(REQUEST_SECONDS) + 1)
    assert quantile_ms(empty, 0.5) is None
    slow = [*empty[:-1], 4]
    assert quantile_ms(slow, 0.5) == REQUEST_SECONDS[-1] * 1000
    first = [10, *empty[1:]]
    assert quantile_ms(first, 1.0) == REQUEST_SECONDS[0] * 1000
