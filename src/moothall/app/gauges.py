"""The gauges of `/metrics` that are read from services, and the metrics of workers."""

import asyncio
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.api.context import Services
from moothall.api.jobs.queries import JobCounts, count_jobs
from moothall.app.voice_states import VoiceStates
from moothall.bus import Bus, Envelope
from moothall.bus.unix import WriterBus
from moothall.gateway.node import GatewayNode
from moothall.objects.wire import Timestamp
from moothall.resources.server_figure.counts import FigureCounts
from moothall.resources.server_figure.sampler import FigureSampler
from moothall.runtime.loop_watch import LoopWatch
from moothall.runtime.metrics import Metrics
from moothall.runtime.work_pool import PayerPool
from moothall.server.worker_figures import CountReporter, receive_counts
from moothall.server.worker_metrics import MetricsCollector, MetricsReporter
from moothall.storage.database import Database, StorageError

if TYPE_CHECKING:
    from moothall.bus.nats import NatsBus

_NO_JOB_COUNTS: Final = JobCounts(waiting=math.nan, failed=math.nan)


class JobGauges:
    """The numbers of jobs, counted anew for each reading of the metrics."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts = _NO_JOB_COUNTS

    async def refresh(self) -> None:
        """Count the jobs of the database; NaN if it does not respond within a second."""
        try:
            async with asyncio.timeout(1), self._database.read() as reader:
                self._counts = await count_jobs(reader, Timestamp.now())
        except (StorageError, TimeoutError):
            self._counts = _NO_JOB_COUNTS

    def add_to(self, metrics: Metrics) -> None:
        """Add the gauges."""
        metrics.add_gauge(
            "jobs_waiting",
            "Jobs that are due, or will be retried after a failure.",
            lambda: self._counts.waiting,
        )
        metrics.add_gauge("jobs_failed", "Jobs given up after too many failed attempts.", lambda: self._counts.failed)


def collect_from_workers(bus: Bus, metrics: Metrics, pool: PayerPool, *, is_worker: bool) -> MetricsCollector | None:
    """Report the metrics of a worker, or collect those of the workers. None without a collection."""
    if isinstance(bus, WriterBus):
        writer_bus = bus
        return MetricsCollector(writer_bus, lambda: writer_bus.worker_count)
    if is_worker:
        MetricsReporter(bus, metrics, pool)
    return None


def watch_loop(watch: LoopWatch, metrics: Metrics) -> None:
    """Report stretches without a turn of the event loop from now on."""
    watch.start()
    metrics.add_gauge(
        "event_loop_longest_stretch_seconds",
        "Longest time without a turn of the event loop, of those that the setting slow_turn_ms reports.",
        lambda: watch.longest,
    )


def add_gateway_gauges(metrics: Metrics, node: GatewayNode) -> None:
    """Add the gauges of sessions and connections."""
    metrics.add_gauge(
        "gateway_sessions", "Sessions, connected or waiting for a resume.", lambda: len(node.hub.sessions)
    )
    metrics.add_gauge("gateway_connections", "Open WebSockets.", lambda: len(node.connections))
    metrics.add_gauge("gateway_dropped", "Connections ended for a slow or silent peer.", lambda: node.ends.dropped)
    metrics.add_gauge(
        "gateway_invalidated",
        "Sessions told to identify anew, since they may have missed an event.",
        lambda: node.ends.invalidations.count,
    )
    metrics.add_gauge(
        "gateway_stalls",
        "Times that the delivery of events stood still and was started again.",
        lambda: node.delivery_watch.stalls,
    )


def add_voice_gauges(metrics: Metrics, voice: VoiceStates) -> None:
    """Add the gauges of voice."""
    metrics.add_gauge("voice_participants", "Members in voice channels.", lambda: len(voice))
    metrics.add_gauge("voice_sessions", "Those of them whose client has connected.", lambda: voice.statistics.sessions)
    metrics.add_gauge("voice_packets_sent", "Packets forwarded, for each receiver.", lambda: voice.statistics.forwarded)
    metrics.add_gauge("voice_packets_dropped", "Packets that were not valid.", lambda: voice.statistics.dropped)


def add_nats_gauges(metrics: Metrics, bus: "NatsBus") -> None:
    """Add the gauges of the bus between nodes."""
    metrics.add_gauge("bus_connected", "Whether NATS can be reached.", lambda: int(bus.connected))
    metrics.add_gauge("bus_dropped", "Presences and typing given up while it could not.", lambda: bus.dropped)
    metrics.add_gauge("bus_unauthentic", "Messages on NATS that were not of this cluster.", lambda: bus.unauthentic)


def figures_over_time(
    services: Services, bus: Bus, metrics: Metrics, *, is_worker: bool
) -> FigureSampler | CountReporter:
    """The task that stores figures over time; in a worker, which writes nothing, the one that reports them."""
    if is_worker:
        return CountReporter(bus, metrics.count_requests)
    receive_counts(bus, services.resources[FigureCounts].add_requests)
    return FigureSampler(services, metrics.count_requests)


def count_published(bus: Bus, metrics: Metrics) -> None:
    """Count the events that are published from now on, by name."""

    def count(envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            metrics.count_published(envelope.name)

    bus.subscribe(count)
