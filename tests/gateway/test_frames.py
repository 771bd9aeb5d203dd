"""Shared frames: bytes compressed once, in streams that each have their own history."""

import json
import random
import zlib
from concurrent.futures import ThreadPoolExecutor

import zstandard
from discord import utils as discord_utils
from hypothesis import given
from hypothesis import strategies as st

from moothall.gateway.protocol.frames import ENCODINGS, PAYLOAD_COMPRESSION, TEXT, Frame

_texts = st.text(st.characters(codec="utf-8"), max_size=400) | st.integers(0, 60).map(lambda n: "moot hall " * n)
_payloads = st.lists(_texts.map(lambda text: json.dumps({"content": text}).encode()), min_size=1, max_size=6)
_picks = st.lists(st.integers(0, 5), min_size=1, max_size=30)


def _expected(seq: int, data: bytes) -> dict[str, object]:
    return {"op": 0, "s": seq, "t": "MESSAGE_CREATE", "d": json.loads(data)}


@given(_payloads, st.lists(_picks, min_size=1, max_size=3))
def test_one_zlib_stream_for_each_session_from_shared_deflated_bytes(
    payloads: list[bytes], walks: list[list[int]]
) -> None:
    frames = [Frame("MESSAGE_CREATE", payload) for payload in payloads]
    encoding = ENCODINGS["json"]["zlib-stream"]
    for walk in walks:
        inflate = zlib.decompressobj()
        assert inflate.decompress(encoding.first(b'{"op":10}')) == b'{"op":10}'  # type: ignore[arg-type]
        for seq, pick in enumerate(walk, 1):
            index = pick % len(frames)
            made = encoding.dispatch(seq, frames[index])
            assert isinstance(made, bytes)
            assert made.endswith(b"\x00\x00\xff\xff")
            assert json.loads(inflate.decompress(made)) == _expected(seq, payloads[index])
            assert inflate.decompress(encoding.control(b'{"op":11}')) == b'{"op":11}'  # type: ignore[arg-type]


@given(_payloads, st.lists(_picks, min_size=1, max_size=3))
def test_one_zstandard_frame_for_each_session_from_shared_blocks(payloads: list[bytes], walks: list[list[int]]) -> None:
    frames = [Frame("MESSAGE_CREATE", payload) for payload in payloads]
    encoding = ENCODINGS["json"]["zstd-stream"]
    for walk in walks:
        inflate = zstandard.ZstdDecompressor().decompressobj()
        assert inflate.decompress(encoding.first(b'{"op":10}')) == b'{"op":10}'  # type: ignore[arg-type]
        for seq, pick in enumerate(walk, 1):
            index = pick % len(frames)
            made = encoding.dispatch(seq, frames[index])
            assert json.loads(inflate.decompress(made)) == _expected(seq, payloads[index])  # type: ignore[arg-type]
            assert inflate.decompress(encoding.control(b'{"op":11}')) == b'{"op":11}'  # type: ignore[arg-type]


def test_frames_larger_than_every_window_are_decompressed() -> None:
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(400)]
    payloads = [
        json.dumps([chance.choice(words) for _ in range(count)]).encode() for count in (1, 20, 4_000, 90_000, 3, 50_000)
    ]
    payloads.append(json.dumps(chance.randbytes(300_000).hex()).encode())
    frames = [Frame("MESSAGE_CREATE", payload) for payload in payloads]
    for name, inflate in (
        ("zlib-stream", zlib.decompressobj().decompress),
        ("zstd-stream", zstandard.ZstdDecompressor().decompressobj().decompress),
    ):
        encoding = ENCODINGS["json"][name]
        inflate(encoding.first(b"{}"))  # type: ignore[arg-type]
        for seq in range(1, 60):
            index = chance.randrange(len(frames))
            made = encoding.dispatch(seq, frames[index])
            assert json.loads(inflate(made)) == _expected(seq, payloads[index])  # type: ignore[arg-type]


def test_the_decompression_context_of_discord_py_reads_the_stream_that_it_requests() -> None:
    frame = Frame("MESSAGE_CREATE", json.dumps({"content": "moot " * 100}).encode())
    context = discord_utils._ActiveDecompressionContext()
    encoding = ENCODINGS["json"][context.COMPRESSION_TYPE]
    assert context.decompress(encoding.first(b'{"op":10}')) == '{"op":10}'  # type: ignore[arg-type]
    for seq in range(1, 50):
        text = context.decompress(encoding.dispatch(seq, frame))  # type: ignore[arg-type]
        assert text is not None
        assert json.loads(text)["s"] == seq


def test_payload_compression_makes_large_dispatches_zlib_streams_and_leaves_small_ones_text() -> None:
    small, big = Frame("A", b'{"a":1}'), Frame("B", json.dumps({"a": "b" * 5_000}).encode())
    assert PAYLOAD_COMPRESSION.dispatch(1, small) == TEXT.dispatch(1, small)
    made = PAYLOAD_COMPRESSION.dispatch(2, big)
    assert isinstance(made, bytes)
    assert json.loads(zlib.decompress(made)) == {"op": 0, "s": 2, "t": "B", "d": {"a": "b" * 5_000}}


def test_a_frame_is_compressed_once() -> None:
    frame = Frame("A", json.dumps({"a": "b" * 500}).encode())
    assert frame.deflated is frame.deflated
    assert frame.zstd is frame.zstd
    assert frame.text is frame.text
    assert len(frame.deflated) < 100
    assert len(frame.zstd) < 100


def test_a_frame_shrunk_for_replay_is_smaller_and_has_the_same_content() -> None:
    data = json.dumps([{"id": str(n), "name": f"member {n}"} for n in range(2_000)]).encode()
    frame, packed = Frame("GUILD_CREATE", data), Frame("GUILD_CREATE", data)
    packed.shrink_for_replay()
    assert len(packed.zstd) < len(data) / 4
    assert packed._tail is None
    for transports in ENCODINGS.values():
        for encoding in transports.values():
            assert encoding.dispatch(7, packed) == encoding.dispatch(7, frame)


def test_a_small_frame_keeps_its_json_alone_for_replay() -> None:
    frame, shrunk = Frame("A", b'{"a":1}'), Frame("A", b'{"a":1}')
    assert (shrunk.text, shrunk.deflated, shrunk.zstd) == (frame.text, frame.deflated, frame.zstd)
    shrunk.shrink_for_replay()
    assert shrunk._tail == frame.tail
    assert (shrunk._text, shrunk._deflated, shrunk._zstd, shrunk._etf) == (None, None, None, None)
    for transports in ENCODINGS.values():
        for encoding in transports.values():
            assert encoding.dispatch(7, shrunk) == encoding.dispatch(7, frame)


def test_frames_are_compressed_by_several_threads_at_once() -> None:
    data = [bytes(random.Random(seed).choices(range(32, 127), k=200_000)) for seed in range(4)]

    def compress(content: bytes) -> list[bytes]:
        return [Frame("X", content).zstd for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(compress, data * 2))
    for content, frames in zip(data * 2, results, strict=True):
        assert frames == [Frame("X", content).zstd] * 20
