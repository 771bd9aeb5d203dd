"""Waiting for what a bot does, by the transcript of the test server."""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from moothall_testing.http import RefusedError
from moothall_testing.server_process import ServerProcess

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

    def __init__(self, server: ServerProcess, after: int | None = None) -> None:
        self._server = server
        self._after = server.control("GET", "/transcript?after=1000000000")["last"] if after is None else after
        self.seen: list[Entry] = []

    def until(
        self, accepts: Callable[[Entry], bool], *, within: float, what: str, ended: Callable[[], bool] | None = None
    ) -> Entry:
        """The first entry that is accepted.

        Raises NoReaction after `within` seconds of real time, or as soon as what should cause the entry has `ended`.
        """
        deadline = monotonic() + within
        entry: Entry
        for entry in self.seen:
            if accepts(entry):
                return entry
        while True:
            left = deadline - monotonic()
            if ended is not None and ended():
                raise NoReaction(self._explanation(f"no {what} before the end of what should cause it."))
            if left <= 0:
                raise NoReaction(self._explanation(f"no {what} within {within:g} s."))
            wait = min(left, _LONGEST_WAIT if ended is None else _CHECK_INTERVAL)
            page = self._server.control("GET", f"/transcript?after={self._after}&wait={wait:.3f}")
            self._after = page["last"]
            self.seen += page["entries"]
            for entry in page["entries"]:
                if accepts(entry):
                    return entry

    def _explanation(self, problem: str) -> str:
        lines = [problem]
        lines += ["What happened instead:", *map(line_of, self.seen[-_MAX_SHOWN:])] if self.seen else []
        if not self.seen:
            lines.append("Nothing else happened either.")
        return "\n".join(lines)


def line_of(entry: Entry) -> str:
    """An entry in a line."""
    details = [str(entry[key]) for key in ("actor", "name", "method", "path", "status", "text") if entry.get(key)]
    data = entry.get("data")
    if isinstance(data, dict):
        details += [f"{key}={data[key]!r}" for key in ("content", "message", "code", "reason_code") if data.get(key)]
    return f"  {entry['at'][11:23]} {entry['kind']:<9} {' '.join(details)}"
