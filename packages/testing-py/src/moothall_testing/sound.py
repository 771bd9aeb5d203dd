"""Sound files: the frames of Opus in Ogg (RFC 3533, 7845), as they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PAGE_HEADER: Final = 27
_FRAME_MS: Final = 20
_CODE_MASK: Final = 3
_SILK, _HYBRID = 12, 16


def read_frames(path: Path) -> list[bytes]:
    """The frames of a file, of 20 ms each. Raises ValueError for one with others, and one that is no Ogg of Opus."""
    packets = list(_packets(path.read_bytes()))
    if not packets or not packets[0].startswith(b"OpusHead"):
        raise ValueError(f"{path} is no Ogg file with Opus")
    frames = [packet for packet in packets[2:] if packet]
    if any(_duration_ms(frame) != _FRAME_MS for frame in frames):
        raise ValueError(f"{path} has frames of other lengths than 20 ms: encode it with `-frame_duration 20`")
    return frames


def _packets(data: bytes) -> Iterator[bytes]:
    at, begun = 0, b""
    while data[at : at + 4] == b"OggS":
        count = data[at + _PAGE_HEADER - 1]
        sizes = data[at + _PAGE_HEADER : at + _PAGE_HEADER + count]
        at += _PAGE_HEADER + count
        for size in sizes:
            begun += data[at : at + size]
            at += size
            if size < 255:
                yield begun
                begun = b""


def _duration_ms(frame: bytes) -> float:
    """How long a packet of Opus is, by its first byte (RFC 6716, 3.1)."""
    configuration, code = frame[0] >> 3, frame[0] & _CODE_MASK
    if configuration < _SILK:
        length = (10.0, 20.0, 40.0, 60.0)[configuration % 4]
    elif configuration < _HYBRID:
        length = (10.0, 20.0)[configuration % 2]
    else:
        length = (2.5, 5.0, 10.0, 20.0)[configuration % 4]
    count = (1, 2, 2, frame[1] & 0x3F if len(frame) > 1 else 0)[code]
    return length * count
