"""Sound files for requests: generated frames of silence, and a default sound."""

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path

import moothall.cdn

_FRAME = b"\xff\xfb\x90\x44" + bytes(413)
"""MPEG 1, layer III, 128 kbit/s at 44.1 kHz: 1152 samples in 417 bytes."""
_SILENCE = b"\xf8\xff\xfe"
"""20 ms of Opus."""
_SAMPLES = 960


def mp3(seconds: float) -> bytes:
    """An ID3 tag and frames of silence."""
    tag = b"ID3\x03\x00\x00\x00\x00\x00\x0a" + bytes(10)
    return tag + _FRAME * round(seconds * 44_100 / 1152)


def opus(seconds: float, *, says: float | None = None) -> bytes:
    """Opus in Ogg; `says` caps the positions that its pages declare, in seconds."""
    count = round(seconds * 50)
    head = b"OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00"
    tags = b"OpusTags\x04\x00\x00\x00test\x00\x00\x00\x00"
    pages = [page(0, 0, [head], first=True), page(1, 0, [tags])]
    for number, start in enumerate(range(0, count, 50)):
        packets = [_SILENCE] * min(50, count - start)
        position = (start + len(packets)) * _SAMPLES
        if says is not None:
            position = min(position, round(says * 48_000))
        pages.append(page(2 + number, position, packets))
    return b"".join(pages)


def vorbis() -> bytes:
    """A default sound of three seconds."""
    return (Path(moothall.cdn.__file__).parent / "sounds" / "1.ogg").read_bytes()


def page(number: int, position: int, packets: Iterable[bytes], *, first: bool = False, serial: int = 7) -> bytes:
    """A page of Ogg with short packets."""
    packets = list(packets)
    head = b"OggS\0" + bytes([2 if first else 0]) + position.to_bytes(8, "little") + serial.to_bytes(4, "little")
    table = bytes([len(packets), *map(len, packets)])
    rest = table + b"".join(packets)
    made = head + number.to_bytes(4, "little")
    return made + _crc(made + bytes(4) + rest).to_bytes(4, "little") + rest


def with_positions(data: bytes, position: int) -> bytes:
    """An Ogg file whose pages all declare the same position, with correct checksums."""
    return b"".join(_renumbered(one, position) for one in _pages(data))


def _pages(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        count = data[at + 26]
        end = at + 27 + count + sum(data[at + 27 : at + 27 + count])
        yield data[at:end]
        at = end


def _renumbered(one: bytes, position: int) -> bytes:
    made = one[:6] + position.to_bytes(8, "little") + one[14:22]
    return made + _crc(made + bytes(4) + one[26:]).to_bytes(4, "little") + one[26:]


def _crc(data: bytes) -> int:
    """The checksum of an Ogg page, computed bit by bit as the format's description says."""
    crc = 0
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc


def uri(data: bytes, kind: str = "audio/mpeg") -> str:
    """A sound as a data URI."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
