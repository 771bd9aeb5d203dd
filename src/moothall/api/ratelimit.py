"""Rate limits: per endpoint and major parameter, global, and for invalid requests.

Counters are fixed windows in memory. The workers of one machine share theirs; else each process has its own.
"""

import hashlib
import math
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Final

from msgspec import Struct

from moothall.api.refusal_delays import RefusalDelays
from moothall.api.shared_windows import ProcessWindows
from moothall.objects.clock import CLOCK


class Rate(Struct, frozen=True):
    """A limit of `requests` in `seconds`."""

    requests: int
    seconds: float
    per_webhook: bool = False
    """Whether requests are counted per webhook, for all callers and all endpoints of it, and also per minute."""
    separate: bool = False
    """Whether requests count against a global limit of their own, which is `SEPARATE_FACTOR` times as high."""


DEFAULT_RATE = Rate(10, 2.0)

GLOBAL_RATE = Rate(50, 1.0)
SEPARATE_FACTOR = 10
"""The separate global limit of interaction endpoints, as a multiple of the global limit."""

WEBHOOK_RATE = Rate(5, 2.0, per_webhook=True)

CALLBACK_RATE = Rate(5, 2.0, per_webhook=True, separate=True)
"""Responses to one interaction. Responses to other interactions do not count."""
INTERACTION_RESPONSE_RATE = Rate(10, 2.0, separate=True)
"""Reading, editing and deleting the original response."""

WEBHOOK_MINUTE_RATE = Rate(30, 60.0)
"""Messages of one webhook per minute."""

INVALID_RATE = Rate(10_000, 600.0)
"""Responses of 401, 403 and 429 to one address; above the limit it is banned for the rest of the window."""


class RateLimitResult(Struct, kw_only=True):
    """Whether a request is allowed, and the rate limit headers of its response."""

    allowed: bool
    headers: list[tuple[bytes, bytes]]
    retry_after: float = 0.0
    scope: str = ""


_SWEEP_EVERY = 30.0
_MAX_WINDOWS = 500_000
"""The maximum number of windows in memory. At this number expired ones are removed before the next sweep is due."""


