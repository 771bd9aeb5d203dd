"""Sounds in requests as data URIs, verified by reading every frame or page; declared durations are not trusted.

Audio is not decoded: counting the frames of an MP3 or the pages of an Ogg verifies the format and yields the duration.
Libraries for that trust the first frame or a header, hence the author of the file.
"""

import binascii
import re
import zlib
from typing import ClassVar, Final, NamedTuple, Self

from moothall.objects import limits
from moothall.objects.file_data import FileData
from moothall.objects.form_codes import FormCode

_DATA_URI: Final = re.compile(r"data:(audio/(?:mpeg|mp3|ogg|x-ogg)|application/ogg)(?:;codecs=\w+)?;base64,")
_TEXT_MAX: Final = limits.SOUND_FILE_MAX * 4 // 3 + 96
_TOO_LARGE: Final = f"File cannot be larger than {limits.SOUND_FILE_MAX >> 10} kb."


class SoundInfo(NamedTuple):
    """Verified information about a sound: `mp3` or `ogg`, and its duration in milliseconds."""

    format: str
    ms: int


class StoredSound(NamedTuple):
    """A verified sound in the blob store."""

    hash: str
    info: SoundInfo


class SoundTooLong(ValueError):
    """A sound exceeds the maximum duration."""


class SoundData(FileData[SoundInfo]):
    """A sound of a request. A wire scalar: `data:audio/mpeg;base64,...`, at most 512 KiB decoded.

    After the sound has been verified with `inspect_sound` and stored, `stored` holds the result.
    """

    __slots__ = ()

    FORM_CODE: ClassVar[str] = FormCode.BASE_TYPE_BAD_TYPE

    @classmethod
    def wire_bytes_max(cls) -> int:
        """How long a data URI may be."""
        return _TEXT_MAX

    def inspect(self) -> SoundInfo:
        """Verify the sound with `inspect_sound`."""
        return inspect_sound(self.data)

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read a sound from a request.

        Raises ValueError for anything but a base64 data URI of a sound within the size limit.
        """
        if not isinstance(value, str) or not (head := _DATA_URI.match(value)):
            raise ValueError("Invalid sound data. Should be a data URI of an mp3 or ogg in base64.")
        if len(value) > _TEXT_MAX:
            raise ValueError(_TOO_LARGE)
        try:
            data = binascii.a2b_base64(value[head.end() :], strict_mode=True)
        except (binascii.Error, ValueError):
            raise ValueError("Invalid sound data. The base64 is malformed.") from None
        if len(data) > limits.SOUND_FILE_MAX:
            raise ValueError(_TOO_LARGE)
        return cls(head[1], data)


def inspect_sound(data: bytes) -> SoundInfo:
    """Verify a sound and compute its duration. Takes milliseconds.

    Raises SoundTooLong beyond 5.2 seconds, ValueError for a format other than MP3 and Ogg (Vorbis or Opus), and for a
    broken or empty file.
    """
    kind, ms = ("ogg", _ogg_ms(data)) if data.startswith(b"OggS") else ("mp3", _mp3_ms(data))
    if ms > limits.SOUND_MS_MAX:
        raise SoundTooLong
    if ms <= 0:
        raise ValueError("There is nothing to be heard.")
    return SoundInfo(kind, ms)


# MPEG audio, layer III. The length of a frame follows from its version, bit rate and sample rate.

_BIT_RATES: Final = (
    (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
_SAMPLE_RATES: Final = (44_100, 48_000, 32_000)
_HALVINGS: Final = {3: 0, 2: 1, 0: 2}
"""Right shifts of the sample rate by the two version bits: MPEG 1, 2 and 2.5."""
_ID3V1: Final = 128
_SKIPPED_MAX: Final = 4096
"""Bytes that may be skipped in search of frames; data with longer gaps is refused."""


def _mp3_ms(data: bytes) -> int:
    at, end = _skip_id3(data), len(data)
    if data[-_ID3V1:][:3] == b"TAG":
        end -= _ID3V1
    seconds = unheard = 0.0
    frames = skipped = 0
    while at + 4 <= end and (seconds - unheard) * 1000 <= limits.SOUND_MS_MAX:
        frame = _read_frame(data[at : at + 4])
        # Random bytes can look like a frame header, but no second frame follows them.
        if frame is None or not (at + frame.size + 2 > end or _read_frame(data[at + frame.size :][:4])):
            if data[at : at + 8] == b"APETAGEX":
                break
            at += 1
            skipped += 1
            if skipped > _SKIPPED_MAX:
                raise ValueError("This is no MP3.")
            continue
        if not frames:
            unheard = _inaudible_seconds(data[at : at + frame.size], frame)
        frames += 1
        at += frame.size
        seconds += frame.samples / frame.frequency
    if not frames:
        raise ValueError("This is no MP3.")
    return round((seconds - unheard) * 1000)


def _inaudible_seconds(first: bytes, frame: "_Frame") -> float:
    """The seconds to subtract if the first frame is a Xing header: its own duration, and the encoder's padding."""
    at = max(first.find(b"Xing", 4, 44), first.find(b"Info", 4, 44))
    if at < 0:
        return 0.0
    packed = int.from_bytes(first[at + 141 : at + 144], "big")
    return (frame.samples + (packed >> 12) + (packed & 0xFFF)) / frame.frequency


