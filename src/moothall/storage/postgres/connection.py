"""Connections to PostgreSQL whose every wait has a deadline, on both ends.

A connection that is silent, because a cable, a proxy or the other process has stopped, would else keep the locks of its
transaction, and those who wait for it, for as long as TCP waits: a quarter of an hour.
"""

import secrets
import socket
from typing import Any, Final, NamedTuple

import asyncpg

_NAME: Final = "moothall "
_LOCK_SECONDS: Final = 10.0
"""How long a statement waits for a lock of another transaction, which is a conflict then."""
_IDLE_SECONDS: Final = 4.0
"""A transaction in which PostgreSQL hears nothing for so long is ended there: its process may be stopped."""
_UNACKNOWLEDGED_SECONDS: Final = 4.0
"""A connection on which nothing was acknowledged for so long is closed, by either end."""
_KEEPALIVE_SECONDS: Final = 10


class Deadlines(NamedTuple):
    """Seconds after which a wait for PostgreSQL is given up."""

    statement: float = 10.0
    """For one statement, or one COMMIT."""
    long_read: float = 60.0
    acquire: float = 5.0
    """For a connection of the pool."""
    connect: float = 4.0


NO_HURRY: Final = Deadlines(statement=3_600.0, long_read=3_600.0)
"""For commands, whose statements go through whole tables while no request waits for them."""


class PostgresConnection(asyncpg.Connection):
    """A connection with a name that no other one has, by which PostgreSQL lists it too."""

    def __init__(self, protocol: Any, transport: Any, *arguments: Any) -> None:
        super().__init__(protocol, transport, *arguments)
        self.name: str = protocol.get_settings().application_name
        self.process_id: int = protocol.get_server_pid()
        self.socket = transport.get_extra_info("socket")
        self.slot = int(self.name.removeprefix(_NAME), 16)
        """The row of `commit_marks` that its transactions write."""


def connect_arguments(deadlines: Deadlines) -> dict[str, Any]:
    """The arguments of `asyncpg.connect` for a new connection, besides where to."""
    return {
        "connection_class": PostgresConnection,
        "statement_cache_size": 1_000,
        "max_cached_statement_lifetime": 0,
        "timeout": deadlines.connect,
        "command_timeout": deadlines.statement,
        "server_settings": {
            "application_name": f"{_NAME}{secrets.randbits(62):x}",
            "jit": "off",  # compiling takes longer than any of the queries
            "lock_timeout": _milliseconds(min(_LOCK_SECONDS, deadlines.statement)),
            # Only where this end did not end it: a stopped process sends no request to cancel.
            "statement_timeout": _milliseconds(max(deadlines.statement, deadlines.long_read) + 1),
            "idle_in_transaction_session_timeout": _milliseconds(_IDLE_SECONDS),
            "tcp_user_timeout": _milliseconds(_UNACKNOWLEDGED_SECONDS),
            "tcp_keepalives_idle": str(_KEEPALIVE_SECONDS),
            "tcp_keepalives_interval": str(_KEEPALIVE_SECONDS),
        },
    }


async def connect(url: str, deadlines: Deadlines) -> PostgresConnection:
    """Connect. Raises errors of asyncpg, OSError, TimeoutError."""
    connection: PostgresConnection = await asyncpg.connect(url, **connect_arguments(deadlines))
    watch_silence(connection)
    return connection


def watch_silence(connection: PostgresConnection) -> None:
    """Let the operating system close a TCP connection whose other end acknowledges nothing any more."""
    sock = connection.socket
    if sock is None or sock.family == getattr(socket, "AF_UNIX", None):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _KEEPALIVE_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _KEEPALIVE_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(_UNACKNOWLEDGED_SECONDS * 1000))


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
