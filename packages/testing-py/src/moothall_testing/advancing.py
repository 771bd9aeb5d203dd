"""Moving the clocks of the platform and of its bots together, from one timer of a bot to the next."""

from collections.abc import Sequence
from typing import Final, Protocol

from moothall_testing.world import World

_MAX_STEPS: Final = 400
"""Steps of one way at most; timers that are closer together than its share are due in one step."""


class Clock(Protocol):
    """The clock of a bot."""

    def until_next_timer(self) -> float | None:
        """Seconds until the bot's next timer; None if there is none."""

    def move(self, seconds: float) -> None:
        """Move the clock, and return once what was due has been done."""


def advance(world: World, clocks: Sequence[Clock], total: float) -> str:
    """Move all clocks by `total` seconds; the platform's time at the end."""
    left = total
    while True:
        due = [seconds for clock in clocks if (seconds := clock.until_next_timer()) is not None]
        step = min(left, max(min(due, default=left), total / _MAX_STEPS))
        left -= step
        is_last = left <= 0
        now = world.control("POST", "/time", {"seconds": step, "total": total if is_last else 0})["now"]
        for clock in clocks:
            clock.move(step)
        world.errors.raise_unexpected()
        if is_last:
            return str(now)
