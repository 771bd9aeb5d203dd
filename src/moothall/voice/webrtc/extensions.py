"""Header extensions of RTP (RFC 8285): the ids that an offer gives them, reading them, and the time of sending."""

import re
from typing import Final, NamedTuple

from moothall.voice import packets

_LINE: Final = re.compile(r"a=extmap:(\d{1,3})(?:/\w+)? (\S+)")
_URIS: Final = {
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01": "transport_sequence",
    "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time": "send_time",
    "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id": "stream_id",
    "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id": "repaired_stream_id",
}
_ONE_BYTE: Final = 0xBEDE
_TWO_BYTES: Final = 0x1000
_MAX_ONE_BYTE_ID: Final = 14
_SEND_TIME_HEADER: Final = b"\xbe\xde\0\1"


class Extensions(NamedTuple):
    """The ids of the extensions that count here; 0 for one that is not offered."""

    transport_sequence: int = 0
    send_time: int = 0
    stream_id: int = 0
    repaired_stream_id: int = 0


def read_extensions(lines: list[str]) -> Extensions:
    """The ids in the lines of an offer."""
    ids: dict[str, int] = {}
    for match in filter(None, map(_LINE.match, lines)):
        name = _URIS.get(match[2])
        if name is not None and 0 < int(match[1]) <= 0xFF:
            ids.setdefault(name, int(match[1]))
    return Extensions(**ids)


def elements(packet: bytes) -> dict[int, bytes]:
    """The extensions of a decrypted packet, by id; empty for one that has none or damaged ones."""
    if not packet[0] & packets.EXTENSION_BIT:
        return {}
    at = packets.RTP_HEADER + 4 * (packet[0] & 0x0F)
    profile, size = int.from_bytes(packet[at : at + 2], "big"), 4 * int.from_bytes(packet[at + 2 : at + 4], "big")
    data = packet[at + 4 : at + 4 + size]
    if profile == _ONE_BYTE:
        return _elements(data, header=1)
    return _elements(data, header=2) if profile & 0xFFF0 == _TWO_BYTES else {}


def _elements(data: bytes, *, header: int) -> dict[int, bytes]:
    result: dict[int, bytes] = {}
    at, end = 0, len(data)
    while at < end:
        if not data[at]:
            at += 1  # padding
            continue
        if header == 1:
            identifier, length = data[at] >> 4, (data[at] & 0x0F) + 1
        elif at + 1 < end:
            identifier, length = data[at], data[at + 1]
        else:
            break
        value = data[at + header : at + header + length]
        if len(value) != length:
            break
        result[identifier] = value
        at += header + length
    return result


def send_time(identifier: int, now: float) -> bytes:
    """The header extension with the time of sending alone, in seconds; empty for an id that it cannot have."""
    if not 0 < identifier <= _MAX_ONE_BYTE_ID:
        return b""
    return _SEND_TIME_HEADER + bytes((identifier << 4 | 2,)) + (int(now * (1 << 18)) & 0xFFFFFF).to_bytes(3, "big")
