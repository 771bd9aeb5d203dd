"""Seeds of the whole platform: clients work while power, processes, disk and connections fail."""

import os
import subprocess
import sys

import pytest

from tests.simulation.platform.history import History
from tests.simulation.platform.simulation import simulate

SEEDS = int(os.environ.get("SIMULATION_SEEDS", "3"))
"""How many seeds the suite runs; `make simulate` runs as many as one likes."""


@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
def test_no_seed_breaks_a_promise(seed: int) -> None:
    assert simulate(seed).failure == ""


def test_a_seed_repeats_bit_for_bit_in_another_process() -> None:
    program = (
        "from tests.simulation.platform.simulation import simulate\n"
        "result = simulate(2); print(result.trace, result.requests, result.faults)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": "0"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1


KEY = ("message", "m1")


def _problems(*, reads: list[tuple[str | None, float, float]], unknown: bool = False) -> list[str]:
    history = History()
    history.write(KEY, "one", 1.0, 2.0)
    history.write(KEY, "two", 3.0, 4.0, known=not unknown)
    for value, request, response in reads:
        history.read(KEY, value, request, response)
    return list(history.problems())


@pytest.mark.parametrize(
    ("reads", "unknown", "explained"),
    [
        ([("one", 2.5, 2.6)], False, True),
        ([("two", 5.0, 6.0)], False, True),
        ([("one", 3.5, 3.6), ("two", 3.5, 3.6)], False, True),
        ([("one", 5.0, 6.0)], False, False),
        ([("one", 5.0, 6.0)], True, True),
        ([("two", 5.0, 5.1), ("one", 6.0, 6.1)], True, False),
        ([(None, 5.0, 6.0)], False, False),
        ([("three", 5.0, 6.0)], False, False),
        ([("two", 2.1, 2.2)], False, False),
        ([("two", 3.1, 3.2), ("one", 3.3, 3.4)], False, False),
    ],
)
def test_a_read_returns_what_was_in_force_during_it(
    reads: list[tuple[str | None, float, float]], unknown: bool, explained: bool
) -> None:
    assert (_problems(reads=reads, unknown=unknown) == []) is explained


OTHER = ("message", "m2")


def _page(first: str | None, second: str | None, *, request: float = 0.5, response: float = 9.0) -> list[str]:
    """The problems of a page with two messages, which were created one after the other, the first one from 1 to 2."""
    history = History()
    history.write(KEY, "one", 1.0, 2.0)
    history.write(OTHER, "two", 3.0, 4.0)
    page = history.new_page()
    history.read(KEY, first, request, response, page)
    history.read(OTHER, second, request, response, page)
    return list(history.problems())


def test_a_page_shows_its_messages_as_they_were_at_one_moment() -> None:
    assert _page("one", None) == []
    assert _page("one", "two") == []
    assert _page(None, None) == []
    assert len(_page(None, "two")) == 1


@pytest.mark.parametrize(
    ("released", "claimed", "unique"),
    [((3.0, 4.0), (5.0, 6.0), True), ((4.0, 6.0), (5.0, 7.0), True), ((7.0, 8.0), (5.0, 6.0), False)],
)
def test_what_is_unique_is_given_to_another_once_it_may_be_free(
    released: tuple[float, float], claimed: tuple[float, float], unique: bool
) -> None:
    one, other = ("vanity code", "1"), ("vanity code", "2")
    history = History()
    history.write(one, "hall", 1.0, 2.0)
    history.write(one, None, *released)
    history.write(other, "hall", *claimed)
    assert (list(history.shared([one, other])) == []) is unique
