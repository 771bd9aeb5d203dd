"""Encoded dispatches, shared by every session that hears them.

Only the sequence number differs between the sessions that hear an event, so it stands in a short
prefix and everything after it is one `Frame`: encoded once as text, deflated once, compressed once
with Zstandard, whatever the number of hearers.

Sharing compressed bytes between streams that each have a history of their own works because the
shared part never looks back past its own beginning:

- *zlib-stream*: the prefix is a stored deflate block; the shared part was made by a fresh raw
  deflate compressor, so its back-references stay inside it. Both end on a byte boundary.
- *zstd-stream*: the prefix is a raw block of the connection's one endless frame. A compressed block
  may also refer to the three offsets used last, so two constant blocks set these to their initial
  values first; what they decode to is white space between two tokens of the JSON.

No session holds a compression context, and an idle one costs no memory for it.
"""

import zlib
from typing import Final

import zstandard

_STORED_EMPTY: Final = b"\x00\x00\x00\xff\xff"
_ZLIB_HEADER: Final = b"\x78\x9c"
_WORTH_DEFLATING: Final = 96
_WORTH_PACKING: Final = 2_048

# Window 2^17 (the smallest that allows full 128 KiB blocks), no checksum, no content size.
_ZSTD_HEADER: Final = bytes.fromhex("28b52ffd0038")
_ZSTD = zstandard.ZstdCompressor(
    compression_params=zstandard.ZstdCompressionParameters.from_level(
        3, window_log=17, write_content_size=False, write_checksum=False
    )
)


def _zstd_block(kind: int, content: bytes) -> bytes:
    return ((len(content) << 3) | (kind << 1)).to_bytes(3, "little") + content


# Eight literal spaces, then a match of three at offset 8; then matches of three at offsets 4 and 1.
# That leaves the recent offsets at 1, 4, 8, which is what every compressor starts from.
_ZSTD_RESET: Final = _zstd_block(2, bytes.fromhex("412001540803000b")) + _zstd_block(2, bytes.fromhex("0002540002001c"))


class Frame:
    """One dispatch but for its sequence number: the text after `{"op":0,"s":N,`."""

    __slots__ = ("_deflated", "_tail", "_text", "_zstd", "size")

    def __init__(self, name: str, data: bytes) -> None:
        self._tail: bytes | None = b'"t":"%b","d":%b}' % (name.encode(), data)
        self.size = len(self._tail)
        """Bytes of JSON, uncompressed."""
        self._text: str | None = None
        self._deflated: bytes | None = None
        self._zstd: bytes | None = None

    def pack(self) -> None:
        """Keep a big frame in its smallest form only, for it is unlikely to be sent again."""
        if self.size >= _WORTH_PACKING:
            self._zstd = self.zstd
            self._tail = self._text = self._deflated = None

    @property
    def tail(self) -> bytes:
        """The shared part."""
        found = self._tail
        if found is None:
            unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(_ZSTD_HEADER + self.zstd)
            found = unpacked.lstrip()
        return found

    @property
    def text(self) -> str:
        """The shared part as text."""
        found = self._text
        if found is None:
            found = self._text = self.tail.decode()
        return found

    @property
    def deflated(self) -> bytes:
        """The shared part as raw deflate blocks ending with a sync flush."""
        found = self._deflated
        if found is None:
            found = self._deflated = _deflate(self.tail)
        return found

    @property
    def zstd(self) -> bytes:
        """The shared part as Zstandard blocks, offsets reset first."""
        found = self._zstd
        if found is None:
            found = self._zstd = _ZSTD_RESET + _zstd_blocks(self.tail)
        return found


def _deflate(data: bytes) -> bytes:
    if len(data) < _WORTH_DEFLATING:
        return _stored(data) + _STORED_EMPTY
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)


def _stored(data: bytes) -> bytes:
    """Data below 64 KiB as a stored deflate block."""
    size = len(data)
    return b"\x00" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data


def _zstd_blocks(data: bytes) -> bytes:
    compressor = _ZSTD.compressobj()
    made = compressor.compress(data) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return made[len(_ZSTD_HEADER) :]


class Encoding:
    """How a connection's payloads become WebSocket messages. One instance serves every connection.

    The first payload of a connection goes through `first`, which opens the stream.
    """

    binary = False

    def first(self, payload: bytes) -> str | bytes:
        """The connection's first payload."""
        return self.control(payload)

    def control(self, payload: bytes) -> str | bytes:
        """A short payload that is no dispatch, below 64 KiB."""
        raise NotImplementedError

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A dispatch with its sequence number."""
        raise NotImplementedError


class Text(Encoding):
    """Plain JSON text."""

    def control(self, payload: bytes) -> str | bytes:
        """The JSON."""
        return payload.decode()

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """The JSON."""
        return f'{{"op":0,"s":{seq},{frame.text}'


class CompressedPackets(Text):
    """JSON text, but big dispatches each as a zlib stream of its own: `compress` in Identify."""

    threshold = 2048
    """Bytes of JSON from which compressing pays."""

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A binary message for a big dispatch."""
        if frame.size < self.threshold:
            return super().dispatch(seq, frame)
        return zlib.compress(b'{"op":0,"s":%d,' % seq + frame.tail, 3)


class ZlibStream(Encoding):
    """One zlib stream per connection, each payload ending with 00 00 FF FF."""

    binary = True

    def first(self, payload: bytes) -> str | bytes:
        """The payload behind the stream's header."""
        return _ZLIB_HEADER + _stored(payload) + _STORED_EMPTY

    def control(self, payload: bytes) -> str | bytes:
        """A stored block."""
        return _stored(payload) + _STORED_EMPTY

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A stored block for the prefix, then the shared blocks."""
        return _stored(b'{"op":0,"s":%d,' % seq) + frame.deflated


class ZstdStream(Encoding):
    """One Zstandard frame per connection that never ends, one or more whole blocks per payload."""

    binary = True

    def first(self, payload: bytes) -> str | bytes:
        """The payload behind the frame's header."""
        return _ZSTD_HEADER + _zstd_block(0, payload)

    def control(self, payload: bytes) -> str | bytes:
        """A raw block."""
        return _zstd_block(0, payload)

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A raw block for the prefix, then the shared blocks."""
        return _zstd_block(0, b'{"op":0,"s":%d,' % seq) + frame.zstd


TEXT: Final = Text()
COMPRESSED_PACKETS: Final = CompressedPackets()
ENCODINGS: Final[dict[str, Encoding]] = {"": TEXT, "zlib-stream": ZlibStream(), "zstd-stream": ZstdStream()}
"""By the value of the URL's `compress`."""
