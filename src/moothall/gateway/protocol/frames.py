"""Encoded dispatches, shared by every session that receives them.

Only the sequence number differs between the sessions that receive an event, so it is in a short
prefix, and everything after it is one `Frame`: encoded once as text, deflated once, compressed once
with Zstandard, whatever the number of sessions. Its `etf` is the same for the Erlang term format, made
when the first session of that encoding receives the event.

Compressed bytes can be shared between streams that each have their own history because the
shared part never refers to anything before its own start:

- *zlib-stream*: the prefix is a stored deflate block; the shared part was made by a fresh raw
  deflate compressor, so its back-references stay inside it. Both end on a byte boundary.
- *zstd-stream*: the prefix is a raw block of the connection's one endless frame. A compressed block
  may also refer to the three offsets used last, so two constant blocks set these to their initial
  values first; what they decode to is white space between two tokens of the JSON.

No session has a compression context, so an idle session needs no memory for one.
"""

import asyncio
import threading
import zlib
from functools import lru_cache, partial
from typing import Any, Final

import msgspec
import zstandard

from moothall.gateway.protocol import etf
from moothall.gateway.protocol.commands import Payload, read_etf_payload, read_payload
from moothall.runtime.work_pool import PayerPool

_STORED_EMPTY: Final = b"\x00\x00\x00\xff\xff"
_ZLIB_HEADER: Final = b"\x78\x9c"
_MIN_DEFLATE_BYTES: Final = 96
"""A shorter frame is a stored block: deflating it saves nothing."""
_MIN_REPLAY_COMPRESSION_BYTES: Final = 2_048
_MIN_PREPARED_BYTES: Final = 65_536
"""A larger frame takes more than a millisecond to compress or to encode as a term."""
_TERM_SLICE: Final = 40
"""List items encoded as terms without a break for other tasks: half a millisecond."""

# Window 2^17 (the smallest that allows full 128 KiB blocks), no checksum, no content size.
_ZSTD_HEADER: Final = bytes.fromhex("28b52ffd0038")


class _ThreadCompressor(threading.local):
    """A compressor for each thread, since no two may use one at once: large frames are compressed beside the loop."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdCompressor(
            compression_params=zstandard.ZstdCompressionParameters.from_level(
                3, window_log=17, write_content_size=False, write_checksum=False
            )
        )


_COMPRESSOR = _ThreadCompressor()


def _zstd_block(block_type: int, content: bytes) -> bytes:
    return ((len(content) << 3) | (block_type << 1)).to_bytes(3, "little") + content


# Eight literal spaces, then a match of three at offset 8; then matches of three at offsets 4 and 1.
# That leaves the recent offsets at 1, 4, 8, which is what every compressor starts from.
_ZSTD_RESET: Final = _zstd_block(2, bytes.fromhex("412001540803000b")) + _zstd_block(2, bytes.fromhex("0002540002001c"))


class EtfFrame:
    """One dispatch as a term without its sequence number: the two fields of its map after `op` and `s`."""

    __slots__ = ("_deflated", "_zstd", "tail")

    def __init__(self, tail: bytes) -> None:
        self.tail = tail
        """The shared part, uncompressed."""
        self._deflated: bytes | None = None
        self._zstd: bytes | None = None

    @property
    def deflated(self) -> bytes:
        """The shared part as raw deflate blocks ending with a sync flush."""
        deflated = self._deflated
        if deflated is None:
            deflated = self._deflated = _deflate(self.tail)
        return deflated

    @property
    def zstd(self) -> bytes:
        """The shared part as Zstandard blocks, before two that reset the offsets."""
        blocks = self._zstd
        if blocks is None:
            blocks = self._zstd = _zstd_blocks(self.tail) + _ZSTD_RESET
        return blocks


class Frame:
    """One dispatch without its sequence number: the text after `{"op":0,"s":N,`."""

    __slots__ = ("_deflated", "_etf", "_tail", "_text", "_zstd", "size")

    def __init__(self, name: str, data: bytes) -> None:
        self._tail: bytes | None = b'"t":"%b","d":%b}' % (name.encode(), data)
        self.size = len(self._tail)
        """Bytes of JSON, uncompressed."""
        self._text: str | None = None
        self._deflated: bytes | None = None
        self._zstd: bytes | None = None
        self._etf: EtfFrame | None = None

    def shrink_for_replay(self) -> None:
        """Keep one form only, compressed if the frame is large: it is sent again only if its session resumes."""
        if self.size >= _MIN_REPLAY_COMPRESSION_BYTES:
            self._zstd, self._tail = self.zstd, None
        else:
            self._zstd, self._tail = None, self.tail
        self._text = self._deflated = self._etf = None

    @property
    def tail(self) -> bytes:
        """The shared part as JSON."""
        tail = self._tail
        if tail is None:
            decompressed = zstandard.ZstdDecompressor().decompressobj().decompress(_ZSTD_HEADER + self.zstd)
            tail = decompressed.lstrip()
        return tail

    @property
    def text(self) -> str:
        """The shared part as text."""
        text = self._text
        if text is None:
            text = self._text = self.tail.decode()
        return text

    @property
    def deflated(self) -> bytes:
        """The shared part as raw deflate blocks ending with a sync flush."""
        deflated = self._deflated
        if deflated is None:
            deflated = self._deflated = _deflate(self.tail)
        return deflated

    @property
    def zstd(self) -> bytes:
        """The shared part as Zstandard blocks, after two that reset the offsets."""
        blocks = self._zstd
        if blocks is None:
            blocks = self._zstd = _ZSTD_RESET + _zstd_blocks(self.tail)
        return blocks

    @property
    def etf(self) -> EtfFrame:
        """The shared part as a term."""
        frame = self._etf
        if frame is None:
            head, data = self._read()
            frame = self._etf = EtfFrame(head + etf.term(data))
        return frame

    async def encode_etf(self) -> None:
        """Make `etf` in slices that let other tasks run in between."""
        if self._etf is None:
            head, data = self._read()
            fragments = [head]
            for fragment in etf.term_slices(data, _TERM_SLICE):
                fragments.append(fragment)
                await asyncio.sleep(0)
            self._etf = EtfFrame(b"".join(fragments))

    def _read(self) -> tuple[bytes, Any]:
        """The beginning of the frame's term, up to the value of `d`, and that value."""
        fields = msgspec.json.decode(b"{" + self.tail)
        return _ETF_NAME + etf.atom(fields["t"]) + _ETF_DATA, fields["d"]


