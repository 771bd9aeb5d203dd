"""The bus of a single process: publishing is a function call."""

from collections.abc import Callable, Sequence

from moothall.bus.envelope import Envelope


class LocalBus:
    """Delivers at once, in order, to the subscribers of this process."""

    durable = False

    def __init__(self) -> None:
        self._hearers: list[Callable[[Sequence[Envelope]], None]] = []

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Call every subscriber before returning."""
        for hear in self._hearers:
            hear(envelopes)

    def subscribe(self, hear: Callable[[Sequence[Envelope]], None]) -> None:
        """Hear every later publication."""
        self._hearers.append(hear)

    async def start(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing is ever queued."""
