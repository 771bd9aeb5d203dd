"""The rules of Identify: intents, shards, and how often."""

import time
from collections.abc import Callable
from typing import Final

from msgspec import UNSET

from moothall.gateway.commands import IdentifyCommand
from moothall.gateway.opcodes import CloseCode, Closing
from moothall.gateway.settings import GatewaySettings
from moothall.objects.application import privileged_intents
from moothall.objects.intents import ALL, PRIVILEGED

_WINDOW: Final = 5.0
_DAY: Final = 86_400.0
_MAX_SHARDS: Final = 16_384


def intents_of(command: IdentifyCommand, *, bot: bool, application_flags: int) -> int:
    """The intents that a session gets. Raises Closing 4013 or 4014.

    A person's own client has every intent, whatever it asks for. A bot states its own.
    """
    if not bot:
        return ALL
    asked = command.intents
    if asked is UNSET or asked < 0 or asked & ~ALL:
        raise Closing(CloseCode.INVALID_INTENTS, "Invalid intent(s).")
    if asked & PRIVILEGED & ~privileged_intents(application_flags):
        raise Closing(CloseCode.DISALLOWED_INTENTS, "Disallowed intent(s).")
    return asked


def shard_of(command: IdentifyCommand) -> tuple[int, int] | None:
    """The shard that a session is; None for one that hears everything. Raises Closing 4010."""
    if command.shard is None:
        return None
    if len(command.shard) == 2:
        shard, count = command.shard
        if 0 <= shard < count <= _MAX_SHARDS:
            return shard, count
    raise Closing(CloseCode.INVALID_SHARD, "Invalid shard.")


def client_of(command: IdentifyCommand, *, bot: bool) -> str:
    """Which key of `client_status` a session is: desktop, mobile or web."""
    if bot:
        return "web"
    stated = command.properties
    system = str(stated.get("os", stated.get("$os", ""))).lower()
    browser = str(stated.get("browser", stated.get("$browser", ""))).lower()
    if system in {"android", "ios"} or "android" in browser or "ios" in browser:
        return "mobile"
    return "web" if any(name in browser for name in ("chrome", "firefox", "safari", "edge", "mozilla")) else "desktop"


class IdentifyLimits:
    """How often each bot identified lately.

    `max_concurrency` shards may identify side by side: a shard's number modulo it names the bucket
    whose identifies of the last five seconds count together.
    """

    def __init__(self, settings: GatewaySettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._windows: dict[tuple[int, int], tuple[float, int]] = {}
        self._days: dict[int, tuple[float, int]] = {}

    def admit(self, user_id: int, shard: tuple[int, int] | None) -> bool:
        """Count an identify; False if there were too many."""
        settings, now = self._settings, self._clock()
        if settings.identifies_per_window:
            bucket = (user_id, (shard[0] if shard else 0) % settings.max_concurrency)
            until, count = self._windows.get(bucket, (0.0, 0))
            if now >= until:
                self._forget(now)
                until, count = now + _WINDOW, 0
            if count >= settings.identifies_per_window:
                return False
            self._windows[bucket] = (until, count + 1)
        if settings.identifies_per_day:
            until, count = self._day(user_id, now)
            if count >= settings.identifies_per_day:
                return False
            self._days[user_id] = (until, count + 1)
        return True

    def session_start_limit(self, user_id: int) -> dict[str, int]:
        """What Get Gateway Bot tells: total, remaining, reset_after (milliseconds), max_concurrency."""
        now = self._clock()
        until, count = self._day(user_id, now)
        total = self._settings.identifies_per_day or 1_000
        return {
            "total": total,
            "remaining": max(0, total - count) if self._settings.identifies_per_day else total,
            "reset_after": int((until - now) * 1000),
            "max_concurrency": self._settings.max_concurrency,
        }

    def _day(self, user_id: int, now: float) -> tuple[float, int]:
        until, count = self._days.get(user_id, (0.0, 0))
        return (until, count) if now < until else (now + _DAY, 0)

    def _forget(self, now: float) -> None:
        if len(self._windows) > 1_000:
            self._windows = {key: value for key, value in self._windows.items() if value[0] > now}
