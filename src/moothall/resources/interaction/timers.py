"""The seconds that applications have for their answers, counted in the process where the interaction was raised."""

import asyncio
from collections.abc import Callable, Iterator

from moothall.kernel.context import Services
from moothall.objects.ids import InteractionId


class Timers:
    """One handle for each interaction that nobody has answered yet."""

    def __init__(self) -> None:
        self._running: dict[InteractionId, asyncio.TimerHandle] = {}

    @classmethod
    def of(cls, services: Services) -> "Timers":
        """Those of this process."""
        found: Timers | None = services.extra.get(cls)
        if found is None:
            found = services.extra[cls] = cls()
        return found

    def __iter__(self) -> Iterator[InteractionId]:
        """Those that are not answered yet."""
        return iter(list(self._running))

    def __len__(self) -> int:
        """How many run."""
        return len(self._running)

    def start(self, interaction_id: InteractionId, seconds: float, give_up: Callable[[InteractionId], None]) -> None:
        """Have an interaction given up in so many seconds, unless it is answered here before."""

        def over() -> None:
            self._running.pop(interaction_id, None)
            give_up(interaction_id)

        self._running[interaction_id] = asyncio.get_running_loop().call_later(seconds, over)

    def stop(self, interaction_id: InteractionId) -> None:
        """It has been answered. One whose seconds another process counts is no concern of this one."""
        handle = self._running.pop(interaction_id, None)
        if handle is not None:
            handle.cancel()

    def close(self) -> None:
        """Count no more."""
        for interaction_id in list(self._running):
            self.stop(interaction_id)
