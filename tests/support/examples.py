"""How many examples a property is tried with: few in every run of the suite, many in `make fuzz`."""

import os
from typing import Final

_FUZZING: Final = "FUZZ_EXAMPLES" in os.environ


def examples(suite: int, fuzz: int) -> int:
    """The number of examples of a property that has held for long."""
    return fuzz if _FUZZING else suite
