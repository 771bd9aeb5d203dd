"""What the packets of VP8 (RFC 7741) and H.264 (RFC 6184) tell without being decoded: where a keyframe begins."""

from typing import Final, NamedTuple

VP8: Final = "VP8"
H264: Final = "H264"
CODECS: Final = (VP8, H264)
"""The codecs that are forwarded, the preferred one first."""

_NAL: Final = 0x1F
_IDR: Final = 5
_SEQUENCE_PARAMETERS: Final = 7
_AGGREGATE: Final = 24
_FRAGMENT: Final = 28
_STARTS: Final = 0x80
PICTURE_IDS: Final = 0x7FFF


class VideoCodec(NamedTuple):
    """A codec of video, and its payload types; 0 where packets cannot be sent again."""

    name: str
    payload_type: int
    rtx_payload_type: int


class Vp8Descriptor(NamedTuple):
    """The counters in the descriptor of a packet, and where they are; 0 for one that is not there."""

    starts_keyframe: bool
    picture_at: int = 0
    picture_id: int = 0
    is_long: bool = False
    """Whether the picture id has 15 bits rather than 7."""
    level_at: int = 0
    level: int = 0
    """TL0PICIDX: counts the pictures of the lowest temporal layer."""


_PLAIN: Final = Vp8Descriptor(starts_keyframe=False)


def read_vp8(payload: bytes) -> Vp8Descriptor:
    """Read the descriptor of a packet of VP8; one without counters where it is damaged."""
    try:
        return _read_vp8(payload)
    except IndexError:
        return _PLAIN


def _read_vp8(payload: bytes) -> Vp8Descriptor:
    first = payload[0]
    at = 1
    picture_at = picture_id = level_at = level = 0
    is_long = False
    if first & 0x80:
        flags = payload[1]
        at = 2
        if flags & 0x80:
            picture_at, is_long = at, bool(payload[at] & 0x80)
            picture_id = payload[at] & 0x7F
            if is_long:
                picture_id = picture_id << 8 | payload[at + 1]
            at += 2 if is_long else 1
        if flags & 0x40:
            level_at, level = at, payload[at]
            at += 1
        if flags & 0x30:
            at += 1
    starts = bool(first & 0x10) and not first & 0x07
    return Vp8Descriptor(starts and not payload[at] & 1, picture_at, picture_id, is_long, level_at, level)


def renumbered_vp8(payload: bytes, descriptor: Vp8Descriptor, picture: int, level: int) -> bytes:
    """A packet of VP8 with something added to its counters."""
    changed = bytearray(payload)
    if descriptor.picture_at:
        if descriptor.is_long:
            number = descriptor.picture_id + picture & PICTURE_IDS
            changed[descriptor.picture_at : descriptor.picture_at + 2] = (number | 0x8000).to_bytes(2, "big")
        else:
            changed[descriptor.picture_at] = descriptor.picture_id + picture & 0x7F
    if descriptor.level_at:
        changed[descriptor.level_at] = descriptor.level + level & 0xFF
    return bytes(changed)


def starts_h264_keyframe(payload: bytes) -> bool:
    """Whether a packet of H.264 begins what can be shown without earlier frames."""
    if not payload:
        return False
    kind = payload[0] & _NAL
    if kind == _AGGREGATE:
        at = 1
        while at + 2 < len(payload):
            if payload[at + 2] & _NAL in {_IDR, _SEQUENCE_PARAMETERS}:
                return True
            at += 2 + int.from_bytes(payload[at : at + 2], "big")
        return False
    if kind == _FRAGMENT and len(payload) > 1:
        return bool(payload[1] & _STARTS) and payload[1] & _NAL == _IDR
    return kind in {_IDR, _SEQUENCE_PARAMETERS}