class RateLimiter:
    """The rate limits of one process, or with `shared` windows of all that share them.

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
        shared: ProcessWindows | None = None,
        clock: Callable[[], float] = CLOCK.now,
    ) -> None:
        self._clock = clock
        self._loopback_multiplier = loopback_multiplier
        self._global = Rate(global_requests, GLOBAL_RATE.seconds)
        self._invalid = Rate(invalid_requests, INVALID_RATE.seconds)
        self._webhook = Rate(webhook_requests, WEBHOOK_RATE.seconds)
        self._webhook_minute = Rate(webhook_minute_requests, WEBHOOK_MINUTE_RATE.seconds)
        self._shared = shared
        # key -> [window's end, requests left]
        self._windows: dict[tuple[object, ...], list[float]] = {}
        self._next_sweep = self._full_until = 0.0
        self._max_windows = max_windows
        self.delays = RefusalDelays(loopback_multiplier=loopback_multiplier)
        """Delays the refusals of who does not stop asking."""

    def take(self, bucket: bytes, rate: Rate, caller: object, major: object, *, loopback: bool) -> RateLimitResult:
        """Count one request of `caller` against its bucket and the global limit. `major` is the major parameter."""
        now = self._clock()
        self._tidy(now)
        factor = self._loopback_multiplier if loopback else 1
        own_key: tuple[object, ...]
        minute_key = ("webhook minute", major)
        if rate.separate:
            key = ("separate", caller)
            window = self._window(key, self._global, factor * SEPARATE_FACTOR, now)
        else:
            key = ("global", caller)
            window = self._window(key, self._global, factor, now)
        if window[1] <= 0:
            return self._refused("global", window, now, [(b"x-ratelimit-global", b"true")])
        if rate.per_webhook:
            own_key = ("webhook", major)
            own = self._window(own_key, rate := self._webhook, factor, now)
            minute = self._window(minute_key, self._webhook_minute, factor, now)
            if minute[1] <= 0:
                headers = _headers(self._webhook_minute, factor, minute, now, bucket)
                return self._refused("shared", minute, now, headers)
        else:
            own_key = (bucket, caller, major)
            own = self._window(own_key, rate, factor, now)
            minute = None
        headers = _headers(rate, factor, own, now, bucket)
        if own[1] <= 0:
            return self._refused("user", own, now, headers)
        self._count(own_key, own, 1, now)
        self._count(key, window, 1, now)
        if minute is not None:
            self._count(minute_key, minute, 1, now)
        return RateLimitResult(allowed=True, headers=headers)

    def spend(self, name: str, rate: Rate, caller: object, amount: float = 1, *, loopback: bool) -> float:
        """Take `amount` from the caller's window with a name.

        Returns 0, or the seconds until the window is reset if nothing is left in it. If anything is left, `amount` may
        exceed it, for costs that are known only afterwards. An amount of 0 only checks.
        """
        now = self._clock()
        self._tidy(now)
        key = ("spent", name, caller)
        window = self._window(key, rate, self._loopback_multiplier if loopback else 1, now)
        if window[1] <= 0:
            return max(0.001, window[0] - now)
        self._count(key, window, amount, now)
        return 0.0

    def allowance(self, requests: int, *, loopback: bool) -> int:
        """The limit of a client, for limits of `requests` that other code counts."""
        return requests * self._loopback_multiplier if loopback else requests

    def note_refusal(self, address: str, *, loopback: bool) -> None:
        """Count a response of 401, 403 or 429 against an address."""
        now = self._clock()
        key = ("invalid", address)
        window = self._window(key, self._invalid, self._loopback_multiplier if loopback else 1, now)
        self._count(key, window, 1, now)

    def banned_for(self, address: str, *, loopback: bool = False) -> float:
        """Seconds until the ban of an address with too many invalid requests ends; 0 if it is not banned."""
        now = self._clock()
        window: list[float] | None
        if self._shared is None:
            window = self._windows.get(("invalid", address))
        else:
            factor = self._loopback_multiplier if loopback else 1
            window = self._window(("invalid", address), self._invalid, factor, now)
        if window is None or window[1] > 0:
            return 0.0
        return max(0.0, window[0] - now)

    def _window(self, key: tuple[object, ...], rate: Rate, factor: int, now: float) -> list[float]:
        if self._shared is not None:
            end, amount = self._shared.read(key, now)
            return [end or now + rate.seconds, rate.requests * factor - amount]
        window = self._windows.get(key)
        if window is None or now >= window[0]:
            window = self._windows[key] = [now + rate.seconds, rate.requests * factor]
        return window

    def _count(self, key: tuple[object, ...], window: list[float], amount: float, now: float) -> None:
        """Take an amount from a window, which `_window` has returned."""
        window[1] -= amount
        if self._shared is not None and amount:
            self._shared.add(key, window[0], amount, now)

    @staticmethod
    def _refused(scope: str, window: list[float], now: float, headers: list[tuple[bytes, bytes]]) -> RateLimitResult:
        wait = max(0.001, window[0] - now)
        return RateLimitResult(
            allowed=False,
            retry_after=wait,
            scope=scope,
            headers=[
                *headers,
                (b"retry-after", b"%d" % math.ceil(wait)),
                (b"x-ratelimit-scope", scope.encode()),
                # discord.py and disnake treat a 429 without `via` as a ban by a proxy, and raise instead of waiting.
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
        # All of them are live: the oldest half is dropped, so that some clients may exceed a limit once.
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


_UNLIMITED: Final = b"1000000"
"""The limit and the remaining requests that a server without rate limits states."""
_UNLIMITED_LIMIT: Final = (b"x-ratelimit-limit", _UNLIMITED)
_UNLIMITED_REMAINING: Final = (b"x-ratelimit-remaining", _UNLIMITED)
_UNLIMITED_RESET_AFTER: Final = (b"x-ratelimit-reset-after", b"1.000")


@lru_cache(maxsize=1)
def _reset_at(hundredths: int) -> tuple[bytes, bytes]:
    return (b"x-ratelimit-reset", b"%d.%02d0" % divmod(hundredths, 100))


def unlimited_headers(bucket: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of a server without rate limits: some libraries wait for ever without them."""
    return [
        _UNLIMITED_LIMIT,
        _UNLIMITED_REMAINING,
        _reset_at(CLOCK.now_ms() // 10 + 100),
        _UNLIMITED_RESET_AFTER,
        (b"x-ratelimit-bucket", bucket),
    ]


def bucket_name(method: str, path: str) -> bytes:
    """The value of X-RateLimit-Bucket for an endpoint."""
    return hashlib.sha256(f"{method} {path}".encode()).hexdigest()[:32].encode()
