"""Payloads that clients send: one struct for each opcode (events: gateway, send events)."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from moothall.gateway.protocol import etf
from moothall.gateway.protocol.opcodes import CloseCode, CloseConnection
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import decoder

MAX_BYTES: Final = 4096
"""Maximum size of a payload; a longer one closes the connection with 4002."""


class Payload(Struct):
    """The envelope of every payload: opcode and data."""

    op: int
    d: Raw = Raw(b"null")


class UpdatePresenceCommand(Struct):
    """Opcode 3, and `presence` of Identify. `user_presence` cleans what it contains: libraries send empty values."""

    status: Any = None
    activities: Any = None
    since: Any = None
    afk: Any = None
    game: Any = None
    """The single activity of earlier API versions, which some libraries still send with Identify."""


class IdentifyCommand(Struct):
    """Opcode 2."""

    token: str
    properties: JsonObject = {}
    compress: bool | None = False
    large_threshold: int | None = 50
    shard: list[int] | None = None
    presence: Any = None
    """The fields of UpdatePresenceCommand. With status "unknown", a person's settings say the status."""
    intents: int | UnsetType = UNSET
    capabilities: int | None = 0
    """`Capability` bits, which change the READY of people."""


class ResumeCommand(Struct):
    """Opcode 6."""

    token: str
    session_id: str
    seq: int


class UpdateVoiceStateCommand(Struct):
    """Opcode 4."""

    guild_id: GuildId | None = None
    channel_id: ChannelId | None = None
    self_mute: bool = False
    self_deaf: bool = False
    self_video: bool = False


class RequestGuildMembersCommand(Struct):
    """Opcode 8. Ids may be strings, numbers or a list of them: `member_chunks` reads them."""

    guild_id: Any
    query: str | UnsetType | None = UNSET
    limit: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    presences: bool | None = False
    user_ids: Any = UNSET
    nonce: Any = None


class QosHeartbeatCommand(Struct):
    """Opcode 40. Its `qos` is dropped."""

    seq: int | None = None


class GuildSubscription(Struct):
    """What a client shows of a guild; a field left out stays as it was. Other fields have no effect."""

    channels: dict[str, list[list[int]]] | UnsetType | None = UNSET
    """The ranges of each channel's member list."""
    typing: bool | UnsetType | None = UNSET
    activities: bool | UnsetType | None = UNSET
    threads: bool | UnsetType | None = UNSET
    member_updates: bool | UnsetType | None = UNSET
    members: list[UserId] | UnsetType | None = UNSET
    thread_member_lists: list[ChannelId] | UnsetType | None = UNSET
    """The threads whose members the client shows."""


class GuildSubscriptionsCommand(GuildSubscription, kw_only=True):
    """Opcode 14."""

    guild_id: GuildId


class BulkGuildSubscriptionsCommand(Struct):
    """Opcode 37."""

    subscriptions: dict[GuildId, GuildSubscription]


class RequestSoundboardSoundsCommand(Struct):
    """Opcode 31."""

    guild_ids: list[GuildId]


class CallConnectCommand(Struct):
    """Opcode 13."""

    channel_id: ChannelId


class RequestChannelInfoCommand(Struct):
    """Opcode 43. Fields other than `status` and `voice_start_time` are left out of the answer."""

    guild_id: GuildId
    fields: Annotated[list[str], Meta(max_length=16)]


def read_payload(message: str | bytes) -> Payload:
    """Decode a WebSocket message. Raises CloseConnection 4002."""
    if len(message) > MAX_BYTES or (isinstance(message, str) and _byte_length(message) > MAX_BYTES):
        raise CloseConnection(CloseCode.DECODE_ERROR, "Payload too large.")
    try:
        return _payload_decoder.decode(message)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise CloseConnection(CloseCode.DECODE_ERROR, "Error while decoding payload.") from None


def read_etf_payload(message: str | bytes) -> Payload:
    """Decode a WebSocket message that is a term. Raises CloseConnection 4002."""
    if len(message) > MAX_BYTES:
        raise CloseConnection(CloseCode.DECODE_ERROR, "Payload too large.")
    if isinstance(message, str):
        raise CloseConnection(CloseCode.DECODE_ERROR, "Terms are binary messages.")
    try:
        return _payload_decoder.decode(msgspec.json.encode(etf.decode(message)))
    except (msgspec.MsgspecError, ValueError):
        raise CloseConnection(CloseCode.DECODE_ERROR, "Error while decoding payload.") from None


def _byte_length(message: str) -> int:
    return len(message) if message.isascii() else len(message.encode("utf-8", "surrogatepass"))


_payload_decoder = msgspec.json.Decoder(Payload)


def read_command(data: Raw, command_type: object) -> Any:
    """Decode the `d` of a payload. Raises CloseConnection 4002."""
    try:
        return decoder(command_type).decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise CloseConnection(CloseCode.DECODE_ERROR, "Error while decoding payload.") from None
