"""The version stands in two places."""

from importlib.metadata import version

import moothall


def test_the_program_and_the_distribution_have_one_version() -> None:
    assert moothall.__version__ == version("moothall")
