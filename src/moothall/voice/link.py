"""The local socket between the server and the voice process: frames, and the messages in them.

A peer sends `Hello` first, whose key only the processes of one server know. A control connection then carries messages
in both directions; a connection of a client carries the frames of one WebSocket.
"""

import asyncio
from typing import Final, Literal

from msgspec import Struct, msgpack

MAX_FRAME: Final = 4 * 1024 * 1024
"""Maximum bytes of a frame: who is in voice is told in one."""
_LENGTH: Final = 4

TEXT, BINARY, CLOSE = 0, 1, 2
"""The first byte of a frame of a WebSocket: a message, or the end with a code of two bytes and a reason."""


class Start(Struct):
    """What a voice process is started with: a line of JSON on its standard input, which then stays open."""

    path: str
    """Of the local socket, in a folder of this user alone."""
    key: str
    """Hexadecimal; peers of the socket send it."""
    host: str
    """Where datagrams are received: a host name or an address; empty for every address."""
    port: int
    """0 takes a free one."""
    address: str | None = None
    """The IP address that clients send datagrams to; None for the one at which each reaches the server."""
    log_level: str = "info"
    log_format: Literal["human", "json"] = "human"


class Participant(Struct, frozen=True, tag="participant"):
    """Someone in a voice channel, with what they may do there; replaces what was known of them in this guild."""

    guild_id: int
    channel_id: int
    user_id: int
    session_id: str
    """Of the gateway session that is in voice."""
    token: str
    """What a client identifies with, for this session and channel alone."""
    may_speak: bool = True
    may_hear: bool = True
    may_speak_with_priority: bool = False
    may_stream: bool = False
    """Whether they may send video and share a screen."""


class Departure(Struct, frozen=True, tag="departure"):
    """Someone has left voice in a guild."""

    guild_id: int
    user_id: int


class Everyone(Struct, frozen=True, tag="everyone"):
    """All who are in voice: the first message of a control connection."""

    participants: list[Participant]


class Connected(Struct, frozen=True, tag="connected"):
    """Whether a participant has a session of the voice gateway, which has just begun or ended."""

    guild_id: int
    user_id: int
    connected: bool


class Statistics(Struct, frozen=True, tag="statistics"):
    """What the process has done since its start, told every few seconds."""

    sessions: int
    """Open now."""
    forwarded: int
    dropped: int


class Hello(Struct, frozen=True):
    """The first frame of a connection."""

    key: str
    control: bool
    network: str = ""
    """The network of the client; "" for this machine."""
    address: str = ""
    """The IP address at which the client reached the server."""
    version: int = 0
    """The version of the voice gateway that the client asked for."""


ToVoice = Participant | Departure | Everyone
FromVoice = Connected | Statistics

encode: Final = msgpack.Encoder().encode
decode_hello: Final = msgpack.Decoder(Hello).decode
decode_to_voice: Final = msgpack.Decoder(ToVoice).decode
decode_from_voice: Final = msgpack.Decoder(FromVoice).decode


def framed(payload: bytes) -> bytes:
    """A frame: its length, and the payload."""
    return len(payload).to_bytes(_LENGTH, "big") + payload


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Read a frame. Raises IncompleteReadError at the end, ValueError for one that is too large."""
    size = int.from_bytes(await reader.readexactly(_LENGTH), "big")
    if size > MAX_FRAME:
        raise ValueError("a frame of the voice process's socket is too large")
    return await reader.readexactly(size)
