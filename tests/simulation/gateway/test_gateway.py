"""The gateway under seeded faults: every session has what it may see, or is told to identify anew."""

from collections.abc import Iterable
from functools import cache

import pytest

from moothall.gateway.audience import dispatcher
from moothall.gateway.sessions.session import Session
from tests.simulation import mutation
from tests.simulation.gateway.client import STATES
from tests.simulation.gateway.mutants import MUTANTS
from tests.simulation.gateway.platform import NATS
from tests.simulation.gateway.shrinking import smallest
from tests.simulation.gateway.simulation import STEPS, Case, Result, simulate

_CHUNK = 25
_CROWDED = 149
"""A seed with more sessions than an event is dispatched to at once."""
_MUTANTS = (
    "RESUME leaves out the first missed event",
    "the audience of a channel is the whole guild",
    "each slice of an audience leaves out a session",
)
"""Planted bugs that are found soon."""


@cache
def _results(first: int, count: int) -> list[Result]:
    return [simulate(Case(seed)) for seed in range(first, first + count)]


def _failures(results: Iterable[Result]) -> list[str]:
    return [f"seed {result.seed} ({result.mode}): {result.failure}" for result in results if result.failure]


@pytest.mark.parametrize("first", range(1, 1 + 3 * _CHUNK, _CHUNK))
def test_every_session_has_what_it_may_see_or_is_told_to_identify_anew(first: int) -> None:
    assert _failures(_results(first, _CHUNK)) == []


def test_so_does_each_of_more_sessions_than_an_event_is_dispatched_to_at_once() -> None:
    results = _results(_CROWDED, 1)
    assert _failures(results) == []
    assert results[0].clients > dispatcher._MAX_UNSLICED


def test_nodes_share_a_bus_that_loses_repeats_and_reorders_messages() -> None:
    results = [result for result in _results(1, _CHUNK) if result.mode == NATS]
    assert results
    kinds = {kind for result in results for kind in result.faults}
    assert kinds >= {"a message is dropped", "a message is overtaken", "a message comes twice"}


@pytest.mark.parametrize("life", STATES)
def test_faults_strike_sessions_in_each_state_of_their_life(life: str) -> None:
    results = [*_results(1, _CHUNK), *_results(1 + _CHUNK, _CHUNK)]
    kinds = {kind for result in results for kind, state in result.struck if state == life}
    assert kinds >= {"reset", "close", "slow reader"}


def test_a_seed_repeats_bit_for_bit() -> None:
    def run() -> list[Result]:
        return [simulate(Case(seed)) for seed in range(1, 7)]

    first = run()
    assert first == run()
    assert all(result.events for result in first)


@pytest.mark.parametrize("name", _MUTANTS)
def test_a_planted_bug_is_found_by_the_seed_of_the_table(name: str) -> None:
    seed = mutation.read_table("gateway")[name]
    assert seed is not None
    assert mutation.search("gateway", mutation.by_name(MUTANTS, name), first=seed, count=1).seed == seed


def test_a_failure_is_shrunk_to_a_case_that_still_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    frames_after = Session.frames_after
    monkeypatch.setattr(Session, "frames_after", lambda session, seq: (frames_after(session, seq) or [])[1:])
    case, failure = smallest(Case(18))
    assert simulate(case).failure == failure
    assert STEPS - len(case.left_out_steps) < STEPS / 2
    assert failure
