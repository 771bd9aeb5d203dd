"""The times that a fault costs are measured from what clients know, and those that are too long are reported."""

import pytest

from tests.chaos.availability import Availability, judge_availability, measure
from tests.chaos.history import Call, Epoch, Fault, History, Outcome

FAULT = Fault("outage", began=10.0, healed=14.0)


def created(marker: str, node: int, started: float, ended: float, outcome: Outcome = Outcome.DONE) -> Call:
    """A call that created a message."""
    return Call("create", marker, "writer", started, ended, outcome, node=node)


def heard(listener: str, *messages: tuple[float, str]) -> Epoch:
    """A session that received messages."""
    epoch = Epoch(listener, 0, started=0.0)
    for seq, (moment, marker) in enumerate(messages):
        epoch.events.append((seq, "MESSAGE_CREATE", {"content": marker}))
        epoch.received.append(moment)
    return epoch


def measured(calls: list[Call], epochs: list[Epoch], until: float = 20.0) -> Availability:
    history = History()
    history.calls, history.epochs = calls, epochs
    return measure(history, FAULT, nodes=2, listeners=["alice", "bob"], until=until)


def test_all_is_back_once_each_node_wrote_and_each_client_received_what_was_sent_after_the_fault() -> None:
    calls = [created("m1", 0, 14.5, 15.0), created("m2", 1, 14.5, 17.0), created("m3", 0, 15.0, 15.5)]
    epochs = [heard("alice", (15.5, "m1"), (17.0, "m2")), heard("bob"), heard("bob", (18.0, "m2"))]
    result = measured(calls, epochs)
    assert (result.writes_back, result.delivery_back) == (3.0, 4.0)
    assert result.has_recovered


def test_what_was_sent_before_the_end_of_a_fault_does_not_show_that_all_is_back() -> None:
    calls = [created("m1", 0, 14.5, 15.0), created("m2", 1, 13.5, 15.0)]
    epochs = [heard("alice", (15.0, "m1")), heard("bob", (16.0, "m2"))]
    result = measured(calls, epochs)
    assert (result.writes_back, result.delivery_back) == (None, None)
    assert not result.has_recovered


def test_a_refused_or_unanswered_write_is_not_acknowledged() -> None:
    calls = [
        created("m1", 0, 14.5, 15.0),
        created("m2", 1, 14.5, 15.0, Outcome.UNKNOWN),
        created("m3", 1, 15.0, 15.5, Outcome.REFUSED),
    ]
    assert measured(calls, []).writes_back is None


def test_a_pause_is_one_of_all_nodes_and_all_sessions_from_the_beginning_of_the_fault_on() -> None:
    calls = [created("m0", 0, 2.0, 3.0), created("m1", 0, 9.0, 11.0), created("m2", 1, 11.0, 13.0)]
    epochs = [heard("alice", (11.5, "m1")), heard("bob", (12.0, "m1"), (18.0, "m2"))]
    result = measured(calls, epochs)
    assert (result.writes_paused, result.delivery_paused) == (7.0, 6.0)
    assert measured([], []).writes_paused == 10.0


@pytest.mark.parametrize(
    ("result", "sentences"),
    [
        (Availability("outage", 5.0, 5.0, 5.0, 5.0), []),
        (Availability("outage", 5.1, 5.0, 5.0, 5.0), ["outage: no node acknowledged a write for 5.1 s"]),
        (Availability("outage", 5.0, 6.0, 5.0, 5.0), ["outage: no session received a message for 6.0 s"]),
        (
            Availability("outage", 5.0, 5.0, 7.0, None),
            [
                "outage: a node acknowledged no write afterwards for 7.0 s",
                "outage: a client received no message afterwards",
            ],
        ),
    ],
)
def test_each_time_that_is_too_long_is_reported(result: Availability, sentences: list[str]) -> None:
    assert list(judge_availability([result], max_seconds=5.0)) == sentences