def _deflate(data: bytes) -> bytes:
    if len(data) < _MIN_DEFLATE_BYTES:
        return _stored(data) + _STORED_EMPTY
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)


def _stored(data: bytes) -> bytes:
    """Encode data below 64 KiB as a stored deflate block."""
    size = len(data)
    return b"\x00" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + data


def _zstd_blocks(data: bytes) -> bytes:
    compressor = _COMPRESSOR.zstd.compressobj()
    compressed = compressor.compress(data) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return compressed[len(_ZSTD_HEADER) :]


class Encoding:
    """Encodes payloads as WebSocket messages of one transport. Stateless: all connections share one instance.

    The first payload of a connection goes through `first`, which starts the stream.
    """

    def read(self, message: str | bytes) -> Payload:
        """Decode a message of a client. Raises CloseConnection 4002."""
        return read_payload(message)

    def first(self, payload: bytes) -> str | bytes:
        """Encode the connection's first payload."""
        return self.control(payload)

    def control(self, payload: bytes) -> str | bytes:
        """Encode a payload below 64 KiB that is no dispatch; `payload` is JSON."""
        raise NotImplementedError

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """Encode a dispatch with its sequence number."""
        raise NotImplementedError

    async def prepare(self, frame: Frame, pool: PayerPool) -> None:
        """Make the forms of a large frame that sending and buffering it need, in a thread of `pool`."""
        if frame.size >= _MIN_PREPARED_BYTES:
            await pool.run(partial(self._make_forms, frame), size=frame.size)

    def _make_forms(self, frame: Frame) -> None:
        self.dispatch(0, frame)
        frame.zstd  # noqa: B018 cached


class Text(Encoding):
    """Plain JSON text."""

    def control(self, payload: bytes) -> str | bytes:
        """The JSON."""
        return payload.decode()

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """The JSON."""
        return f'{{"op":0,"s":{seq},{frame.text}'


