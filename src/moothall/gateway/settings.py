"""What can be set about the gateway, and what is reported from it."""

import re
from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct

_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
"""What a Host header may be to be told again."""


class GatewaySettings(Struct, frozen=True, kw_only=True):
    """Bounds and intervals; the defaults are the public ones where those are known."""

    public_url: str = "ws://127.0.0.1:3333/gateway"
    """Where clients connect."""
    resume_url: str = ""
    """What READY calls `resume_gateway_url`; `public_url` if empty."""
    public_url_is_guessed: bool = False
    """Nobody has set `public_url`: clients are told the host that they asked for, by which they reach this server."""
    heartbeat_ms: int = 41_250
    """Told to clients in HELLO. One that is silent for one and a half intervals is disconnected."""
    identify_seconds: float = 30.0
    """How long a connection may stay without a session."""
    max_strangers: int = 4_096
    """Connections without a session at a time; more are turned away."""
    max_strangers_of_network: int = 128
    """The same from one address (for IPv6 a /64), this machine's own excepted."""
    resume_seconds: float = 120.0
    """How long a session outlives its socket."""
    replay_frames: int = 2_000
    """Dispatches kept for a resume, of those that no heartbeat has acknowledged."""
    replay_bytes: int = 4 << 20
    queue_frames: int = 1_000
    """Messages that wait for a slow reader before it is disconnected."""
    queue_bytes: int = 8 << 20
    commands_per_minute: int = 120
    """Payloads that a client may send; 0 switches the limit off."""
    presences_per_window: int = 5
    """Presence updates in twenty seconds; 0 switches the limit off. More are dropped."""
    max_concurrency: int = 16
    identifies_per_window: int = 16
    """Identifies of one bot in five seconds for each of its `max_concurrency` buckets; 0 switches the limit off."""
    max_sessions_of_user: int = 2_000
    """Sessions that one user may have at a time, those that wait for a resume too; 0 switches the limit off."""
    identifies_per_day: int = 1_000
    """Told to bots by Get Gateway Bot; 0 switches the limit off."""
    guilds_per_shard: int = 2_500
    large_guild: int = 75_000
    """Above so many members GUILD_CREATE lists the session's own and those in voice only."""

    def url_for(self, host: str | None, forwarded: str | None = None) -> str:
        """Where a client connects that sent a Host header, and perhaps a proxy's X-Forwarded-Proto."""
        if not self.public_url_is_guessed or host is None or _HOST.fullmatch(host) is None:
            return self.public_url
        return f"{'wss' if forwarded == 'https' else 'ws'}://{host}/gateway"


UNLIMITED: Final[Mapping[str, int]] = {
    "commands_per_minute": 0,
    "presences_per_window": 0,
    "identifies_per_window": 0,
    "identifies_per_day": 0,
    "max_sessions_of_user": 0,
}
"""Settings that let clients do as much as they like: where rate limits are switched off."""


class Metrics(Protocol):
    """What the gateway reports."""

    delivered: int
    """Dispatches handed to sessions; the gateway adds to it."""


class NoMetrics:
    """Counts for nobody."""

    delivered = 0
