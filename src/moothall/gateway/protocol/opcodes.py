"""Opcodes and close codes of the gateway protocol (topics: opcodes and status codes)."""

from enum import IntEnum
from typing import Final


class Opcode(IntEnum):
    """The kind of a payload."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE_UPDATE = 3
    VOICE_STATE_UPDATE = 4
    RESUME = 6
    RECONNECT = 7
    REQUEST_GUILD_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11
    CALL_CONNECT = 13
    GUILD_SUBSCRIPTIONS = 14
    REQUEST_SOUNDBOARD_SOUNDS = 31
    GUILD_SUBSCRIPTIONS_BULK = 37
    QOS_HEARTBEAT = 40
    REQUEST_CHANNEL_INFO = 43


IGNORED_OPCODES: Final = frozenset({5, *range(17, 23), 28, 29, 30, *range(32, 37), 38, 39, 41, 42})
"""What clients of people send for streams, lobbies, statistics and caches, none of which exist here."""


class CloseCode(IntEnum):
    """Why the server closes a connection. A client may resume after all but those marked final."""

    UNKNOWN_ERROR = 4000
    UNKNOWN_OPCODE = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    """Final."""
    ALREADY_AUTHENTICATED = 4005
    INVALID_SEQ = 4007
    RATE_LIMITED = 4008
    SESSION_TIMED_OUT = 4009
    INVALID_SHARD = 4010
    """Final."""
    SHARDING_REQUIRED = 4011
    """Final."""
    INVALID_VERSION = 4012
    """Final."""
    INVALID_INTENTS = 4013
    """Final."""
    DISALLOWED_INTENTS = 4014
    """Final."""


RESUMABLE: Final = CloseCode.UNKNOWN_ERROR
"""A close code after which clients resume."""


class CloseConnection(Exception):
    """Raised to close the connection with a close code."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
