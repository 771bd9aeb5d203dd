"""The order of the batches of the outbox: what is missing is noticed, and nothing else is taken for a loss."""

import random

import pytest

from moothall.bus.batches import BatchPosition, BatchSequence, Order

NEXT, STALE, GAP = Order.NEXT, Order.STALE, Order.GAP


def whole(number: int, previous: int) -> BatchPosition:
    """A batch in one message."""
    return BatchPosition(previous, number, 0, is_last=True)


def several(number: int, previous: int, count: int) -> list[BatchPosition]:
    """A batch in several messages."""
    return [BatchPosition(previous, number, index, is_last=index + 1 == count) for index in range(count)]


@pytest.mark.parametrize(
    ("received", "orders"),
    [
        ([whole(6, 5), whole(7, 6), whole(9, 7)], [NEXT, NEXT, NEXT]),
        ([*several(6, 5, 3), whole(7, 6)], [NEXT] * 4),
        # The attempt 6 was rolled back, whole or in part, and 7 carries what it did.
        ([whole(6, 5), whole(7, 5), whole(8, 7)], [NEXT, NEXT, NEXT]),
        ([several(6, 5, 3)[0], whole(7, 5), whole(8, 7)], [NEXT, NEXT, NEXT]),
        # It is stored late, after the one that replaced it.
        ([whole(7, 5), whole(6, 5), whole(8, 7)], [NEXT, STALE, NEXT]),
        # What was published before this process began.
        ([whole(5, 4), several(5, 4, 2)[1], whole(3, 2), whole(6, 5)], [STALE, STALE, STALE, NEXT]),
        # One batch is lost, or several.
        ([whole(7, 6), whole(8, 7)], [GAP, NEXT]),
        ([whole(6, 5), whole(9, 8), whole(10, 9)], [NEXT, GAP, NEXT]),
        # The attempt that replaced 6 is lost.
        ([whole(6, 5), whole(8, 7)], [NEXT, GAP]),
        # Messages of a batch are lost: the first, one in the middle, the last.
        (several(6, 5, 3)[1:], [GAP, NEXT]),
        ([several(6, 5, 3)[0], several(6, 5, 3)[2], whole(7, 6)], [NEXT, GAP, NEXT]),
        ([*several(6, 5, 3)[:2], whole(7, 6)], [NEXT, NEXT, GAP]),
    ],
)
def test_a_message_follows_what_was_received_or_something_is_missing(
    received: list[BatchPosition], orders: list[Order]
) -> None:
    sequence = BatchSequence(5)
    assert [sequence.add(position) for position in received] == orders


def test_the_last_batch_counts_as_received_once_all_of_it_is() -> None:
    sequence = BatchSequence(5)
    assert sequence.has(5)
    assert not sequence.has(6)
    for position in several(6, 5, 2):
        assert not sequence.has(6)
        sequence.add(position)
    assert sequence.has(6)


def test_a_database_that_has_lost_batches_is_noticed_and_one_that_rolled_back_an_attempt_is_not_taken_for_one() -> None:
    sequence = BatchSequence(5)
    sequence.add(whole(6, 5))
    assert not sequence.is_ahead_of(5)  # the transaction of 6 is not over yet, or was rolled back
    sequence.add(whole(7, 6))
    assert sequence.is_ahead_of(5)
    sequence.restart(5)
    assert not sequence.is_ahead_of(5)
    assert sequence.add(whole(6, 5)) is NEXT


@pytest.mark.parametrize("seed", range(200))
def test_whatever_is_lost_is_noticed_at_the_next_batch_and_nothing_lost_is_no_gap(seed: int) -> None:
    chance = random.Random(seed)
    committed, number = 0, 0
    stream: list[tuple[BatchPosition, bool]] = []
    for _ in range(30):
        number += chance.randint(1, 2)
        messages = several(number, committed, chance.randint(1, 3))
        commits = chance.random() < 0.7
        if not commits:
            messages = messages[: chance.randint(0, len(messages))]
        stream += [(message, commits) for message in messages]
        committed = number if commits else committed
    sequence = BatchSequence(0)
    assert all(sequence.add(message) is NEXT for message, _ in stream)
    start = chance.randrange(len(stream))
    end = start + chance.randint(1, 6)
    lost = stream[start:end]
    sequence = BatchSequence(0)
    orders = [sequence.add(message) for message, _ in stream[:start] + stream[end:]]
    if any(commits for _, commits in lost):
        assert GAP in orders or not sequence.has(committed)
