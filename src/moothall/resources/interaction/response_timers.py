"""Timers for responses, in the process in which the interaction was created."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from moothall.objects.clock import CLOCK
from moothall.objects.ids import InteractionId
from moothall.objects.wire import Timestamp
from moothall.resources.application.endpoint_requests import RESPONSE_SECONDS

_GRACE_SECONDS: Final = 0.5
"""How much longer than its timer an interaction can be responded to, if the process with the timer has died."""


class ResponseTimers:
    """One timer for each interaction without a response."""

    def __init__(self) -> None:
        self._handles: dict[InteractionId, asyncio.TimerHandle] = {}
        self._expiries: dict[InteractionId, tuple[float, Callable[[], None]]] = {}
        """When each timer ends by the platform's clock, and what it does then."""
        self.seconds = RESPONSE_SECONDS
        """How long an application has for its response, in seconds."""

    def __iter__(self) -> Iterator[InteractionId]:
        """The interactions with a running timer."""
        return iter(list(self._handles))

    def __len__(self) -> int:
        """How many timers are running."""
        return len(self._handles)

    def is_too_late(self, created_at: Timestamp, now: Timestamp) -> bool:
        """Whether an interaction that was created at a time can no longer be responded to, whatever its timer does."""
        return now - created_at > (self.seconds + _GRACE_SECONDS) * 1000

    def start(self, interaction_id: InteractionId, on_timeout: Callable[[InteractionId], None]) -> None:
        """Call `on_timeout` in `seconds`, unless the timer is stopped before."""

        def expire() -> None:
            self.stop(interaction_id)
            on_timeout(interaction_id)

        self._expiries[interaction_id] = CLOCK.monotonic() + self.seconds, expire
        self._handles[interaction_id] = asyncio.get_running_loop().call_later(self.seconds, expire)

    def stop(self, interaction_id: InteractionId) -> None:
        """Stop a timer; does nothing if it runs in another process."""
        self._expiries.pop(interaction_id, None)
        handle = self._handles.pop(interaction_id, None)
        if handle is not None:
            handle.cancel()

    def expire_due(self) -> None:
        """End the timers whose time has passed because the platform's clock was advanced."""
        now = CLOCK.monotonic()
        for end, expire in list(self._expiries.values()):
            if end <= now:
                expire()

    def close(self) -> None:
        """Stop every timer."""
        for interaction_id in list(self._handles):
            self.stop(interaction_id)
