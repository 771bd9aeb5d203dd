"""Rate limits: per row and top-level id, global, and the ban of clients that only collect refusals.

Counters are fixed windows in memory. They protect one process from one client; where several
processes serve, each counts for itself.
"""

import hashlib
import math
import time
from collections.abc import Callable
from itertools import islice

from msgspec import Struct


class Rate(Struct, frozen=True):
    """So many requests in so many seconds."""

    requests: int
    seconds: float
    per_webhook: bool = False
    """Counted for the webhook, whoever has its token and whichever of its rows it is; also by the minute."""
    apart: bool = False
    """Not counted with all that the caller does, but with the other rows of its kind, of which more may be done."""


DEFAULT_RATE = Rate(10, 2.0)

GLOBAL_RATE = Rate(50, 1.0)
APART_TIMES = 10
"""How many times as much one address may do on the rows that are counted apart."""

WEBHOOK_RATE = Rate(5, 2.0, per_webhook=True)

ANSWER_RATE = Rate(5, 2.0, per_webhook=True, apart=True)
"""Answers to one interaction: an application that answers many people at once is held up by none of them."""
ANSWERED_RATE = Rate(10, 2.0, apart=True)
"""What is done with the answer."""

WEBHOOK_MINUTE_RATE = Rate(30, 60.0)
"""What a webhook may post in the long run."""

INVALID_RATE = Rate(10_000, 600.0)
"""Answers of 401, 403 and 429 to one address, after which it is shut out for the rest of the window."""


class Verdict(Struct, kw_only=True):
    """What the limiter says of one request; the headers are its business too."""

    allowed: bool
    headers: list[tuple[bytes, bytes]]
    retry_after: float = 0.0
    scope: str = ""


_SWEEP_EVERY = 30.0
_MAX_WINDOWS = 500_000
"""So many at most are remembered; beyond that the sweep does not wait for its time."""


