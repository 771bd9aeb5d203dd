"""Run seeds of the whole platform: `python -m tests.simulation --kind platform --seed 1 --count 100`."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tests.simulation import mutation
from tests.simulation.platform.mutants import MUTANTS

if TYPE_CHECKING:
    from tests.simulation.platform.simulation import Result


def main() -> int:
    """Run the seeds from `--seed` on; stop at the first failure, or with `--all` list them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0, help="seeds to run; 0: until interrupted")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    parser.add_argument("--shrink", action="store_true", help="look for the smallest run that fails alike")
    parser.add_argument("--steps", help="carry out these steps only, as --shrink prints them")
    parser.add_argument("--mutant", help="plant a bug of mutants.py; with --shrink shrink what it makes fail")
    parser.add_argument("--mutants", nargs="*", metavar="NAME", help="look for these planted bugs, or for all")
    parser.add_argument(
        "--postgres", metavar="URL", help="run nodes on this PostgreSQL server, in databases of their own"
    )
    parser.add_argument("--unreached", action="store_true", help="list the operations of which no request was accepted")
    parser.add_argument("--jobs", type=int, default=1, help="planted bugs to look for at the same time")
    options = parser.parse_args()
    if options.mutants is not None:
        from tests.simulation.platform.world import stored_image  # noqa: PLC0415 it imports the product

        mutants = [mutation.by_name(MUTANTS, name) for name in options.mutants] or MUTANTS
        count = options.count or mutation.MAX_SEEDS
        with stored_image() as environment:
            missed = mutation.search_all("platform", mutants, count=count, jobs=options.jobs, environment=environment)
        print(f"{len(mutants) - len(missed)} of {len(mutants)} planted bugs found")
        return 1 if missed else 0
    if options.mutant:
        mutation.plant(mutation.by_name(MUTANTS, options.mutant))
        if not options.shrink:
            return _search(options)
    return _run(options)


def _search(options: argparse.Namespace) -> int:
    """Look for the first seed that fails, and print it as `mutation.search` reads it."""
    simulate = _simulate(options)
    seeds = range(options.seed, options.seed + options.count)
    print(mutation.report(mutation.first_failure(lambda seed: simulate(seed).failure, seeds)))
    return 0


def _simulate(options: argparse.Namespace) -> "Callable[..., Result]":
    """What runs a seed: with one machine and its disk, or with nodes on PostgreSQL."""
    # After a bug is planted.
    from tests.simulation.platform.cluster import simulate_cluster  # noqa: PLC0415
    from tests.simulation.platform.simulation import simulate  # noqa: PLC0415

    return partial(simulate_cluster, url=options.postgres) if options.postgres else simulate


def _run(options: argparse.Namespace) -> int:
    from tests.conformance.places import ROWS  # noqa: PLC0415 after the bug is planted
    from tests.simulation.platform.shrinking import smallest  # noqa: PLC0415
    from tests.simulation.platform.simulation import STEPS  # noqa: PLC0415

    simulate = _simulate(options)
    started, totals, failed, done = time.perf_counter(), Counter[str](), 0, 0
    faults, accepted, refused = Counter[str](), Counter[str](), Counter[str]()
    seed, steps = options.seed, options.steps.split(",") if options.steps else []
    try:
        while not options.count or done < options.count:
            result = simulate(seed, left_out=set(STEPS) - set(steps) if steps else ())
            done += 1
            totals.update(
                seconds=round(result.seconds), requests=result.requests, events=result.events, starts=result.starts
            )
            faults.update(result.faults)
            accepted.update(result.accepted)
            refused.update(result.refused)
            if result.failure:
                failed += 1
                print(f"seed {seed}: {result.failure}", flush=True)
                where = f" --postgres {options.postgres}" if options.postgres else ""
                print(f"again: python -m tests.simulation --seed {seed} --count 1{where}", flush=True)
                if not options.all:
                    break
            seed += 1
    except KeyboardInterrupt:
        pass
    taken = time.perf_counter() - started
    print(
        f"{done} seeds in {taken:.0f} s, {totals['seconds'] / 3600:.1f} virtual hours, {totals['requests']} requests "
        f"({len(accepted)} of {len(ROWS)} operations accepted), {totals['events']} dispatches, "
        f"{totals['starts']} starts, {sum(faults.values())} faults {dict(faults)}, {failed} failed"
    )
    if options.unreached:
        for endpoint in ROWS:
            if (name := f"{endpoint.method} {endpoint.path}") not in accepted:
                print(f"not accepted: {name} ({refused[name]} requests refused or lost)")
    if failed and options.shrink:
        smaller = smallest(seed, simulate)
        print(f"seed {seed} with {smaller.operations} and {smaller.faults}: {smaller.failure}")
        print(f"again: python -m tests.simulation --seed {seed} --count 1 --steps {','.join(smaller.operations)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