class PayloadCompression(Text):
    """JSON text, except that each large dispatch is a zlib stream: `compress` of Identify."""

    threshold = 2048
    """Minimum size of a compressed dispatch, in bytes of JSON."""

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A binary message for a large dispatch, text for any other."""
        if frame.size < self.threshold:
            return super().dispatch(seq, frame)
        return zlib.compress(b'{"op":0,"s":%d,' % seq + frame.tail, 3)


class ZlibStream(Encoding):
    """One zlib stream per connection, each payload ending with 00 00 FF FF."""

    def first(self, payload: bytes) -> str | bytes:
        """The stream's header and the payload."""
        return _ZLIB_HEADER + _stored(payload) + _STORED_EMPTY

    def control(self, payload: bytes) -> str | bytes:
        """A stored block."""
        return _stored(payload) + _STORED_EMPTY

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A stored block for the prefix, then the shared blocks."""
        return _stored(b'{"op":0,"s":%d,' % seq) + frame.deflated


class ZstdStream(Encoding):
    """One Zstandard frame per connection that never ends, one or more whole blocks per payload."""

    def first(self, payload: bytes) -> str | bytes:
        """The frame's header and the payload."""
        return _ZSTD_HEADER + _zstd_block(0, payload)

    def control(self, payload: bytes) -> str | bytes:
        """A raw block."""
        return _zstd_block(0, payload)

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A raw block for the prefix, then the shared blocks."""
        return _zstd_block(0, b'{"op":0,"s":%d,' % seq) + frame.zstd


# The fields of a payload have atoms as keys, as on the public gateway, and so has the name of its event.
_ETF_PAYLOAD: Final = etf.VERSION + bytes.fromhex("7400000004")
"""A term that is a map of four fields."""
_ETF_PREFIX: Final = _ETF_PAYLOAD + etf.atom("op") + etf.integer(0) + etf.atom("s")
_ETF_NAME: Final = etf.atom("t")
_ETF_DATA: Final = etf.atom("d")


@lru_cache(maxsize=64)  # there are few different ones, and every connection is sent them again and again
def _control_term(payload: bytes) -> bytes:
    """A payload that is no dispatch as a term: the keys of its `d` are atoms as well."""
    fields = msgspec.json.decode(payload)
    data = fields["d"]
    if isinstance(data, dict):
        keys = [etf.atom(key) + etf.term(value) for key, value in data.items()]
        encoded = b"t" + len(keys).to_bytes(4, "big") + b"".join(keys)
    else:
        encoded = etf.term(data)
    rest = etf.atom("s") + etf.term(fields["s"]) + _ETF_NAME + etf.term(fields["t"])
    return _ETF_PAYLOAD + etf.atom("op") + etf.integer(fields["op"]) + _ETF_DATA + encoded + rest


class Etf(Encoding):
    """Terms of Erlang, each a binary message."""

    def read(self, message: str | bytes) -> Payload:
        """Decode a term of a client. Raises CloseConnection 4002."""
        return read_etf_payload(message)

    def control(self, payload: bytes) -> str | bytes:
        """The term."""
        return _control_term(payload)

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """The term."""
        return _ETF_PREFIX + etf.integer(seq) + frame.etf.tail

    async def prepare(self, frame: Frame, pool: PayerPool) -> None:
        """As for any encoding; the term is encoded in slices, since a thread would share the interpreter's lock."""
        if frame.size >= _MIN_PREPARED_BYTES:
            await frame.encode_etf()
            await super().prepare(frame, pool)


class EtfZlibStream(Etf):
    """Terms in one zlib stream per connection."""

    def first(self, payload: bytes) -> str | bytes:
        """The stream's header and the payload."""
        return _ZLIB_HEADER + _stored(_control_term(payload)) + _STORED_EMPTY

    def control(self, payload: bytes) -> str | bytes:
        """A stored block."""
        return _stored(_control_term(payload)) + _STORED_EMPTY

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A stored block for the prefix, then the shared blocks."""
        return _stored(_ETF_PREFIX + etf.integer(seq)) + frame.etf.deflated


class EtfZstdStream(Etf):
    """Terms in one Zstandard frame per connection; after the term of a dispatch there is white space to ignore."""

    def first(self, payload: bytes) -> str | bytes:
        """The frame's header and the payload."""
        return _ZSTD_HEADER + _zstd_block(0, _control_term(payload))

    def control(self, payload: bytes) -> str | bytes:
        """A raw block."""
        return _zstd_block(0, _control_term(payload))

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        """A raw block for the prefix, then the shared blocks."""
        return _zstd_block(0, _ETF_PREFIX + etf.integer(seq)) + frame.etf.zstd


TEXT: Final = Text()
PAYLOAD_COMPRESSION: Final = PayloadCompression()
ENCODINGS: Final[dict[str, dict[str, Encoding]]] = {
    "json": {"": TEXT, "zlib-stream": ZlibStream(), "zstd-stream": ZstdStream()},
    "etf": {"": Etf(), "zlib-stream": EtfZlibStream(), "zstd-stream": EtfZstdStream()},
}
"""Transports by the values of `encoding` and `compress` in the URL."""
