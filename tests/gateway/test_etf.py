"""The Erlang external term format: `encoding=etf`."""

import asyncio
import json
import math
import struct
import zlib
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from moothall.gateway.protocol import etf
from moothall.gateway.protocol.frames import ENCODINGS, EtfFrame, Frame
from moothall.objects.intents import Intent
from moothall.runtime.budgets import SERVER
from moothall.runtime.work_pool import WorkPool
from tests.gateway import terms
from tests.gateway.peer import BOT, CAPTAIN, GUILD, Peer, World, create_node, event, message, run_pending
from tests.gateway.terms import Atom

QUERIES = ["v=10&encoding=etf", "v=10&encoding=etf&compress=zlib-stream", "v=10&encoding=etf&compress=zstd-stream"]

_scalars = (
    st.none() | st.booleans() | st.integers(-(2**64) + 1, 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
_texts = st.text(st.characters(codec="utf-8"), max_size=20)
_values = st.recursive(
    _scalars | _texts, lambda v: st.lists(v, max_size=5) | st.dictionaries(_texts, v, max_size=5), max_leaves=30
)
_objects = st.dictionaries(_texts, _values, max_size=6)


def _exact(value: Any) -> Any:
    """A value that equals another only if that is of the same type: 1 is not 1.0, nor True."""
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, dict):
        return {key: _exact(field) for key, field in value.items()}
    return type(value), str(value)


# Encoding


@given(_values)
def test_every_value_of_json_is_a_term_that_a_client_and_the_server_decode_to_it(value: Any) -> None:
    encoded = etf.VERSION + etf.term(value)
    unpacked, rest = terms.unpack(encoded)
    assert (_exact(unpacked), rest) == (_exact(value), b"")
    assert _exact(etf.decode(encoded)) == _exact(value)


@given(_values)
def test_a_term_is_the_one_that_erlpack_makes(value: Any) -> None:
    assert etf.VERSION + etf.term(value) == terms.pack(value)


@given(_values, st.integers(1, 4))
def test_a_term_made_in_slices_is_the_same(value: Any, items: int) -> None:
    assert b"".join(etf.term_slices(value, items)) == etf.term(value)


def test_the_keys_that_users_choose_do_not_fill_the_memory() -> None:
    for number in range(3_000):
        etf.term({f"chosen by a user {number}": 1})
    assert len(etf._keys) <= 2_048


# Decoding


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda data: b"\x83" + data))
@example(b"")
@example(b"\x83")
def test_garbage_is_a_decode_error_and_nothing_else(data: bytes) -> None:
    try:
        value = etf.decode(data)
    except etf.EtfDecodeError:
        return
    json.loads(msgspec.json.encode(value))


