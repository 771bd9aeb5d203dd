"""Run seeds of a simulation: `python -m tests.simulation --kind gateway|platform --seed 1 --count 100`."""

import os
import runpy
import sys


def main() -> None:
    """Run the simulation of the kind with the other arguments."""
    arguments = sys.argv[1:]
    kind = "platform"
    if "--kind" in arguments:
        position = arguments.index("--kind")
        kind = arguments[position + 1]
        del arguments[position : position + 2]
    if kind not in {"gateway", "platform"}:
        sys.exit("--kind is gateway or platform")
    if "PYTHONHASHSEED" not in os.environ:
        # The order of sets of texts depends on it.
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    sys.argv = [sys.argv[0], *arguments]
    runpy.run_module(f"tests.simulation.{kind}", run_name="__main__")


if __name__ == "__main__":
    main()
