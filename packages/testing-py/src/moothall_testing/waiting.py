"""Waiting for what a bot does, by the transcript of the test server."""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from moothall_testing.http import RefusedError
from moothall_testing.world import World

__all__ = ["Entry", "Follower", "NoReaction", "RefusedError"]

Entry = dict[str, Any]
"""An entry of the transcript."""

_MAX_SHOWN: Final = 15
_LONGEST_WAIT: Final = 30.0
"""Seconds after which a request for further entries is answered without one."""
_CHECK_INTERVAL: Final = 0.25
"""The same in seconds where what causes the entry may end."""


class NoReaction(AssertionError):
    """What was waited for did not happen in time; the message says what happened instead."""


class Follower:
    """Reads the entries of the transcript after a number, as they come."""

    def __init__(self, world: World, after: int | None = None) -> None:
        self._world = world
        self._after = world.control("GET", "/transcript?after=1000000000")["last"] if after is None else after
        self.seen: list[Entry] = []

    def until(
        self, accepts: Callable[[Entry], bool], *, within: float, what: str, ended: Callable[[], bool] | None = None
    ) -> Entry:
        """The first entry that is accepted.

        Raises NoReaction after `within` seconds of real time, or as soon as what should cause the entry has `ended`;
        BotFailed as soon as a bot fails in a way that the test does not expect.
        """
        deadline = monotonic() + within
        entry: Entry
        for entry in self.seen:
            if accepts(entry):
                return entry
        while True:
            self._world.errors.raise_unexpected()
            left = deadline - monotonic()
            if ended is not None and ended():
                raise NoReaction(self._explanation(f"no {what} before the end of what should cause it."))
            if left <= 0:
                raise NoReaction(self._explanation(f"no {what} within {within:g} s."))
            wait = min(left, _LONGEST_WAIT if ended is None else _CHECK_INTERVAL)
            page = self._world.control("GET", f"/transcript?after={self._after}&wait={wait:.3f}")
            self._after = page["last"]
            self.seen += page["entries"]
            self._world.note_errors(page["entries"])
            for entry in page["entries"]:
                if accepts(entry):
                    return entry

    def _explanation(self, problem: str) -> str:
        lines = [problem]
        lines += ["What happened instead:", *(entry["line"] for entry in self.seen[-_MAX_SHOWN:])] if self.seen else []
        if not self.seen:
            lines.append("Nothing else happened either.")
        return "\n".join(lines)
