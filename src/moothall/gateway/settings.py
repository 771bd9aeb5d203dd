"""Settings and metrics of the gateway."""

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
"""A Host header that is safe to repeat in a URL."""


class GatewaySettings(Struct, frozen=True, kw_only=True):
    """Limits and intervals; the defaults are those of the public API where it documents them."""

    public_url: str = "ws://127.0.0.1:3333/gateway"
    """The URL that clients connect to."""
    resume_url: str = ""
    """`resume_gateway_url` of READY; `public_url` if empty."""
    worker: int = 0
    """The number of this worker, at the end of the URLs at which its sessions are resumed; 0 for no worker."""
    public_url_is_guessed: bool = False
    """Whether `public_url` is not configured. Then URLs have the host of the client's own request."""
    max_upload_bytes: int = 104 * 1024 * 1024
    """`max_upload_bytes` of READY: the largest request with files."""
    heartbeat_ms: int = 41_250
    """Heartbeat interval in HELLO. A client silent for one and a half intervals is disconnected."""
    identify_seconds: float = 30.0
    """How long a connection may stay without identifying or resuming."""
    max_unidentified: int = 4_096
    """Maximum connections without a session; more are refused."""
    max_unidentified_per_network: int = 128
    """The same for one address (for IPv6 a /64); loopback addresses have no limit."""
    resume_seconds: float = 120.0
    """How long a session without a connection can be resumed."""
    replay_frames: int = 2_000
    """Maximum frames in a session's replay buffer, which has those that no heartbeat has acknowledged."""
    replay_bytes: int = 4 << 20
    """Maximum bytes of JSON in a session's replay buffer."""
    queue_frames: int = 1_000
    """Maximum messages queued for a client that does not read; then it is disconnected."""
    queue_bytes: int = 8 << 20
    """Maximum bytes queued for a client that does not read."""
    direct_writes: bool = True
    """Whether messages are written to the transport of uvicorn's WebSockets, at less cost than by ASGI's `send`."""
    commands_per_minute: int = 120
    """Maximum payloads from one client; 0 disables the limit."""
    presences_per_window: int = 5
    """Maximum presence updates in twenty seconds; 0 disables the limit. More are ignored."""
    member_list_seconds: float = 30.0
    """How often a session may request the whole member list of one guild (opcode 8); 0 disables the limit."""
    max_concurrency: int = 16
    identifies_per_window: int = 16
    """Maximum identifies of one bot in five seconds for each of its `max_concurrency` buckets; 0 disables the limit."""
    max_sessions_per_user: int = 2_000
    """Maximum sessions of one user, including those without a connection; 0 disables the limit."""
    max_sessions_per_person: int = 50
    """The same for a person, below that."""
    account_bytes: int = 64 << 20
    """Maximum bytes that are held for all sessions of an account; with more, the most costly end. 0 disables it."""
    identifies_per_day: int = 1_000
    """Maximum identifies of one bot in a day, reported by Get Gateway Bot; 0 disables the limit."""
    guilds_per_shard: int = 2_500

    def resume_url_for(self, host: str | None, forwarded_proto: str | None) -> str:
        """The URL at which a client of these headers resumes its session."""
        url = self.resume_url or self.url_for(host, forwarded_proto)
        return f"{url}/{self.worker}" if self.worker else url

    def url_for(self, host: str | None, forwarded_proto: str | None = None) -> str:
        """The gateway URL for a client's request with these Host and X-Forwarded-Proto headers."""
        if not self.public_url_is_guessed or host is None or _HOST.fullmatch(host) is None:
            return self.public_url
        return f"{'wss' if forwarded_proto == 'https' else 'ws'}://{host}/gateway"


UNLIMITED: Final[Mapping[str, Any]] = {
    "commands_per_minute": 0,
    "presences_per_window": 0,
    "member_list_seconds": 0,
    "identifies_per_window": 0,
    "identifies_per_day": 0,
    "max_sessions_per_user": 0,
    "max_sessions_per_person": 0,
    "account_bytes": 0,
}
"""Settings without rate limits, for where the operator disables them."""


class Metrics(Protocol):
    """Counters that the gateway adds to."""

    delivered: int
    """Dispatches sent to sessions."""


class NoMetrics:
    """A Metrics that discards everything."""

    delivered = 0
