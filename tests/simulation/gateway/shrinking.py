"""Makes a failing case smaller: fewer steps and fewer faults, while the same promise is broken."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from tests.simulation.gateway.simulation import STEPS, Case, simulate

T = TypeVar("T", int, str)


def smallest(case: Case) -> tuple[Case, str]:
    """The smallest case that is found to fail as a case does, and its failure."""
    first = simulate(case)
    kind = _kind(first.failure)

    def fails(smaller: Case) -> bool:
        return _kind(simulate(smaller).failure) == kind

    steps = _fewest(
        [number for number in range(STEPS) if number not in case.left_out_steps],
        lambda kept: fails(replace(case, left_out_steps=frozenset(range(STEPS)) - frozenset(kept))),
    )
    case = replace(case, left_out_steps=frozenset(range(STEPS)) - frozenset(steps))
    names = simulate(case).fault_names

    def suppress(kept: Sequence[str]) -> Case:
        return replace(case, suppressed=case.suppressed | (frozenset(names) - frozenset(kept)))

    case = suppress(_fewest(names, lambda kept: fails(suppress(kept))))
    return case, simulate(case).failure


def shrink(case: Case) -> str:
    """Describe the smallest case that is found to fail as a case does."""
    case, failure = smallest(case)
    steps = [number for number in range(STEPS) if number not in case.left_out_steps]
    names = simulate(case).fault_names
    return f"seed {case.seed} fails with {len(steps)} of {STEPS} steps {steps} and the faults {names}: {failure}"


def _kind(failure: str) -> str:
    """A failure without its numbers."""
    return re.sub(r"\d+", "", failure).split(":")[0]


def _fewest(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """Leave out runs of items, ever shorter ones, while it still fails."""
    kept = list(items)
    size = max(1, len(kept) // 2)
    while True:
        start = 0
        while start < len(kept):
            fewer = kept[:start] + kept[start + size :]
            if fails(fewer):
                kept = fewer
            else:
                start += size
        if size == 1:
            return kept
        size //= 2
