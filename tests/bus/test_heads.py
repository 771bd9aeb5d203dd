"""The heads of received messages show where a stream has put others in their place."""

from moothall.bus.heads import ReceivedHeads


def _received(*heads: bytes) -> ReceivedHeads:
    received = ReceivedHeads()
    received.restart(0, b"")
    for number, head in enumerate(heads, 1):
        received.add(number, head)
    return received


def test_a_message_that_comes_again_contradicts_nothing() -> None:
    received = _received(b"one", b"two")
    assert not received.contradicts(1, b"one")
    assert not received.contradicts(2, b"two")
    assert received.to_compare() == [(2, b"two")]


def test_another_message_with_a_number_is_compared_though_later_ones_are_in_their_places() -> None:
    received = _received(b"one", b"two")
    assert received.contradicts(1, b"other")
    received.add(3, b"three")
    assert received.to_compare() == [(1, b"one"), (3, b"three")]


def test_what_was_received_before_a_restart_is_forgotten() -> None:
    received = _received(b"one", b"two")
    assert received.contradicts(2, b"other")
    received.restart(5, b"five")
    assert not received.contradicts(2, b"again")
    assert received.to_compare() == [(5, b"five")]
    received.restart(5, b"")
    assert received.to_compare() == []


def test_of_many_messages_the_newest_are_remembered() -> None:
    received = _received(*(b"%d" % number for number in range(5_000)))
    assert len(received._heads) == 1_000
    assert not received.contradicts(1, b"other")
    assert received.contradicts(4_999, b"other")
