"""One module for each attacker: a docstring that says what it does, and an `attack` function.

Its signature is `async def attack(target: Target, seconds: float) -> None`. An attacker ends by itself after
`seconds`, bounds what it holds, sends to `target` alone, and goes on when it is refused or disconnected. What it raises
is its own failure and fails the run.
"""

from pathlib import Path
from typing import Final

ATTACKERS: Final = tuple(
    sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
)
"""The names of all attackers."""
