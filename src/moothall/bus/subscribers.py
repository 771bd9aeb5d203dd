"""The subscribers of a bus, each called inside a boundary of its own."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from moothall.bus.envelope import Envelope, Receive

log = logging.getLogger("moothall.bus")


class Subscribers:
    """Calls the subscribers of this process with one batch after another, also if a subscriber publishes.

    The failure of one is logged, and the others are called.
    """

    def __init__(self) -> None:
        self._receivers: list[Receive] = []
        self._on_gap: list[Callable[[], None]] = []
        self._on_reconnect: list[Callable[[], None]] = []
        self._waiting: deque[Sequence[Envelope]] = deque()
        self._calling = False

    def add(
        self,
        receive: Receive,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Add a subscriber."""
        self._receivers.append(receive)
        if on_gap is not None:
            self._on_gap.append(on_gap)
        if on_reconnect is not None:
            self._on_reconnect.append(on_reconnect)

    def call(self, envelopes: Sequence[Envelope]) -> None:
        """Call every subscriber, after the batches before."""
        self._waiting.append(envelopes)
        if self._calling:
            return
        self._calling = True
        try:
            while self._waiting:
                batch = self._waiting.popleft()
                for receive in self._receivers:
                    try:
                        receive(batch)
                    except Exception:
                        log.exception("a subscriber of the bus failed")
        finally:
            self._calling = False

    def report_gap(self) -> None:
        """Tell the subscribers that envelopes are lost."""
        _call_all(self._on_gap)

    def report_reconnect(self) -> None:
        """Tell the subscribers that the server is reachable again."""
        _call_all(self._on_reconnect)


def _call_all(callbacks: Iterable[Callable[[], None]]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception:
            log.exception("a callback of the bus failed")
