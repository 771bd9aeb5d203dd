"""Bugs planted into the source in memory: a simulation that finds none of them proves nothing.

A mutant is a text of one file of the product and what takes its place. It is planted before the file is imported, so
each mutant has a process of its own. `python -m tests.simulation --kind KIND --mutants` looks for the first seed that
fails with each, and writes the seeds into the table of `README.md`.
"""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from msgspec import Struct

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src" / "moothall"
TABLES: Final = Path(__file__).with_name("README.md")
MAX_SEEDS: Final = 1_000
"""Within so many seeds each mutant has to be found."""


class Mutant(Struct, frozen=True):
    """A planted bug. `file` is relative to `src/moothall`; `before` occurs in it once and is replaced by `after`."""

    name: str
    file: str
    before: str
    after: str

    @property
    def module(self) -> str:
        """The module that the file is imported as."""
        name = self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return f"moothall.{name}"

    def source(self) -> str:
        """The source of the file with the bug. Raises LookupError unless `before` occurs in it exactly once."""
        text = (SOURCE / self.file).read_text()
        if (count := text.count(self.before)) != 1:
            raise LookupError(f"{self.name}: the text occurs {count} times in {self.file}")
        return text.replace(self.before, self.after)


class Finding(Struct, frozen=True):
    """The first seed that fails with a mutant, and how; no seed if none of those tried does."""

    seed: int | None
    failure: str = ""
    seeds: int = 0
    """How many were run."""


class _Loader(SourceFileLoader):
    """Compiles a module from the source with the bug."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(SOURCE / mutant.file))
        self._source = mutant.source()

    def get_code(self, fullname: str) -> CodeType:
        """The code of the mutant, which has no cached bytecode."""
        del fullname
        code: CodeType = compile(self._source, self.path, "exec", dont_inherit=True)
        return code


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._loader = _Loader(mutant)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self._mutant.module:
            return None
        file = SOURCE / self._mutant.file
        folders = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, file, loader=self._loader, submodule_search_locations=folders
        )


def plant(mutant: Mutant) -> None:
    """Let this process import the mutant. Raises RuntimeError if it has imported the file before."""
    if mutant.module in sys.modules:
        raise RuntimeError(f"{mutant.module} is imported already")
    sys.meta_path.insert(0, _Finder(mutant))


def first_failure(simulate: Callable[[int], str], seeds: Iterable[int]) -> Finding:
    """Run seeds until one fails; `simulate` returns the failure of a seed, or an empty text."""
    number = 0
    for number, seed in enumerate(seeds, 1):
        if failure := simulate(seed):
            return Finding(seed, failure.split("\n", 1)[0][:300], number)
    return Finding(None, "", number)


def search(
    kind: str, mutant: Mutant, *, first: int = 1, count: int = MAX_SEEDS, environment: Mapping[str, str] | None = None
) -> Finding:
    """Run seeds of a kind of simulation with a mutant, in a process of its own, until one fails.

    Raises RuntimeError if the process ends without a result.
    """
    command = [sys.executable, "-m", "tests.simulation", "--kind", kind, "--mutant", mutant.name]
    command += ["--seed", str(first), "--count", str(count)]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = ended.stdout.splitlines()
    if ended.returncode or not lines:
        raise RuntimeError(f"{mutant.name}: {ended.stderr[-2_000:]}")
    result: dict[str, Any] = json.loads(lines[-1])
    return Finding(**result)


def report(finding: Finding) -> str:
    """A finding as the line that `search` reads."""
    return json.dumps({"seed": finding.seed, "failure": finding.failure, "seeds": finding.seeds})


def by_name(mutants: Sequence[Mutant], name: str) -> Mutant:
    """One of some mutants. Raises LookupError."""
    for mutant in mutants:
        if mutant.name == name:
            return mutant
    raise LookupError(f"no mutant is called {name!r}")


def search_all(
    kind: str,
    mutants: Sequence[Mutant],
    *,
    count: int = MAX_SEEDS,
    jobs: int = 1,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Look for mutants, `jobs` at a time, print what fails first, and write the table. Returns those not found."""
    seeds = read_table(kind)
    with ThreadPoolExecutor(jobs) as pool:
        findings = pool.map(lambda mutant: search(kind, mutant, count=count, environment=environment), mutants)
        for mutant, finding in zip(mutants, findings, strict=True):
            seeds[mutant.name] = finding.seed
            outcome = f"seed {finding.seed}: {finding.failure}" if finding.seed else f"not found in {finding.seeds}"
            print(f"{mutant.name}: {outcome}", flush=True)
            write_table(kind, seeds)
    return [mutant.name for mutant in mutants if seeds[mutant.name] is None]


# The tables


def _marks(kind: str) -> tuple[str, str]:
    return f"<!-- mutants: {kind} -->\n", f"<!-- /mutants: {kind} -->"


def read_table(kind: str) -> dict[str, int | None]:
    """The seeds that find the mutants of a kind, by name, as the table has them."""
    begin, end = _marks(kind)
    table = TABLES.read_text().partition(begin)[2].partition(end)[0]
    rows = re.findall(r"^\| (.+?) \| (\d+|not found) \|$", table, re.MULTILINE)
    return {name: int(seed) if seed.isdigit() else None for name, seed in rows}


def write_table(kind: str, seeds: dict[str, int | None]) -> None:
    """Write the table of a kind."""
    begin, end = _marks(kind)
    before, _, rest = TABLES.read_text().partition(begin)
    after = rest.partition(end)[2]
    rows = [f"| {name} | {'not found' if seed is None else seed} |" for name, seed in seeds.items()]
    table = "\n".join(["| Planted bug | Seed |", "| --- | --- |", *rows])
    TABLES.write_text(f"{before}{begin}{table}\n{end}{after}")
