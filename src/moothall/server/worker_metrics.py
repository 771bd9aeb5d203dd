"""The metrics of several processes as one page: the process that writes requests those of the workers."""

import asyncio
import math
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Raw, Struct

from moothall.bus import Audience, Bus, Envelope
from moothall.objects.wire import decoder, encode
from moothall.runtime.budgets import WorkRefused
from moothall.runtime.metrics import Metrics
from moothall.runtime.work_pool import PayerPool

_REQUEST: Final = "METRICS_REQUEST"
_RESPONSE: Final = "METRICS_RESPONSE"
_SECONDS: Final = 1.0
"""How long a page waits for the workers."""
_OWN: Final = "moothall_"
"""Begins the names of metrics that are added; others are of the process that answers."""
_LARGEST: Final = frozenset({"moothall_event_loop_longest_stretch_seconds"})
"""Metrics of which a page has the largest number instead of the sum."""


class _Request(Struct):
    number: int


class _Response(Struct):
    number: int
    text: str


def _control(name: str, data: Struct) -> Envelope:
    return Envelope(name=name, data=Raw(encode(data)), audience=Audience.NODE)


class MetricsReporter:
    """Answers requests for the metrics of a worker, which are written in `pool`."""

    def __init__(self, bus: Bus, metrics: Metrics, pool: PayerPool) -> None:
        self._bus = bus
        self._metrics = metrics
        self._pool = pool
        self._tasks: set[asyncio.Task[None]] = set()
        bus.subscribe(self._receive)

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            if envelope.audience is Audience.NODE and envelope.name == _REQUEST:
                number = decoder(_Request).decode(envelope.data).number
                task = asyncio.get_running_loop().create_task(self._respond(number))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _respond(self, number: int) -> None:
        with suppress(WorkRefused):  # with too many requests the page goes without this worker
            text = (await self._pool.run(self._metrics.render)).decode()
            self._bus.publish([_control(_RESPONSE, _Response(number, text))])


class MetricsCollector:
    """Requests the metrics of the workers, of which `count_workers` returns the number."""

    def __init__(self, bus: Bus, count_workers: Callable[[], int]) -> None:
        self._bus = bus
        self._count_workers = count_workers
        self._number = 0
        self._texts: dict[int, list[str]] = {}
        self._arrived = asyncio.Event()
        bus.subscribe(self._receive)

    async def add_workers(self, own: bytes) -> bytes:
        """The page of this process with the numbers of the workers added. One that is slow to answer is left out."""
        self._number += 1
        number = self._number
        texts = self._texts[number] = []
        self._bus.publish([_control(_REQUEST, _Request(number))])
        try:
            async with asyncio.timeout(_SECONDS):
                while len(texts) < self._count_workers():
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            pass
        finally:
            del self._texts[number]
        return add_pages([own.decode(), *texts]).encode()

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            if envelope.audience is Audience.NODE and envelope.name == _RESPONSE:
                response = decoder(_Response).decode(envelope.data)
                if (texts := self._texts.get(response.number)) is not None:
                    texts.append(response.text)
                    self._arrived.set()


def add_pages(pages: Sequence[str]) -> str:
    """Pages in the text format of Prometheus as one: numbers of the same series are added, unknown ones left out."""
    families: dict[str, dict[str, float | str]] = {}
    for page in pages:
        series: dict[str, float | str] = {}
        for line in page.splitlines():
            if line.startswith("# HELP "):
                series = families.setdefault(line.split(" ", 3)[2], {})
            if line.startswith("#"):
                series.setdefault(line, "")
            elif page is pages[0] or line.startswith(_OWN):
                name, _, number = line.rpartition(" ")
                combine = max if name in _LARGEST else operator.add
                series[name] = _combine(series.get(name, math.nan), float(number), combine)
    lines = (
        line if value == "" else f"{line} {value}" for series in families.values() for line, value in series.items()
    )
    return "\n".join((*lines, ""))


def _combine(one: float | str, other: float, combine: Callable[[float, float], float]) -> float:
    """Two numbers of a series as one; one that is unknown is left out."""
    if isinstance(one, str) or math.isnan(one):
        return other
    return one if math.isnan(other) else combine(one, other)
