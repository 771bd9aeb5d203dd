"""The bus of a single process: publishing is a function call."""

import logging
from collections.abc import Callable, Sequence

from moothall.bus.envelope import Envelope, Receive

log = logging.getLogger("moothall.bus")


class LocalBus:
    """Calls the subscribers of this process synchronously, in order."""

    durable = False
    shared = False

    def __init__(self) -> None:
        self._subscribers: list[Receive] = []

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Call every subscriber before returning. The failure of one is logged, and the others are called."""
        for receive in self._subscribers:
            try:
                receive(envelopes)
            except Exception:
                log.exception("a subscriber of the bus failed")

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` with every later publication. No connection, hence no gap and no reconnect."""
        del on_gap, on_reconnect
        self._subscribers.append(receive)

    async def start(self, space: str = "") -> None:
        """Do nothing: there is no server to connect to."""

    async def close(self) -> None:
        """Do nothing: no envelope is ever queued."""
