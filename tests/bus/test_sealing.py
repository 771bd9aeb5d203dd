"""Sealed messages: read by those who have the key, once, in their order."""

import pytest

from moothall.bus.sealing import MAX_AGE_MS, Seal, Unauthentic, UnknownKey

KEY, OTHER = bytes(32), bytes([1]) * 32
CONTEXT = b"moothall.space.events"
NOW = 1_800_000_000_000


def seal(*keys: bytes, now: int = NOW) -> Seal:
    return Seal(keys or (KEY,), lambda: now)


def test_what_is_sealed_is_opened_by_another_process_with_the_key_and_hides_its_text() -> None:
    sender, receiver = seal(), seal()
    for number in range(3):
        sealed = sender.seal(b"secret text %d" % number, CONTEXT)
        assert b"secret" not in sealed
        assert len(sealed) == len(b"secret text 0") + 53
        assert receiver.open(sealed, CONTEXT, NOW) == b"secret text %d" % number


def test_each_bit_of_a_message_is_authenticated() -> None:
    sealed = seal().seal(b"text", CONTEXT)
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises(Unauthentic):
            seal().open(bytes(changed), CONTEXT, NOW)
    for size in range(len(sealed)):
        with pytest.raises(Unauthentic):
            seal().open(sealed[:size], CONTEXT, NOW)


def test_a_message_for_another_stream_is_refused() -> None:
    with pytest.raises(Unauthentic):
        seal().open(seal().seal(b"text", b"moothall.other.events"), CONTEXT, NOW)


def test_a_message_is_opened_once_and_an_older_one_of_its_sender_never() -> None:
    sender, receiver = seal(), seal()
    first, second = sender.seal(b"1", CONTEXT), sender.seal(b"2", CONTEXT)
    assert receiver.open(second, CONTEXT, NOW) == b"2"
    for replayed in (first, second):
        with pytest.raises(Unauthentic, match="received before"):
            receiver.open(replayed, CONTEXT, NOW)
    assert receiver.open(sender.seal(b"3", CONTEXT), CONTEXT, NOW) == b"3"


def test_a_copy_of_an_old_message_is_refused_by_a_process_that_has_just_started() -> None:
    old = seal().seal(b"text", CONTEXT)
    assert seal().open(old, CONTEXT, NOW + MAX_AGE_MS) == b"text"
    for stored in (NOW + MAX_AGE_MS + 1, NOW - MAX_AGE_MS - 1):
        with pytest.raises(Unauthentic):
            seal().open(old, CONTEXT, stored)


def test_a_refused_message_of_a_sender_does_not_affect_its_next_one() -> None:
    sender, receiver = seal(), seal()
    sealed = sender.seal(b"1", CONTEXT)
    forged = sealed[:-1] + bytes([sealed[-1] ^ 1])
    with pytest.raises(Unauthentic):
        receiver.open(forged, CONTEXT, NOW)
    assert receiver.open(sealed, CONTEXT, NOW) == b"1"


def test_processes_exchange_messages_while_the_key_is_rotated() -> None:
    before, between, after = seal(KEY), seal(KEY, OTHER), seal(OTHER, KEY)
    for sender, receiver in ((before, between), (between, before), (between, after), (after, between)):
        assert receiver.open(sender.seal(b"text", CONTEXT), CONTEXT, NOW) == b"text"
    with pytest.raises(UnknownKey):
        before.open(after.seal(b"text", CONTEXT), CONTEXT, NOW)


def test_the_senders_that_are_remembered_are_bounded_and_forged_ones_are_not_remembered() -> None:
    receiver = seal()
    sealed = seal().seal(b"text", CONTEXT)
    for number in range(100):
        forged = sealed[:5] + number.to_bytes(16, "big") + sealed[21:]
        with pytest.raises(Unauthentic):
            receiver.open(forged, CONTEXT, NOW)
    assert len(receiver._senders) == 0
    for _ in range(1_100):
        receiver.open(seal().seal(b"text", CONTEXT), CONTEXT, NOW)
    assert len(receiver._senders) == 1_024
