"""`make chaos`: real faults against one process, workers and a cluster; prints what was done and what is wrong."""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
        for fault, times in Counter(made.history.faults).most_common():
            print(f"  {times:3} times {fault}")
        for what, count in sorted(verdict.counts.items()):
            print(f"  {count:6} {what}")
        for problem in verdict.problems[:20]:
            print(f"  WRONG: {problem}")
        wrong += len(verdict.problems)
        print(f"  {len(verdict.problems)} problems", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