@given(_values, st.data())
def test_a_damaged_term_is_a_decode_error_or_another_value(value: Any, data: st.DataObject) -> None:
    encoded = bytearray(terms.pack(value))
    for _ in range(data.draw(st.integers(1, 4))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(encoded)[: data.draw(st.integers(0, len(encoded)))]
    try:
        other = etf.decode(damaged)
    except etf.EtfDecodeError:
        return
    json.loads(msgspec.json.encode(other))


@given(_values.filter(lambda value: not isinstance(value, dict | list) or value), st.integers(1, 40))
def test_a_term_that_ends_too_early_or_too_late_is_refused(value: Any, cut: int) -> None:
    encoded = terms.pack(value)
    for data in (encoded[: max(0, len(encoded) - cut)], encoded + b"a\x00"):
        with pytest.raises(etf.EtfDecodeError):
            etf.decode(data)


def test_a_length_above_the_data_is_refused_before_anything_is_made() -> None:
    for tag in b"lmti":
        with pytest.raises(etf.EtfDecodeError):
            etf.decode(bytes([131, tag]) + b"\xff\xff\xff\xff" + b"a\x00" * 20)


@pytest.mark.parametrize(("depth", "accepted"), [(31, True), (32, False), (1_300, False)])
def test_nesting_is_bounded(depth: int, accepted: bool) -> None:
    for opening, closing in ((b"l\0\0\0\1", b"j"), (b"t\0\0\0\1m\0\0\0\1k", b""), (b"h\1", b"")):
        data = b"\x83" + opening * depth + b"j" + closing * depth
        if accepted:
            etf.decode(data)
        else:
            with pytest.raises(etf.EtfDecodeError):
                etf.decode(data)


def test_atoms_are_strings_unless_json_has_a_value_for_them() -> None:
    for name, value in {"nil": None, "null": None, "undefined": None, "true": True, "false": False}.items():
        assert etf.decode(terms.pack(Atom(name))) is value
    online = [b"s\6online", b"d\0\6online", b"w\6online", b"v\0\6online"]
    assert [etf.decode(b"\x83" + atom) for atom in online] == ["online"] * 4
    assert etf.decode(b"\x83s\1\xe9") == etf.decode(b"\x83w\2\xc3\xa9") == "\u00e9"


def test_small_integers_that_erlang_writes_as_a_string_are_a_list() -> None:
    assert etf.decode(b"\x83k\0\2\0\1") == [0, 1]


@pytest.mark.parametrize(
    "data",
    [
        b"P" + struct.pack(">I", 3) + zlib.compress(b"a\0"),
        b"t\0\0\0\1" + b"s\2op" + b"a\1",
        b"t\0\0\0\1" + b"a\1" + b"a\1",
        b"t\0\0\0\2" + (b"m\0\0\0\2op" + b"a\1") * 2,
        b"l\0\0\0\1a\1a\1",
        b"n\x09\0" + b"\1" * 9,
        b"F" + struct.pack(">d", math.inf),
        b"F" + struct.pack(">d", math.nan),
        b"m\0\0\0\1\xff",
        b"w\1\xff",
        b"R\0",
        b"g",
    ],
    ids=[
        "compressed",
        "atom as key",
        "number as key",
        "key twice",
        "improper list",
        "more than 64 bits",
        "infinity",
        "not a number",
        "binary that is not UTF-8",
        "atom that is not UTF-8",
        "atom of a cache",
        "process",
    ],
)
def test_what_json_cannot_say_is_refused(data: bytes) -> None:
    with pytest.raises(etf.EtfDecodeError):
        etf.decode(b"\x83" + data)


# Frames

_picks = st.lists(st.integers(0, 5), min_size=1, max_size=30)
_filler = st.integers(0, 60).map(lambda n: {"content": "moot hall " * n})


@given(st.lists(_objects | _filler, min_size=1, max_size=5), st.lists(_picks, min_size=1, max_size=3))
def test_one_stream_for_each_session_from_shared_bytes(objects: list[Any], walks: list[list[int]]) -> None:
    frames = [Frame("MESSAGE_CREATE", msgspec.json.encode(data)) for data in objects]
    expected = [json.loads(msgspec.json.encode(data)) for data in objects]
    for name, encoding in ENCODINGS["etf"].items():
        for walk in walks:
            inflate: Any = bytes
            if name:
                inflate = (
                    zlib.decompressobj() if name == "zlib-stream" else zstandard.ZstdDecompressor().decompressobj()
                ).decompress
            hello = terms.unpack(inflate(encoding.first(b'{"op":10,"d":{"heartbeat_interval":5},"s":null,"t":null}')))
            assert hello == ({"op": 10, "d": {"heartbeat_interval": 5}, "s": None, "t": None}, b"")
            for seq, pick in enumerate(walk, 254):
                made = encoding.dispatch(seq, frames[pick % len(frames)])
                assert isinstance(made, bytes)
                assert made.endswith(b"\x00\x00\xff\xff") or name != "zlib-stream"
                payload, rest = terms.unpack(inflate(made))
                assert payload == {"op": 0, "s": seq, "t": "MESSAGE_CREATE", "d": expected[pick % len(frames)]}
                assert not rest.strip(b" ")
                assert not rest or name == "zstd-stream"


def test_the_fields_of_a_payload_and_the_name_of_its_event_are_atoms_and_the_rest_has_binaries() -> None:
    frame = Frame("MESSAGE_CREATE", b'{"content":"nil"}')
    payload, _ = terms.unpack(ENCODINGS["etf"][""].dispatch(1, frame))  # type: ignore[arg-type]
    assert {type(key) for key in payload} == {Atom}
    assert type(payload["t"]) is Atom
    assert [(type(key), type(value)) for key, value in payload["d"].items()] == [(str, str)]


def test_a_term_is_made_once_and_only_for_a_session_that_needs_it() -> None:
    frame = Frame("A", b'{"a":"%b"}' % (b"b" * 500))
    for encoding in ENCODINGS["json"].values():
        encoding.dispatch(1, frame)
    assert frame._etf is None
    shared = frame.etf
    for encoding in ENCODINGS["etf"].values():
        encoding.dispatch(1, frame)
    assert frame.etf is shared
    assert shared.deflated is shared.deflated
    assert shared.zstd is shared.zstd


async def test_a_large_frame_is_prepared_while_other_tasks_run() -> None:
    data = {"members": [{"id": str(number), "roles": [], "nick": None} for number in range(4_000)], "id": "1"}
    frame = Frame("GUILD_MEMBERS_CHUNK", msgspec.json.encode(data))
    turns = 0

    async def other_task() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.get_running_loop().create_task(other_task())
    encoding = ENCODINGS["etf"]["zlib-stream"]
    await encoding.prepare(frame, WorkPool("frames").for_payer(SERVER))
    task.cancel()
    assert turns > 50
    assert isinstance(frame._etf, EtfFrame)
    assert frame._etf._deflated
    assert terms.unpack(frame.etf.tail.join((b"\x83t\0\0\0\2", b"")))[0]["d"] == data


# Sessions


@pytest.mark.parametrize("query", QUERIES)
async def test_a_session_receives_what_one_of_json_receives(query: str) -> None:
    node, bus = create_node(World())
    heard = []
    for each in ("v=10&encoding=json", query):
        peer = Peer(node, each)
        ready = await peer.identify("Bot bot", intents=1 | Intent.GUILD_MESSAGES, shard=[0, 1])
        first = await peer.dispatches()
        bus.publish([message("h\u00e9 \U0001f600 " * 300), event("TYPING_START", {"timestamp": 2**40, "n": -1.5})])
        await run_pending()  # on a busy machine they are delivered in two slices
        peer.send({"op": 1, "d": peer.seq})
        later = await peer.receive_all()
        del ready["session_id"], ready["_trace"]
        heard.append((ready, first, [{k: v for k, v in p.items() if k != "s"} for p in later]))
    assert heard[0] == heard[1]


async def test_a_session_may_be_resumed_with_the_other_encoding() -> None:
    node, bus = create_node(World())
    peer = Peer(node, QUERIES[0])
    ready = await peer.identify("alice")
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message("missed")])
    await run_pending()
    for query in (QUERIES[2], "v=10&encoding=json", QUERIES[1]):
        again = Peer(node, query)
        assert (await again.receive())["op"] == 10
        again.send({"op": 6, "d": {"token": "alice", "session_id": ready["session_id"], "seq": peer.seq}})
        names = await again.names()
        assert (names[0], names[-1]) == ("MESSAGE_CREATE", "RESUMED")
        await again.disconnect()


