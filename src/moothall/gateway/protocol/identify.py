"""Rules of Identify: intents, shards and rate limits (events: gateway)."""

from collections.abc import Callable
from typing import Final

from msgspec import UNSET

from moothall.gateway.protocol.commands import IdentifyCommand
from moothall.gateway.protocol.opcodes import CloseCode, CloseConnection
from moothall.gateway.settings import GatewaySettings
from moothall.objects.application import privileged_intents
from moothall.objects.clock import CLOCK
from moothall.objects.ids import UserId
from moothall.objects.intents import ALL, PRIVILEGED, RANGE, Intent

_WINDOW: Final = 5.0
_DAY: Final = 86_400.0
_MAX_SHARDS: Final = 16_384
_MIN_LARGE: Final = 50
_MAX_LARGE: Final = 250


def read_intents(command: IdentifyCommand, *, bot: bool, application_flags: int, version: str = "") -> int:
    """The intents of a session. Raises CloseConnection 4013 or 4014.

    A user's own client has every intent, whatever it states. A bot has those that it states; bits of the public range
    that are no intent are ignored. In version 9, one that may read the content of messages need not state that intent.
    """
    if not bot:
        return ALL
    intents = command.intents
    if intents is UNSET or intents < 0 or intents & ~RANGE:
        raise CloseConnection(CloseCode.INVALID_INTENTS, "Invalid intent(s).")
    if intents & PRIVILEGED & ~privileged_intents(application_flags):
        raise CloseConnection(CloseCode.DISALLOWED_INTENTS, "Disallowed intent(s).")
    if version == "9":
        intents |= privileged_intents(application_flags) & Intent.MESSAGE_CONTENT
    return intents & ALL


def read_shard(command: IdentifyCommand) -> tuple[int, int] | None:
    """The (shard_id, num_shards) of a session; None for one that receives everything. Raises CloseConnection 4010."""
    if command.shard is None:
        return None
    if len(command.shard) == 2:
        shard_id, num_shards = command.shard
        if 0 <= shard_id < num_shards <= _MAX_SHARDS:
            return shard_id, num_shards
    raise CloseConnection(CloseCode.INVALID_SHARD, "Invalid shard.")


def read_large_threshold(command: IdentifyCommand, *, bot: bool) -> int:
    """The number of members above which a guild is large. Raises CloseConnection 4002 for a bot's out of bounds.

    Clients of people send any number, for a list of all members: theirs is brought into the bounds.
    """
    threshold = _MIN_LARGE if command.large_threshold is None else command.large_threshold
    bounded = min(max(threshold, _MIN_LARGE), _MAX_LARGE)
    if bot and bounded != threshold:
        raise CloseConnection(CloseCode.DECODE_ERROR, "Error while decoding payload.")
    return bounded


def read_client(command: IdentifyCommand, *, bot: bool) -> str:
    """The key of `client_status` for a session: desktop, mobile or web."""
    if bot:
        return "web"
    properties = command.properties
    system = str(properties.get("os", properties.get("$os", ""))).lower()
    browser = str(properties.get("browser", properties.get("$browser", ""))).lower()
    if system in {"android", "ios"} or "android" in browser or "ios" in browser:
        return "mobile"
    return "web" if any(name in browser for name in ("chrome", "firefox", "safari", "edge", "mozilla")) else "desktop"


def read_system(command: IdentifyCommand) -> str:
    """The operating system of a client as session objects name it: windows, osx, linux, android, ios or unknown."""
    properties = command.properties
    system = str(properties.get("os", properties.get("$os", ""))).lower()
    system = "osx" if system.startswith(("mac", "darwin")) else system
    return next((name for name in ("windows", "osx", "linux", "android", "ios") if system.startswith(name)), "unknown")


class IdentifyLimits:
    """Rate limits of bots' identifies.

    `max_concurrency` shards may identify at the same time: a shard's number modulo it is the bucket in which
    identifies are counted for five seconds.
    """

    def __init__(self, settings: GatewaySettings, clock: Callable[[], float] = CLOCK.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._windows: dict[tuple[UserId, int], tuple[float, int]] = {}
        self._days: dict[UserId, tuple[float, int]] = {}

    def allow(self, user_id: UserId, shard: tuple[int, int] | None) -> bool:
        """Count an identify; False if it exceeds a limit."""
        settings, now = self._settings, self._clock()
        if settings.identifies_per_window:
            bucket = (user_id, (shard[0] if shard else 0) % settings.max_concurrency)
            window_end, count = self._windows.get(bucket, (0.0, 0))
            if now >= window_end:
                self._remove_expired(now)
                window_end, count = now + _WINDOW, 0
            if count >= settings.identifies_per_window:
                return False
            self._windows[bucket] = (window_end, count + 1)
        if settings.identifies_per_day:
            day_end, count = self._day(user_id, now)
            if count >= settings.identifies_per_day:
                return False
            self._days[user_id] = (day_end, count + 1)
        return True

    def session_start_limit(self, user_id: UserId) -> dict[str, int]:
        """The session start limit object of Get Gateway Bot; `reset_after` in milliseconds."""
        now = self._clock()
        day_end, count = self._day(user_id, now)
        total = self._settings.identifies_per_day or 1_000
        return {
            "total": total,
            "remaining": max(0, total - count) if self._settings.identifies_per_day else total,
            "reset_after": int((day_end - now) * 1000),
            "max_concurrency": self._settings.max_concurrency,
        }

    def _day(self, user_id: UserId, now: float) -> tuple[float, int]:
        day_end, count = self._days.get(user_id, (0.0, 0))
        return (day_end, count) if now < day_end else (now + _DAY, 0)

    def _remove_expired(self, now: float) -> None:
        if len(self._windows) > 1_000:
            self._windows = {key: value for key, value in self._windows.items() if value[0] > now}
