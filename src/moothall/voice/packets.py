"""RTP and RTCP packets as they arrive (RFC 3550, 5761), address discovery, and the window against replays."""

import struct
from typing import Final

from moothall.voice.encryption import NONCE_BYTES, TAG_BYTES

RTP_HEADER: Final = 12
RTCP_HEADER: Final = 8
_EXTENSION_HEADER: Final = 4
EXTENSION_BIT: Final = 0x10
MAX_PACKET: Final = 1500
"""Maximum bytes of a datagram; larger ones do not pass most networks."""
SENDER_REPORT: Final = 200
RECEIVER_REPORT: Final = 201
RTCP_TYPES: Final = range(192, 224)

SENDER_REPORT_BYTES: Final = 28
"""Of one without report blocks."""
_SENDER_REPORT_WORDS: Final = 6
PADDING_BIT: Final = 0x20
VERSION_BITS: Final = 0x80
MARKER_BIT: Final = 0x80
OPUS: Final = 120
"""The payload type of Opus for clients that are no browsers."""

DISCOVERY_BYTES: Final = 74
_DISCOVERY_REQUEST: Final = struct.pack(">HH", 1, 70)
_DISCOVERY_ANSWER: Final = struct.Struct(">HHI64sH")
_KEEPALIVE_BYTES: Final = (4, 8)

WINDOW: Final = 1024
"""How many numbers below the highest one a packet may have that arrives late."""
_WINDOW_MASK: Final = (1 << WINDOW) - 1


def read_discovery(data: bytes) -> int | None:
    """The SSRC of a request of address discovery; None for another datagram."""
    if len(data) != DISCOVERY_BYTES or data[:4] != _DISCOVERY_REQUEST:
        return None
    return int.from_bytes(data[4:8], "big")


def discovery_answer(ssrc: int, host: str, port: int) -> bytes:
    """The answer, of the same size: from where the request came."""
    return _DISCOVERY_ANSWER.pack(2, 70, ssrc, host.encode("ascii")[:63], port)


def is_keepalive(data: bytes) -> bool:
    """Whether a datagram only keeps a mapping of the client's network alive; it has no answer."""
    return len(data) in _KEEPALIVE_BYTES


def is_rtcp(data: bytes) -> bool:
    """Whether a datagram is an encrypted packet of RTCP."""
    return len(data) >= RTCP_HEADER + TAG_BYTES + NONCE_BYTES and data[0] >> 6 == 2 and data[1] in RTCP_TYPES


def rtp_header_size(data: bytes) -> int:
    """The size of the part that is not encrypted: header, sources, and the head of the extension. 0 for no RTP."""
    if len(data) < RTP_HEADER + TAG_BYTES + NONCE_BYTES or data[0] >> 6 != 2:
        return 0
    first = data[0]
    size = RTP_HEADER + 4 * (first & 0x0F)
    if first & EXTENSION_BIT:
        size += _EXTENSION_HEADER
    return size if len(data) >= size + TAG_BYTES + NONCE_BYTES else 0


def rtp_ssrc(data: bytes) -> int:
    """The source of an RTP packet."""
    return int.from_bytes(data[8:12], "big")


def rtp_position(data: bytes) -> tuple[int, int]:
    """The sequence number and the timestamp of an RTP packet."""
    return int.from_bytes(data[2:4], "big"), int.from_bytes(data[4:8], "big")


def rtp_payload(header: bytes, body: bytes) -> bytes | None:
    """What follows the header extension of a decrypted packet; None if the extension is longer than the packet."""
    if not header[0] & EXTENSION_BIT:
        return body
    size = 4 * int.from_bytes(header[-2:], "big")
    return body[size:] if size < len(body) else None


def plain_rtp(packet: bytes) -> tuple[bytes, bytes] | None:
    """The header of a decrypted packet without sources and extension, and what follows; None for no RTP."""
    size = RTP_HEADER + 4 * (packet[0] & 0x0F)
    if packet[0] & EXTENSION_BIT:
        if len(packet) < size + _EXTENSION_HEADER:
            return None
        size += _EXTENSION_HEADER + 4 * int.from_bytes(packet[size + 2 : size + 4], "big")
    if size >= len(packet):
        return None
    return bytes((packet[0] & ~(EXTENSION_BIT | 0x0F),)) + packet[1:RTP_HEADER], packet[size:]


def unpadded_rtp(packet: bytes) -> tuple[bytes, bytes] | None:
    """The same without padding, which may be all of it: clients send such packets to measure how much gets through."""
    size = RTP_HEADER + 4 * (packet[0] & 0x0F)
    if packet[0] & EXTENSION_BIT:
        size += _EXTENSION_HEADER + 4 * int.from_bytes(packet[size + 2 : size + 4], "big")
    end = len(packet) - packet[-1] if packet[0] & PADDING_BIT else len(packet)
    return (packet[:RTP_HEADER], packet[size:end]) if size <= end else None


def rtcp_ssrc(data: bytes) -> int:
    """The sender of an RTCP packet."""
    return int.from_bytes(data[4:8], "big")


def sender_report_header(ssrc: int) -> bytes:
    """The header of a sender report without report blocks."""
    return struct.pack(">BBHI", VERSION_BITS, SENDER_REPORT, _SENDER_REPORT_WORDS, ssrc)


class ReplayWindow:
    """The numbers of packets that have arrived: each is taken once, also out of order within the window."""

    __slots__ = ("_highest", "_seen")

    def __init__(self) -> None:
        self._highest = -1
        self._seen = 0
        """A bit for each number from the highest downwards."""

    def may_take(self, number: int) -> bool:
        """Whether a number is new; `take` takes it once its packet has proved authentic."""
        behind = self._highest - number
        if behind < 0:
            return True
        return behind < WINDOW and not self._seen >> behind & 1

    def take(self, number: int) -> None:
        """Take a number that `may_take` allowed."""
        ahead = number - self._highest
        if ahead > 0:
            self._seen = 1 if ahead >= WINDOW else (self._seen << ahead & _WINDOW_MASK) | 1
            self._highest = number
        else:
            self._seen |= 1 << -ahead
