"""Run seeds of the gateway: `python -m tests.simulation --kind gateway --seed 1 --count 1000`."""

import argparse
import sys
import time
from collections import Counter

from tests.simulation import mutation
from tests.simulation.gateway.mutants import MUTANTS


def main() -> int:
    """Run the seeds from `--seed` on; stop at the first failure, or with `--all` list them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0, help="seeds to run; 0: until interrupted")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--without", default="", help="kinds of faults that do not happen, by commas")
    parser.add_argument("--mutant", help="plant a bug of mutants.py, and look for the first seed that fails")
    parser.add_argument("--mutants", nargs="*", metavar="NAME", help="look for these planted bugs, or for all")
    options = parser.parse_args()
    if options.mutants is not None:
        mutants = [mutation.by_name(MUTANTS, name) for name in options.mutants] or MUTANTS
        missed = mutation.search_all("gateway", mutants, count=options.count or mutation.MAX_SEEDS)
        print(f"{len(mutants) - len(missed)} of {len(mutants)} planted bugs found")
        return 1 if missed else 0
    if options.mutant:
        mutation.plant(mutation.by_name(MUTANTS, options.mutant))
        return _search(options)
    return _run(options)


def _search(options: argparse.Namespace) -> int:
    """Look for the first seed that fails, and print it as `mutation.search` reads it."""
    from tests.simulation.gateway.simulation import Case, simulate  # noqa: PLC0415 after the bug is planted

    seeds = range(options.seed, options.seed + options.count)
    print(mutation.report(mutation.first_failure(lambda seed: simulate(Case(seed)).failure, seeds)))
    return 0


def _run(options: argparse.Namespace) -> int:
    from tests.simulation.gateway.shrinking import shrink  # noqa: PLC0415 it imports the product
    from tests.simulation.gateway.simulation import Case, simulate  # noqa: PLC0415

    excluded = frozenset(filter(None, options.without.split(",")))
    started, seconds, events, failed, done = time.perf_counter(), 0.0, 0, 0, 0
    faults, struck = Counter[str](), Counter[str]()
    seed = options.seed
    try:
        while not options.count or done < options.count:
            result = simulate(Case(seed, excluded=excluded))
            done += 1
            seconds += result.seconds
            events += result.events
            faults.update(result.faults)
            for (_, life), count in result.struck.items():
                struck[life] += count
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
        f"{events} dispatches, {sum(faults.values())} faults {dict(faults)}, clients struck while {dict(struck)}, "
        f"{failed} failed"
    )
    if failed and not options.all and not options.no_shrink:
        print(shrink(Case(seed, excluded=excluded)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
