"""How often a password may be guessed: by account and by address, whatever the rate limits are set to."""

import time
from collections.abc import Callable
from typing import Final

_WINDOW: Final = 900.0
_MOST_BY_ACCOUNT: Final = 10
_MOST_BY_ADDRESS: Final = 50
_MOST_KEYS: Final = 100_000


class LoginThrottle:
    """Counts failed logins in windows of fifteen minutes.

    Attempts under way do not count yet; `Passwords` bounds how many there are.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[float, int]] = {}

    def wait(self, account: str, address: str) -> float:
        """Seconds until another attempt is heard; 0 if it is heard now."""
        now = self._clock()
        waits = [
            until - now
            for key, most in ((f"a{account}", _MOST_BY_ACCOUNT), (f"i{address}", _MOST_BY_ADDRESS))
            for until, count in (self._failures.get(key, (0.0, 0)),)
            if count >= most and until > now
        ]
        return max(waits, default=0.0)

    def failed(self, account: str, address: str) -> None:
        """Count a wrong password."""
        now = self._clock()
        if len(self._failures) > _MOST_KEYS:
            self._forget(now)
        for key in (f"a{account}", f"i{address}"):
            until, count = self._failures.get(key, (0.0, 0))
            self._failures[key] = (until, count + 1) if until > now else (now + _WINDOW, 1)

    def succeeded(self, account: str) -> None:
        """Forget the failures of an account whose person has come in."""
        self._failures.pop(f"a{account}", None)

    def _forget(self, now: float) -> None:
        live = [(key, value) for key, value in self._failures.items() if value[0] > now]
        # Who makes up a hundred thousand names in a quarter of an hour does not get memory for them all.
        self._failures = dict(live[-_MOST_KEYS // 2 :])
