"""One page of metrics for several processes."""

import asyncio

from moothall.bus.local import LocalBus
from moothall.runtime.budgets import SERVER
from moothall.runtime.metrics import Metrics
from moothall.runtime.work_pool import WorkPool
from moothall.server.worker_metrics import MetricsCollector, MetricsReporter, add_pages

ONE = """# HELP moothall_requests_total Requests.
# TYPE moothall_requests_total counter
moothall_requests_total{row="a"} 2.0
# HELP moothall_jobs Jobs.
# TYPE moothall_jobs gauge
moothall_jobs 4.0
# HELP process_start Start.
# TYPE process_start gauge
process_start 100.0
"""
OTHER = """# HELP moothall_requests_total Requests.
# TYPE moothall_requests_total counter
moothall_requests_total{row="a"} 3.0
moothall_requests_total{row="b c"} 1.0
# HELP moothall_jobs Jobs.
# TYPE moothall_jobs gauge
moothall_jobs NaN
# HELP process_start Start.
# TYPE process_start gauge
process_start 200.0
"""


def test_numbers_of_a_series_are_added_and_those_of_a_process_are_left_alone() -> None:
    assert add_pages([ONE, OTHER]) == ONE.replace(
        'moothall_requests_total{row="a"} 2.0',
        'moothall_requests_total{row="a"} 5.0\nmoothall_requests_total{row="b c"} 1.0',
    )


async def test_the_process_that_writes_adds_the_numbers_of_its_workers() -> None:
    bus, own = LocalBus(), Metrics()
    workers = [Metrics() for _ in range(2)]
    reporters = [MetricsReporter(bus, metrics, WorkPool("metrics").for_payer(SERVER)) for metrics in workers]
    collector = MetricsCollector(bus, lambda: len(reporters))
    for metrics in (own, *workers):
        metrics.observe_request("get_guild", 200, 0.001)
    async with asyncio.timeout(20):
        page = await collector.add_workers(own.render())
    assert b'moothall_http_requests_total{row="get_guild",status="200"} 3.0' in page
