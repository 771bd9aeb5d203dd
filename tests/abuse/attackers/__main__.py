"""Run attackers: `python -m tests.abuse.attackers SECONDS NICE NAME...`, with Targets as JSON on standard input."""

import asyncio
import importlib
import sys

import msgspec

from tests.abuse.priority import defer
from tests.abuse.target import Target


async def _attack(names: list[str], targets: list[Target], seconds: float) -> None:
    async with asyncio.TaskGroup() as group:
        for name, target in zip(names, targets, strict=True):
            module = importlib.import_module(f"{__package__}.{name}")
            group.create_task(module.attack(target, seconds), name=name)


def main() -> None:
    """Read the targets, say "ready", and attack at a lower priority."""
    seconds, niceness, *names = sys.argv[1:]
    defer(int(niceness))
    targets = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Target])
    for name in names:
        importlib.import_module(f"{__package__}.{name}")
    print("ready", flush=True)
    asyncio.run(_attack(names, targets, float(seconds)))


main()
