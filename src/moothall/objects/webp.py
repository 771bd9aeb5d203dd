"""The header of a WebP file: its size in pixels without decoding any (RFC 9649)."""

from typing import NamedTuple

HEADER_BYTES = 30
"""Bytes from the beginning of a file that have its header."""

_ANIMATED = 0x02


class WebpHeader(NamedTuple):
    """What the beginning of a file tells."""

    width: int
    height: int
    animated: bool


def read_webp_header(data: bytes) -> WebpHeader | None:
    """The size in pixels; None for what does not begin like a WebP file."""
    if len(data) < HEADER_BYTES or data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return WebpHeader(width, height, bool(data[20] & _ANIMATED))
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return WebpHeader((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, animated=False)
    if kind == b"VP8 ":
        width, height = (int.from_bytes(data[at : at + 2], "little") & 0x3FFF for at in (26, 28))
        return WebpHeader(width, height, animated=False)
    return None
