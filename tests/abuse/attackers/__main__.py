"""Run one attacker: `python -m tests.abuse.attackers NAME SECONDS`, with a Target as JSON on its standard input."""

import asyncio
import importlib
import os
import sys

import msgspec

from tests.abuse.target import Target


def main() -> None:
    """Read the target and attack, at the lowest priority, so that the server and others have the processors."""
    name, seconds = sys.argv[1:]
    os.nice(19)
    target = msgspec.json.decode(sys.stdin.buffer.read(), type=Target)
    module = importlib.import_module(f"{__package__}.{name}")
    asyncio.run(module.attack(target, float(seconds)))


main()
