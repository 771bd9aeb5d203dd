"""Opcodes and close codes of the voice gateway."""

from enum import IntEnum
from typing import Final

VERSIONS: Final = range(4, 9)
"""The versions that are served. From 8 on, messages are numbered and heartbeats acknowledge them."""
NUMBERED: Final = 8


class Opcode(IntEnum):
    """Opcodes of JSON messages; those of `dave/` are apart."""

    IDENTIFY = 0
    SELECT_PROTOCOL = 1
    READY = 2
    HEARTBEAT = 3
    SESSION_DESCRIPTION = 4
    SPEAKING = 5
    HEARTBEAT_ACK = 6
    RESUME = 7
    HELLO = 8
    RESUMED = 9
    CLIENTS_CONNECT = 11
    VIDEO = 12
    CLIENT_DISCONNECT = 13
    SESSION_UPDATE = 14
    MEDIA_SINK_WANTS = 15
    VOICE_BACKEND_VERSION = 16
    CLIENT_FLAGS = 18
    CLIENT_PLATFORM = 20


class CloseCode(IntEnum):
    """Why the server closes a connection."""

    UNKNOWN_OPCODE = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    ALREADY_AUTHENTICATED = 4005
    SESSION_INVALID = 4006
    SESSION_TIMEOUT = 4009
    UNKNOWN_PROTOCOL = 4012
    DISCONNECTED = 4014
    """The participant was disconnected, moved, or their gateway session ended: the client must not reconnect."""
    SERVER_CRASHED = 4015
    UNKNOWN_ENCRYPTION_MODE = 4016
    BAD_REQUEST = 4020
    RATE_LIMITED = 4021


class CloseConnection(Exception):
    """The connection is to be closed."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