class RateLimiter:
    """All windows of one process.

    `loopback_multiplier` multiplies every limit for clients on the loopback interface.
    """

    def __init__(
        self,
        *,
        loopback_multiplier: int = 20,
        global_requests: int = GLOBAL_RATE.requests,
        invalid_requests: int = INVALID_RATE.requests,
        webhook_requests: int = WEBHOOK_RATE.requests,
        webhook_minute_requests: int = WEBHOOK_MINUTE_RATE.requests,
        max_windows: int = _MAX_WINDOWS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._loopback_multiplier = loopback_multiplier
        self._global = Rate(global_requests, GLOBAL_RATE.seconds)
        self._invalid = Rate(invalid_requests, INVALID_RATE.seconds)
        self._webhook = Rate(webhook_requests, WEBHOOK_RATE.seconds)
        self._webhook_minute = Rate(webhook_minute_requests, WEBHOOK_MINUTE_RATE.seconds)
        # key -> [window's end, requests left]
        self._windows: dict[tuple[object, ...], list[float]] = {}
        self._next_sweep = self._full_until = 0.0
        self._max_windows = max_windows

    def take(self, bucket: bytes, rate: Rate, caller: object, major: object, *, loopback: bool) -> Verdict:
        """Count one request of `caller` against its bucket and the global limit."""
        now = self._clock()
        self._tidy(now)
        factor = self._loopback_multiplier if loopback else 1
        if rate.apart:
            window = self._window(("apart", caller), self._global, factor * APART_TIMES, now)
        else:
            window = self._window(("global", caller), self._global, factor, now)
        if window[1] <= 0:
            return self._refused("global", window, now, [(b"x-ratelimit-global", b"true")])
        if rate.per_webhook:
            own = self._window(("webhook", major), rate := self._webhook, factor, now)
            minute = self._window(("webhook minute", major), self._webhook_minute, factor, now)
            if minute[1] <= 0:
                shown = _headers(self._webhook_minute, factor, minute, now, bucket)
                return self._refused("shared", minute, now, shown)
        else:
            own = self._window((bucket, caller, major), rate, factor, now)
            minute = None
        headers = _headers(rate, factor, own, now, bucket)
        if own[1] <= 0:
            return self._refused("user", own, now, headers)
        own[1] -= 1
        window[1] -= 1
        if minute is not None:
            minute[1] -= 1
        return Verdict(allowed=True, headers=headers)

    def spend(self, name: str, rate: Rate, caller: object, amount: float = 1, *, loopback: bool) -> float:
        """Take `amount` from a caller's window of that name, which nothing else is counted in.

        Returns 0, or the seconds until the window opens again if nothing is left in it. As long as anything is
        left, more may be taken than that: what something costs may be known only afterwards. 0 only asks.
        """
        now = self._clock()
        self._tidy(now)
        window = self._window(("spent", name, caller), rate, self._loopback_multiplier if loopback else 1, now)
        if window[1] <= 0:
            return max(0.001, window[0] - now)
        window[1] -= amount
        return 0.0

    def allowance(self, requests: int, *, loopback: bool) -> int:
        """How many a client may make where the public number is `requests`, for limits that are counted elsewhere."""
        return requests * self._loopback_multiplier if loopback else requests

    def note_refusal(self, address: str, *, loopback: bool) -> None:
        """Count an answer of 401, 403 or 429 against an address."""
        window = self._window(
            ("invalid", address), self._invalid, self._loopback_multiplier if loopback else 1, self._clock()
        )
        window[1] -= 1

    def banned_for(self, address: str) -> float:
        """Seconds until an address that collected too many refusals is heard again; 0 if it is heard."""
        window = self._windows.get(("invalid", address))
        if window is None or window[1] > 0:
            return 0.0
        return max(0.0, window[0] - self._clock())

    def _window(self, key: tuple[object, ...], rate: Rate, factor: int, now: float) -> list[float]:
        window = self._windows.get(key)
        if window is None or now >= window[0]:
            window = self._windows[key] = [now + rate.seconds, rate.requests * factor]
        return window

    @staticmethod
    def _refused(scope: str, window: list[float], now: float, headers: list[tuple[bytes, bytes]]) -> Verdict:
        wait = max(0.001, window[0] - now)
        return Verdict(
            allowed=False,
            retry_after=wait,
            scope=scope,
            headers=[
                *headers,
                (b"retry-after", b"%d" % math.ceil(wait)),
                (b"x-ratelimit-scope", scope.encode()),
                # discord.py and disnake take a 429 without it for a ban by a proxy, and raise instead of waiting.
                (b"via", b"1.1 moothall"),
            ],
        )

    def _tidy(self, now: float) -> None:
        if now >= self._next_sweep or (len(self._windows) >= self._max_windows and now >= self._full_until):
            self._sweep(now)

    def _sweep(self, now: float) -> None:
        self._next_sweep = now + _SWEEP_EVERY
        self._full_until = now + 1.0
        windows = self._windows
        for key in [key for key, window in windows.items() if window[0] <= now]:
            del windows[key]
        # What is left when all of them are live: the oldest half is forgotten, which lets some do a little more.
        if len(windows) >= self._max_windows:
            for key in list(islice(windows, len(windows) // 2)):
                del windows[key]


def _headers(rate: Rate, factor: int, window: list[float], now: float, bucket: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (b"x-ratelimit-limit", b"%d" % (rate.requests * factor)),
        (b"x-ratelimit-remaining", b"%d" % max(0, window[1] - 1)),
        (b"x-ratelimit-reset", b"%.3f" % window[0]),
        (b"x-ratelimit-reset-after", b"%.3f" % max(0.0, window[0] - now)),
        (b"x-ratelimit-bucket", bucket),
    ]


def bucket_name(method: str, path: str) -> bytes:
    """The public name of a row's bucket."""
    return hashlib.sha256(f"{method} {path}".encode()).hexdigest()[:32].encode()
