"""Noticing that a hub delivers nothing although events wait, and starting its delivery again."""

import logging
from typing import Final, Protocol

_log = logging.getLogger(__name__)

_SECONDS: Final = 10.0
"""Seconds without progress after which delivery counts as stalled; a slice takes milliseconds."""


class WatchedHub(Protocol):
    """What is watched of a hub."""

    delivered: int
    """Envelopes and slices delivered so far."""

    @property
    def is_waiting(self) -> bool:
        """Whether something has to be delivered."""

    def restart_delivery(self) -> None:
        """Deliver what waits, whatever has become of the delivery before."""


class DeliveryWatch:
    """Compares at each `check` what the hub has delivered with the check before."""

    def __init__(self, hub: WatchedHub) -> None:
        self.stalls = 0
        """How often delivery stood still."""
        self.delivers = True
        """Whether the last check found the delivery working."""
        self._hub = hub
        self._delivered = 0
        self._waiting_since: float | None = None

    def check(self, now: float) -> None:
        """Look for progress at a time of the event loop's clock; without any for some time, deliver again."""
        hub = self._hub
        if not hub.is_waiting or hub.delivered != self._delivered:
            self._delivered, self._waiting_since, self.delivers = hub.delivered, None, True
        if not hub.is_waiting:
            return
        if self._waiting_since is None:
            self._waiting_since = now
        elif now - self._waiting_since >= _SECONDS:
            self._waiting_since, self.delivers = now, False
            self.stalls += 1
            _log.error(
                "no event was delivered for %.0f seconds although some wait: delivery is started again", _SECONDS
            )
            hub.restart_delivery()
