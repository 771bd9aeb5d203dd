"""Planted bugs: each can be planted, and a simulation fails with it."""

import sys

import pytest

import moothall.objects.ids  # noqa: F401 it cannot be planted any more
from tests.simulation.mutation import Mutant, plant
from tests.simulation.platform.mutants import MUTANTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_planted_bug_changes_one_place_of_the_present_source(mutant: Mutant) -> None:
    compile(mutant.source(), mutant.file, "exec")


def test_a_bug_is_not_planted_where_its_text_is_not_or_its_file_is_imported() -> None:
    with pytest.raises(LookupError):
        Mutant("nothing", "app.py", "a text that is nowhere", "").source()
    assert "moothall.objects.ids" in sys.modules
    with pytest.raises(RuntimeError):
        plant(Mutant("late", "objects/ids.py", "", ""))
