"""Encoding of envelopes for the outbox and the stream."""

from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.bus.batches import BatchNumbers, BatchPosition
from moothall.bus.packing import Unpacked, Unpacker, decode_envelope, encode_envelope, pack
from moothall.objects.ids import Snowflake, UserId

ALICE, BOB = "a" * 16, "b" * 16


def envelope(text: str, **fields: object) -> Envelope:
    return Envelope(name="TEST", data=Raw(b'"%b"' % text.encode()), audience=Audience.GUILD, **fields)  # type: ignore[arg-type]


def encoded(*texts: str) -> list[bytes]:
    return [encode_envelope(envelope(text)) for text in texts]


def texts(batch: Unpacked | None) -> list[str]:
    assert batch is not None
    return [bytes(e.data).decode().strip('"') for e in batch.envelopes]


def test_an_envelope_arrives_with_everything_that_routes_it() -> None:
    sent = envelope("x", guild_id=Snowflake(1 << 60), channel_id=2, thread_id=3, user_ids=[Snowflake(4)], intent=5)
    sent.permission, sent.stripped, sent.exempt = 1 << 50, Raw(b"{}"), [UserId(Snowflake(6))]
    sent.state_version = 9
    (message,) = pack(ALICE, [7], [encode_envelope(sent)], max_bytes=10_000)
    arrived = Unpacker().unpack(message)
    assert arrived == Unpacked([7], [sent], None)
    assert arrived is not None
    (routed,) = arrived.envelopes
    assert {type(user_id) for user_id in (routed.guild_id, *routed.user_ids)} == {Snowflake}


def test_an_envelope_that_an_earlier_version_left_in_the_outbox_has_no_id_of_zero() -> None:
    stored = decode_envelope(b'["TEST",{},3,0,0,0,[4],0,0,null,[]]')
    assert (stored.guild_id, stored.channel_id, stored.thread_id, stored.user_ids) == (None, None, None, [4])
    assert stored.state_version == 0


def test_small_envelopes_share_a_message_and_no_message_is_longer_than_allowed() -> None:
    many = encoded(*(str(n) * 20 for n in range(100)))
    messages = list(pack(ALICE, range(100), many, max_bytes=1_000))
    assert max(map(len, messages)) <= 1_000
    assert len(messages) < 15
    unpacker = Unpacker()
    batches = [unpacker.unpack(message) for message in messages]
    assert [n for batch in batches if batch for n in batch.numbers] == list(range(100))
    assert [text for batch in batches for text in texts(batch)] == [str(n) * 20 for n in range(100)]


def test_each_message_of_a_batch_has_its_position_and_none_is_longer_than_allowed() -> None:
    batch = BatchNumbers((1 << 63) - 1, (1 << 63) - 2)
    many = encoded(*("x" * 300 for _ in range(20)), "y" * 2_000, "z")
    messages = list(pack(ALICE, range(22), many, max_bytes=1_000, batch=batch))
    assert max(map(len, messages)) <= 1_000
    unpacker = Unpacker()
    unpacked = [each for each in map(unpacker.unpack, messages) if each is not None]
    assert len(unpacked) > 3
    assert [each.position for each in unpacked] == [
        BatchPosition(batch.previous, batch.number, index, is_last=index + 1 == len(unpacked))
        for index in range(len(unpacked))
    ]
    assert [n for each in unpacked for n in each.numbers] == list(range(22))


def test_an_envelope_longer_than_a_message_is_sent_in_fragments_that_may_be_interleaved() -> None:
    long = "x" * 5_000
    fragments = list(pack(ALICE, [], encoded(long), max_bytes=1_000))
    assert len(fragments) > 2
    (other,) = pack(BOB, [], encoded("short"), max_bytes=1_000)
    unpacker = Unpacker()
    assert unpacker.unpack(fragments[0]) is None
    assert texts(unpacker.unpack(other)) == ["short"]
    assert [unpacker.unpack(fragment) for fragment in fragments[1:-1]] == [None] * (len(fragments) - 2)
    assert texts(unpacker.unpack(fragments[-1])) == [long]


def test_fragments_without_the_last_one_do_not_affect_later_messages() -> None:
    long = "x" * 5_000
    fragments = list(pack(ALICE, [], encoded(long), max_bytes=1_000))
    unpacker = Unpacker()
    unpacker.unpack(fragments[0])
    unpacker.unpack(fragments[1])
    again = [unpacker.unpack(fragment) for fragment in fragments]
    assert texts(again[-1]) == [long]
    assert unpacker.unpack(fragments[-1]) is None


def test_a_batch_without_envelopes_makes_no_message() -> None:
    assert list(pack(ALICE, [], [], max_bytes=1_000)) == []
