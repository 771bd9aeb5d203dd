"""Run seeds of the whole platform: `python -m tests.simulation --kind platform --seed 1 --count 100`."""

import argparse
import sys
import time
from collections import Counter

from tests.simulation.platform.shrinking import smallest
from tests.simulation.platform.simulation import simulate


def main() -> int:
    """Run the seeds from `--seed` on; stop at the first failure, or with `--all` list them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0, help="seeds to run; 0: until interrupted")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    parser.add_argument("--shrink", action="store_true", help="look for the smallest run that fails alike")
    options = parser.parse_args()
    started, totals, failed, done = time.perf_counter(), Counter[str](), 0, 0
    faults, accepted = Counter[str](), Counter[str]()
    seed = options.seed
    try:
        while not options.count or done < options.count:
            result = simulate(seed)
            done += 1
            totals.update(
                seconds=round(result.seconds), requests=result.requests, events=result.events, starts=result.starts
            )
            faults.update(result.faults)
            accepted.update(result.accepted)
            if result.failure:
                failed += 1
                print(f"seed {seed}: {result.failure}", flush=True)
                if not options.all:
                    break
            seed += 1
    except KeyboardInterrupt:
        pass
    taken = time.perf_counter() - started
    print(
        f"{done} seeds in {taken:.0f} s, {totals['seconds'] / 3600:.1f} virtual hours, {totals['requests']} requests "
        f"({len(accepted)} kinds accepted), {totals['events']} dispatches, {totals['starts']} starts, "
        f"{sum(faults.values())} faults {dict(faults)}, {failed} failed"
    )
    if failed and options.shrink:
        smaller = smallest(seed)
        print(f"seed {seed} with {smaller.operations} and {smaller.faults}: {smaller.failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