def _skip_id3(data: bytes) -> int:
    """The index of the first byte after ID3v2 tags."""
    at = 0
    while data[at : at + 3] == b"ID3" and len(data) >= at + 10:
        size = 0
        for byte in data[at + 6 : at + 10]:
            size = size << 7 | byte & 0x7F
        at += 10 + size + (10 if data[at + 5] & 0x10 else 0)
    return at


class _Frame(NamedTuple):
    """The header of an MPEG audio frame."""

    size: int
    """In bytes, including the header."""
    samples: int
    frequency: int


def _read_frame(head: bytes) -> _Frame | None:
    """Read the header of a frame; None if it is not a valid one."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return None
    version, rate, sample_rate = head[1] >> 3 & 3, head[2] >> 4, head[2] >> 2 & 3
    if version not in _HALVINGS or sample_rate >= len(_SAMPLE_RATES) or not 0 < rate < 15:
        return None
    halvings = _HALVINGS[version]
    bits = _BIT_RATES[min(halvings, 1)][rate - 1] * 1000
    samples = 576 if halvings else 1152
    frequency = _SAMPLE_RATES[sample_rate] >> halvings
    return _Frame(samples // 8 * bits // frequency + (head[2] >> 1 & 1), samples, frequency)


# Ogg: packets are split into pages with checksums. Pages declare their sample position, but players decode the samples
# of the packets, so those are counted.

_REVERSED: Final = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_OPUS_RATE: Final = 48_000
_HEAD_BYTES: Final = 27
_OPUS_HEAD: Final = 19
_VORBIS_HEAD: Final = 30
_MODE_BITS: Final = 41
_RATE_MAX: Final = 192_000
_CUT_MAX: Final = 8192
"""Samples that the last position of a stream may cut off."""
_SEGMENT: Final = 255
_NO_POSITION: Final = (1 << 64) - 1


class _Page(NamedTuple):
    """A page: its end, its stream, the sample position at its end, and the lengths of its segments."""

    end: int
    serial: int
    position: int
    table: bytes
    body: bytes


def _ogg_ms(data: bytes) -> int:
    position = 0
    packets: list[bytes] = []
    open_packet = bytearray()
    at, serial = 0, None
    while at < len(data):
        page = _read_page(data, at)
        if serial is not None and page.serial != serial:
            raise ValueError("The Ogg has several streams.")
        serial, at = page.serial, page.end
        if page.position != _NO_POSITION:
            position = max(position, page.position)
        start = 0
        for size in page.table:
            open_packet += page.body[start : start + size]
            start += size
            if size < _SEGMENT:
                packets.append(bytes(open_packet))
                open_packet.clear()
    if packets[:1] and packets[0].startswith(b"OpusHead") and len(packets[0]) >= _OPUS_HEAD:
        samples, rate = _opus_samples(packets[2:]), _OPUS_RATE
        position -= int.from_bytes(packets[0][10:12], "little")
    elif packets[:1] and packets[0].startswith(b"\x01vorbis") and len(packets[0]) >= _VORBIS_HEAD:
        samples, rate = _vorbis_samples(packets), int.from_bytes(packets[0][12:16], "little")
    else:
        raise ValueError("The Ogg holds neither Vorbis nor Opus.")
    if not 0 < rate <= _RATE_MAX:
        raise ValueError("The Ogg is broken.")
    # The last position cuts off less than a packet's samples; a much smaller one is forged.
    played = position if samples - _CUT_MAX <= position <= samples else samples
    return -(-played * 1000 // rate)


def _read_page(data: bytes, at: int) -> _Page:
    """Read the page at an index. Raises ValueError if it is not a page or its checksum is wrong."""
    head = data[at : at + _HEAD_BYTES]
    if len(head) < _HEAD_BYTES or head[:5] != b"OggS\0":
        raise ValueError("This is no Ogg.")
    start = at + _HEAD_BYTES + head[26]
    table = data[at + _HEAD_BYTES : start]
    end = start + sum(table)
    if end > len(data):
        raise ValueError("The Ogg is cut off.")
    whole = data[at : at + 22] + bytes(4) + data[at + 26 : end]
    if _checksum(whole) != int.from_bytes(head[22:26], "little"):
        raise ValueError("The Ogg is broken.")
    position, serial = int.from_bytes(head[6:14], "little"), int.from_bytes(head[14:18], "little")
    return _Page(end, serial, position, table, data[start:end])


def _checksum(data: bytes) -> int:
    """The CRC of Ogg: zlib's polynomial with reversed bits, and without inversion at start and end."""
    mirrored = zlib.crc32(data.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{mirrored:032b}"[::-1], 2)


def _opus_samples(packets: list[bytes]) -> int:
    """The number of samples in Opus packets, from the frame duration and count in their first bytes."""
    total = 0
    for packet in packets:
        if not packet:
            continue
        config, code = packet[0] >> 3, packet[0] & 3
        if config < 12:
            frame = (480, 960, 1920, 2880)[config & 3]
        elif config < 16:
            frame = (480, 960)[config & 1]
        else:
            frame = (120, 240, 480, 960)[config & 3]
        total += frame * ((packet[1] & 63 if len(packet) > 1 else 0) if code == 3 else (1, 2, 2)[code])
    return total


def _vorbis_samples(packets: list[bytes]) -> int:
    """The number of samples in Vorbis packets: a quarter of the block sizes of each two consecutive packets."""
    sizes = 1 << (packets[0][28] & 15), 1 << (packets[0][28] >> 4)
    if len(packets) < 3 or not packets[2].startswith(b"\x05vorbis"):
        raise ValueError("The Ogg is broken.")
    modes = _vorbis_modes(packets[2])
    width = (len(modes) - 1).bit_length()
    total = before = 0
    for packet in packets[3:]:
        if not packet or packet[0] & 1:
            continue
        mode = int.from_bytes(packet[:2], "little") >> 1 & (1 << width) - 1
        if mode >= len(modes):
            raise ValueError("The Ogg is broken.")
        size = sizes[modes[mode]]
        total += (before + size) // 4 if before else 0
        before = size
    return total


def _vorbis_modes(setup: bytes) -> list[int]:
    """Whether each mode has long blocks. Modes are read from the end of the header, as they are its last part.

    A mode consists of a bit for the block size, 32 zero bits and 8 bits for its mapping; their count precedes them.
    """
    bits = int.from_bytes(setup, "little")
    at = bits.bit_length() - 1  # the framing bit, which is set
    flags: list[int] = []
    modes: list[int] = []
    while at > _MODE_BITS + 6 and len(flags) < 64:
        at -= _MODE_BITS
        if bits >> at + 1 & 0xFFFFFFFF:
            break
        flags.insert(0, bits >> at & 1)
        if (bits >> at - 6 & 63) == len(flags) - 1:
            modes = flags.copy()
    if not modes:
        raise ValueError("The Ogg is broken.")
    return modes
