"""Planted bugs: each can be planted, and a simulation fails with it."""

import sys

import pytest

import moothall.objects.ids  # noqa: F401 it cannot be planted any more
from tests.simulation.gateway.mutants import MUTANTS as OF_THE_GATEWAY
from tests.simulation.mutation import Mutant, by_name, plant, read_table, search
from tests.simulation.platform.mutants import MUTANTS
from tests.simulation.platform.world import stored_image

_CHEAP = (
    "a failed sync is acknowledged",
    "the audience of a channel is the whole guild",
    "an edit is announced and not stored",
)
"""Planted bugs that the first seeds find."""

_MAX_MISSED = 0
"""Planted bugs that no seed has found: this number may only fall."""


@pytest.mark.parametrize("mutant", [*MUTANTS, *OF_THE_GATEWAY], ids=lambda mutant: mutant.name)
def test_each_planted_bug_changes_one_place_of_the_present_source(mutant: Mutant) -> None:
    compile(mutant.source(), mutant.file, "exec")


def test_the_table_has_each_planted_bug_and_a_seed_for_nearly_all() -> None:
    table = read_table("platform")
    assert table.keys() == {mutant.name for mutant in MUTANTS}
    missed = [name for name, seed in table.items() if seed is None]
    assert len(missed) <= _MAX_MISSED, missed


@pytest.mark.parametrize("name", _CHEAP)
def test_one_of_the_first_seeds_finds_the_planted_bug(name: str) -> None:
    # Which one it is depends on the endpoints that there are.
    with stored_image() as environment:
        assert search("platform", by_name(MUTANTS, name), count=12, environment=environment).failure


def test_a_bug_is_not_planted_where_its_text_is_not_or_its_file_is_imported() -> None:
    with pytest.raises(LookupError):
        Mutant("nothing", "app/application.py", "a text that is nowhere", "").source()
    assert "moothall.objects.ids" in sys.modules
    with pytest.raises(RuntimeError):
        plant(Mutant("late", "objects/ids.py", "", ""))
