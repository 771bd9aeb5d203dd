"""Makes a failing run smaller: fewer operations and fewer faults, while the same promise is broken."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.simulation.platform.simulation import STEPS, Result


class Smaller(NamedTuple):
    """A run with less in it that fails as the whole one does."""

    operations: dict[str, str]
    """The steps that are left, with what each does."""
    faults: list[str]
    failure: str


def smallest(seed: int, simulate: Callable[..., Result]) -> Smaller:
    """The smallest run of a seed that is found to fail as the seed does with a `simulate`."""
    first = simulate(seed)
    kind = kind_of(first.failure)

    def fails(operations: Sequence[str], faults: Sequence[str]) -> bool:
        return kind_of(run(operations, faults).failure) == kind

    def run(operations: Sequence[str], faults: Sequence[str]) -> Result:
        return simulate(seed, left_out=set(STEPS) - set(operations), suppressed=set(first.fault_names) - set(faults))

    faults = first.fault_names if not fails(STEPS, ()) else []
    operations = _fewest(STEPS, lambda kept: fails(kept, faults))
    faults = _fewest(faults, lambda kept: fails(operations, kept))
    return Smaller({step: first.operations[step] for step in operations}, faults, run(operations, faults).failure)


def kind_of(failure: str) -> str:
    """A failure without what differs from run to run: its first words, without numbers and quoted texts."""
    return re.sub(r"'[^']*'|\d+|[\w ]+/\d", "", failure.split("\n", 1)[0])[:60]


def _fewest(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """Leave out runs of items, ever shorter ones, while it still fails."""
    kept = list(items)
    size = max(1, len(kept) // 2)
    while kept:
        start = 0
        while start < len(kept):
            fewer = kept[:start] + kept[start + size :]
            if fails(fewer):
                kept = fewer
            else:
                start += size
        if size == 1:
            break
        size //= 2
    return kept
