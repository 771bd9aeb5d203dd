"""`make chaos`: real faults against one process, workers and a cluster; prints what was done and what is wrong."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.availability import Availability
from tests.chaos.run import run
from tests.chaos.topologies import TOPOLOGIES


@contextmanager
def _folder(kept: Path | None) -> Iterator[str]:
    """A folder for a run, below `kept` if it is to stay."""
    if kept is None:
        with tempfile.TemporaryDirectory() as folder:
            yield folder
    else:
        kept.mkdir(parents=True, exist_ok=True)
        yield tempfile.mkdtemp(dir=kept)


def _print_availability(measured: Sequence[Availability]) -> None:
    """A line for each kind of fault: how often it happened, and the longest times that it cost."""
    names = sorted({each.fault for each in measured})
    print("  times  seconds without: any write, any delivery; until all is back: writes, delivery")
    for name in names:
        group = [each for each in measured if each.fault == name]
        columns = [
            max(each.writes_paused for each in group),
            max(each.delivery_paused for each in group),
            max((each.writes_back or 0.0 for each in group), default=0.0),
            max((each.delivery_back or 0.0 for each in group), default=0.0),
        ]
        print(f"  {len(group):5}  {' '.join(f'{seconds:5.1f}' for seconds in columns)}  {name}")


def main() -> None:
    """Run what is asked for; the exit code is 1 if the auditor finds anything."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("topologies", nargs="*", metavar="TOPOLOGY", help=f"of {', '.join(TOPOLOGIES)}; all without")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long faults happen to each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="let only this fault happen")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the data and logs there")
    options = parser.parse_args()
    wrong = 0
    for name in options.topologies or TOPOLOGIES:
        with _folder(options.keep) as folder:
            made, verdict = asyncio.run(
                run(name, Path(folder), seconds=options.seconds, seed=options.seed, only=options.only)
            )
        print(f"{name}, seed {options.seed}")
        _print_availability(made.availability)
        for fault, reason in made.topology.missing().items():
            print(f"  left out: {fault}, since {reason}")
        for what, count in sorted(verdict.counts.items()):
            print(f"  {count:6} {what}")
        for problem in verdict.problems[:20]:
            print(f"  WRONG: {problem}")
        wrong += len(verdict.problems)
        print(f"  {len(verdict.problems)} problems", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
