"""How long a fault keeps the platform from serving: measured by what clients were answered and received."""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from tests.chaos.history import Call, Epoch, Fault, History, Outcome

Key = TypeVar("Key", bound=Hashable)

MAX_SECONDS = 15.0
"""How long each of the times of `Availability` may be."""


@dataclass(frozen=True)
class Availability:
    """The seconds that a fault cost. A time after the fault is None if the run ended before."""

    fault: str
    writes_paused: float
    """The longest time, from the beginning of the fault on, in which no node acknowledged a write."""
    delivery_paused: float
    """The longest time in which no session received a message."""
    writes_back: float | None
    """From the end of the fault until each node had acknowledged a write that was sent after it."""
    delivery_back: float | None
    """From the end of the fault until each client had received a message that was sent after it."""

    @property
    def has_recovered(self) -> bool:
        """Whether all nodes and clients are served again."""
        return self.writes_back is not None and self.delivery_back is not None


def measure(history: History, fault: Fault, nodes: int, listeners: Sequence[str], until: float) -> Availability:
    """Measure what a fault cost until a moment; `nodes` and `listeners` have to be served."""
    writes_back = _last(_first_writes(history.calls, fault.healed, nodes), fault.healed)
    delivery_back = _last(_first_receipts(history, fault.healed, listeners), fault.healed)
    acknowledged = [call.ended for call in history.calls if call.outcome is Outcome.DONE]
    return Availability(
        fault.name,
        _longest_pause(acknowledged, fault.began, until),
        _longest_pause([moment for moment, _, _ in _receipts(history.epochs, fault.began)], fault.began, until),
        writes_back,
        delivery_back,
    )


def judge_availability(measured: Sequence[Availability], max_seconds: float) -> Iterator[str]:
    """Yield a sentence for each time that is too long."""
    for each in measured:
        for what, seconds in (
            ("no node acknowledged a write", each.writes_paused),
            ("no session received a message", each.delivery_paused),
            ("a node acknowledged no write afterwards", each.writes_back),
            ("a client received no message afterwards", each.delivery_back),
        ):
            if seconds is None or seconds > max_seconds:
                yield f"{each.fault}: {what}{'' if seconds is None else f' for {seconds:.1f} s'}"


def _first_writes(calls: Sequence[Call], since: float, nodes: int) -> list[float | None]:
    """For each node, when it first acknowledged a write that was sent since a moment."""
    moments = _by_key(
        (call.node, call.ended) for call in calls if call.outcome is Outcome.DONE and call.started >= since
    )
    return [moments.get(node) for node in range(nodes)]


def _first_receipts(history: History, since: float, listeners: Sequence[str]) -> list[float | None]:
    """For each listener, when it first received a message that was sent since a moment."""
    markers = {call.target for call in history.of_kind("create") if call.started >= since}
    receipts = _receipts(history.epochs, since)
    moments = _by_key((listener, moment) for moment, listener, marker in receipts if marker in markers)
    return [moments.get(listener) for listener in listeners]


def _receipts(epochs: Sequence[Epoch], since: float) -> Iterator[tuple[float, str, str]]:
    """When which listener received which message, since a moment."""
    for epoch in epochs:
        start = bisect_left(epoch.received, since)
        for moment, (_, name, data) in zip(epoch.received[start:], epoch.events[start:], strict=True):
            if name == "MESSAGE_CREATE":
                yield moment, epoch.listener, data["content"]


def _by_key(moments: Iterator[tuple[Key, float]]) -> dict[Key, float]:
    first: dict[Key, float] = {}
    for key, moment in moments:
        first[key] = min(moment, first.get(key, moment))
    return first


def _last(moments: Sequence[float | None], since: float) -> float | None:
    return None if None in moments else max((moment - since for moment in moments if moment is not None), default=0.0)


def _longest_pause(moments: Sequence[float], start: float, end: float) -> float:
    within = sorted(moment for moment in moments if start < moment < end)
    return max(after - before for before, after in pairwise([start, *within, end]))
