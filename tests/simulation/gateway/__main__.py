"""Run seeds: `python -m tests.simulation.gateway --seed 1 --count 1000`."""

import argparse
import sys
import time
from collections import Counter

from tests.simulation.gateway.shrinking import shrink
from tests.simulation.gateway.simulation import Case, simulate


def main() -> int:
    """Run the seeds from `--seed` on; stop at the first failure, or with `--all` list them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0, help="seeds to run; 0: until interrupted")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--without", default="", help="kinds of faults that do not happen, by commas")
    options = parser.parse_args()
    excluded = frozenset(filter(None, options.without.split(",")))
    started, seconds, events, failed, done = time.perf_counter(), 0.0, 0, 0, 0
    faults: Counter[str] = Counter()
    seed = options.seed
    try:
        while not options.count or done < options.count:
            result = simulate(Case(seed, excluded=excluded))
            done += 1
            seconds += result.seconds
            events += result.events
            faults.update(result.faults)
            if result.failure:
                failed += 1
                print(f"seed {seed} ({result.mode}): {result.failure}", flush=True)
                if not options.all:
                    break
            seed += 1
    except KeyboardInterrupt:
        pass
    taken = time.perf_counter() - started
    print(
        f"{done} seeds in {taken:.1f} s ({done / max(taken, 1e-9):.1f}/s), {seconds / 3600:.1f} virtual hours, "
        f"{events} dispatches, {sum(faults.values())} faults ({dict(faults)}), {failed} failed"
    )
    if failed and not options.all and not options.no_shrink:
        print(shrink(Case(seed, excluded=excluded)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
