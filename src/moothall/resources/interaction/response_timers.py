"""Timers for responses, in the process in which the interaction was created."""

import asyncio
from collections.abc import Callable, Iterator

from moothall.kernel.context import Services
from moothall.objects.ids import InteractionId


class ResponseTimers:
    """One timer for each interaction without a response."""

    def __init__(self) -> None:
        self._handles: dict[InteractionId, asyncio.TimerHandle] = {}

    @classmethod
    def of(cls, services: Services) -> "ResponseTimers":
        """The timers of this process."""
        timers: ResponseTimers | None = services.extra.get(cls)
        if timers is None:
            timers = services.extra[cls] = cls()
        return timers

    def __iter__(self) -> Iterator[InteractionId]:
        """The interactions with a running timer."""
        return iter(list(self._handles))

    def __len__(self) -> int:
        """How many timers are running."""
        return len(self._handles)

    def start(self, interaction_id: InteractionId, seconds: float, on_timeout: Callable[[InteractionId], None]) -> None:
        """Call `on_timeout` in so many seconds, unless the timer is stopped before."""

        def expire() -> None:
            self._handles.pop(interaction_id, None)
            on_timeout(interaction_id)

        self._handles[interaction_id] = asyncio.get_running_loop().call_later(seconds, expire)

    def stop(self, interaction_id: InteractionId) -> None:
        """Stop a timer; does nothing if it runs in another process."""
        handle = self._handles.pop(interaction_id, None)
        if handle is not None:
            handle.cancel()

    def close(self) -> None:
        """Stop every timer."""
        for interaction_id in list(self._handles):
            self.stop(interaction_id)
