"""The metrics of a process, for Prometheus.

Values are counted in lists and dictionaries, and passed to the client library only when they are rendered: the
library's own counters take five times as long, for locks that one event loop does not need.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from operator import add, sub
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from prometheus_client.core import Metric

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8; escaping=underscores"

REQUEST_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMMIT_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
_FIRST_SERVER_ERROR = 500
_BATCH_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class Distribution:
    """A histogram: how many values are within each bound, and the sum of all values."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value. A value that equals a bound is within it."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    @property
    def counts(self) -> list[int]:
        """The count of each bound, not cumulative, and last that of greater values."""
        return self._counts.copy()

    def cumulative(self) -> tuple[list[tuple[str, float]], float]:
        """The cumulative count of each bound, in the form that Prometheus' client takes, and the sum."""
        names = [*(str(bound) for bound in self._bounds), "+Inf"]
        return list(zip(names, map(float, accumulate(self._counts)), strict=True)), self._sum


class RequestCounts(Struct, frozen=True):
    """Requests since the start of a process: how many, how many of them failed (5xx), and how long they took."""

    requests: int
    errors: int
    within: list[int]
    """The number of requests for each bound of `REQUEST_SECONDS`, not cumulative, and last that of slower ones."""

    def since(self, before: "RequestCounts") -> "RequestCounts":
        """The requests after an earlier count."""
        within = list(map(sub, self.within, before.within))
        return RequestCounts(self.requests - before.requests, self.errors - before.errors, within)

    def plus(self, other: "RequestCounts") -> "RequestCounts":
        """The requests of both."""
        within = list(map(add, self.within, other.within))
        return RequestCounts(self.requests + other.requests, self.errors + other.errors, within)


NO_REQUESTS = RequestCounts(0, 0, [0] * (len(REQUEST_SECONDS) + 1))


class Metrics:
    """The metrics of one process. One thread at a time writes a metric, any may read it."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = {}
        self._latencies: dict[str, Distribution] = {}
        self._published: dict[str, int] = {}
        self._commit_sizes = Distribution(_BATCH_SIZES)
        self._commit_seconds = Distribution(_COMMIT_SECONDS)
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self.delivered = 0
        """Dispatches sent to gateway sessions; the gateway increments it."""

    def observe_request(self, row: str, status: int, seconds: float) -> None:
        """Count a request that has its response. `row` is an endpoint's name, never a path: each stays in memory."""
        key = (row, status)
        try:
            self._requests[key] += 1
        except KeyError:
            self._requests[key] = 1
        latency = self._latencies.get(row)
        if latency is None:
            latency = self._latencies[row] = Distribution(REQUEST_SECONDS)
        latency.observe(seconds)

    def count_requests(self) -> "RequestCounts":
        """Count the requests of all rows since the start of the process."""
        requests = self._requests.copy()
        within = [0] * (len(REQUEST_SECONDS) + 1)
        for latency in self._latencies.copy().values():
            within = list(map(add, within, latency.counts))
        failed = sum(count for (_, status), count in requests.items() if status >= _FIRST_SERVER_ERROR)
        return RequestCounts(sum(requests.values()), failed, within)

    def observe_commit(self, transactions: int, seconds: float) -> None:
        """Count a commit of so many transactions that took so many seconds to be durable."""
        self._commit_sizes.observe(transactions)
        self._commit_seconds.observe(seconds)

    def count_published(self, name: str) -> None:
        """Count an event by its dispatch name, also one that no session could receive."""
        self._published[name] = self._published.get(name, 0) + 1

    def add_gauge(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Add the gauge `moothall_<name>`, whose value is what `read` returns at each rendering."""
        self._gauges[name] = (documentation, read)

    def render(self) -> bytes:
        """All metrics, and those of the Python process, in the text format of `CONTENT_TYPE`."""
        # The import takes 9 MB, which a process without monitoring saves.
        from prometheus_client import (  # noqa: PLC0415
            CollectorRegistry,
            GCCollector,
            PlatformCollector,
            ProcessCollector,
            generate_latest,
        )
        from prometheus_client.registry import Collector  # noqa: PLC0415

        class ProcessMetrics(Collector):
            def collect(_self) -> Iterator["Metric"]:  # noqa: N805  # `self` is the Metrics
                return self._families()

        registry = CollectorRegistry(auto_describe=False)
        registry.register(ProcessMetrics())
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
        return generate_latest(registry, escaping="underscores")

    def _families(self) -> Iterator["Metric"]:
        from prometheus_client.core import (  # noqa: PLC0415
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        requests = CounterMetricFamily(
            "moothall_http_requests", "Requests answered, by row and status.", labels=["row", "status"]
        )
        for (row, status), count in self._requests.copy().items():
            requests.add_metric([row, str(status)], count)
        yield requests
        latencies = HistogramMetricFamily(
            "moothall_http_request_seconds",
            "Seconds from a request's first byte to its answer, by row.",
            labels=["row"],
        )
        for row, latency in self._latencies.copy().items():
            buckets, total = latency.cumulative()
            latencies.add_metric([row], buckets, total)
        yield latencies
        published = CounterMetricFamily("moothall_events_published", "Events, by dispatch name.", labels=["name"])
        for name, count in self._published.copy().items():
            published.add_metric([name], count)
        yield published
        yield CounterMetricFamily(
            "moothall_events_delivered", "Dispatches handed to gateway sessions.", value=self.delivered
        )
        for name, documentation, distribution in (
            ("moothall_commit_transactions", "Transactions made durable by one commit.", self._commit_sizes),
            ("moothall_commit_seconds", "Seconds that a commit took to be durable.", self._commit_seconds),
        ):
            buckets, total = distribution.cumulative()
            yield HistogramMetricFamily(name, documentation, buckets=buckets, sum_value=total)
        for name, (documentation, read) in self._gauges.items():
            yield GaugeMetricFamily(f"moothall_{name}", documentation, value=read())
