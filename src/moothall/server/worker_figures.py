"""What workers have counted, for the process that writes it down."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Raw

from moothall.bus import Audience, Bus, Envelope
from moothall.objects.wire import decoder, encode
from moothall.runtime.background import PeriodicTask
from moothall.runtime.metrics import NO_REQUESTS, RequestCounts

_NAME: Final = "REQUEST_COUNTS"


class CountReporter(PeriodicTask):
    """Publishes the requests of a worker since the last time, every minute."""

    def __init__(self, bus: Bus, count_requests: Callable[[], RequestCounts], *, seconds: float = 60.0) -> None:
        super().__init__(seconds=seconds)
        self._bus = bus
        self._count_requests = count_requests
        self._before = NO_REQUESTS

    async def _round(self) -> bool:
        self.report()
        return False

    def report(self) -> None:
        """Publish them now."""
        counts = self._count_requests()
        data = Raw(encode(counts.since(self._before)))
        self._bus.publish([Envelope(name=_NAME, data=data, audience=Audience.NODE)])
        self._before = counts


def receive_counts(bus: Bus, add: Callable[[RequestCounts], None]) -> None:
    """Call `add` with what workers report from now on."""

    def receive(envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            if envelope.audience is Audience.NODE and envelope.name == _NAME:
                add(decoder(RequestCounts).decode(envelope.data))

    bus.subscribe(receive)
