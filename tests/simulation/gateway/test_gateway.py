"""The gateway under seeded faults: every session has what it may see, or is told to identify anew."""

from collections.abc import Iterable

import pytest

from tests.simulation.gateway.mutants import MUTANTS
from tests.simulation.gateway.shrinking import smallest
from tests.simulation.gateway.simulation import STEPS, Case, Result, simulate

_CHUNK = 25
_MUTANT_SEEDS = {
    "RESUME leaves out the first missed event": 1,
    "the audience of a channel is the whole guild": 1,
    "channels that a change reveals are not announced": 2,
}


def _failures(seeds: Iterable[int]) -> list[str]:
    results = [simulate(Case(seed)) for seed in seeds]
    return [f"seed {result.seed} ({result.mode}): {result.failure}" for result in results if result.failure]


@pytest.mark.parametrize("first", range(1, 1 + 4 * _CHUNK, _CHUNK))
def test_every_session_has_what_it_may_see_or_is_told_to_identify_anew(first: int) -> None:
    assert _failures(range(first, first + _CHUNK)) == []


def test_a_seed_repeats_bit_for_bit() -> None:
    def run() -> list[Result]:
        return [simulate(Case(seed)) for seed in range(1, 7)]

    first = run()
    assert first == run()
    assert all(result.events for result in first)


@pytest.mark.parametrize("name", _MUTANT_SEEDS)
def test_a_planted_bug_is_found(name: str) -> None:
    with MUTANTS[name]():
        assert simulate(Case(_MUTANT_SEEDS[name])).failure


def test_a_failure_is_shrunk_to_a_case_that_still_fails() -> None:
    with MUTANTS["RESUME leaves out the first missed event"]():
        case, failure = smallest(Case(1))
        assert simulate(case).failure == failure
    assert STEPS - len(case.left_out_steps) < STEPS / 2
    assert "RESUMED" in failure
