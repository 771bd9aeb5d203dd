"""The bus of a single process: publishing is a function call."""

from collections.abc import Callable, Sequence

from moothall.bus.envelope import Envelope, Receive, require_routes
from moothall.bus.subscribers import Subscribers


class LocalBus:
    """Calls the subscribers of this process synchronously, in order."""

    durable = False
    shared = False

    def __init__(self) -> None:
        self._subscribers = Subscribers()

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Call every subscriber before returning, or after the current call if it is a subscriber that publishes."""
        require_routes(envelopes)
        self._subscribers.call(envelopes)

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` with every later publication. No connection, hence no gap and no reconnect."""
        del on_gap, on_reconnect
        self._subscribers.add(receive)

    async def start(self, space: str = "") -> None:
        """Do nothing: there is no server to connect to."""

    async def close(self) -> None:
        """Do nothing: no envelope is ever queued."""