async def test_members_are_requested_and_sent_as_terms() -> None:
    node, _ = create_node(World())
    peer = Peer(node, QUERIES[1])
    await peer.identify("Bot bot", intents=1)
    await peer.receive_all()
    peer.send({"op": 8, "d": {"guild_id": GUILD, "user_ids": [BOT, str(BOT)], "nonce": "n"}})
    [(name, chunk)] = await peer.dispatches()
    assert (name, chunk["nonce"]) == ("GUILD_MEMBERS_CHUNK", "n")
    assert chunk["members"][0]["roles"] == [str(CAPTAIN)]


async def test_compress_in_identify_is_for_json_only() -> None:
    node, bus = create_node(World())
    peer = Peer(node, QUERIES[0])
    await peer.identify("alice", compress=True)
    await peer.receive_all()
    bus.publish([message("x" * 5_000)])
    assert (await peer.receive())["d"]["content"] == "x" * 5_000


@pytest.mark.parametrize(
    "sent",
    [
        "{}",
        '{"op":1,"d":null}',
        b"",
        b'{"op":1,"d":null}',
        b"\x83",
        zlib.compress(terms.pack({"op": 1, "d": None})),
        terms.pack({Atom("op"): 1, Atom("d"): None}),
        terms.pack({"op": "1"}),
        terms.pack([]),
        terms.pack({"op": 1, "d": None, "x": "y" * 4_096}),
        terms.pack({"op": 1, "d": "x"}),
        terms.pack({"op": 1, "d": 2**64 - 1, "x": {}})[:-1],
    ],
)
async def test_a_message_that_is_no_term_of_a_payload_is_4002(sent: str | bytes) -> None:
    for query in QUERIES:
        node, _ = create_node(World())
        peer = Peer(node, query)
        peer.send(sent)
        assert await peer.close_code() == 4002


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"op": 99}, 4001),
        ({"op": 3, "d": {"status": "online"}}, 4003),
        ({"op": 2, "d": {"token": "nobody"}}, 4004),
        ({"op": 2, "d": {"token": "bot", "intents": 1, "shard": [1, 1]}}, 4010),
    ],
)
async def test_a_term_of_an_invalid_payload_closes_as_json_does(payload: Any, code: int) -> None:
    node, _ = create_node(World())
    peer = Peer(node, QUERIES[0])
    peer.send(payload)
    assert await peer.close_code() == code


_payloads = st.fixed_dictionaries({"op": st.sampled_from([1, 2, 3, 4, 6, 8, 31, 43])}, optional={"d": _values})


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(_payloads | st.binary(max_size=60) | _values, max_size=4), identified=st.booleans())
async def test_no_term_of_a_client_is_an_error_of_the_server(
    messages: list[Any], identified: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    node, _ = create_node(World())
    peer = Peer(node, QUERIES[0])
    if identified:
        await peer.identify("alice")
    for each in messages:
        peer.send(each if isinstance(each, bytes) else terms.pack(each))
    await run_pending()
    peer.drop()
    await peer.task
    peer.end()
    await peer.receive_until_closed()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert peer.closed in {0, 4001, 4002, 4003, 4004, 4005, 4007, 4010, 4013, 4014}
