"""Attacked parts of a run between quiet ones, so that what else the machine does falls on both alike."""

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.abuse.clients import Clients, Waits
from tests.abuse.processes import start_attacks, stop_attacks, wait_until_ready
from tests.abuse.target import Target
from tests.support.serving import RunningServer

ATTACKERS_NICE = 5
"""The priority of the attackers: below that of other programs, but not idle, as they would attack less beside them."""
_FLOOR = 0.02
"""Seconds: waits below it are noise of the machine, and count as it in a ratio."""
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 120.0
"""Seconds within which all attackers have to be ready, and none has ended."""


@dataclass
class Part:
    """What the clients waited in a stretch of time, and what the server used meanwhile."""

    waits: dict[str, Waits] = field(default_factory=dict)
    own_delays: Waits = field(default_factory=Waits)
    """How late the clients' own process was."""
    seconds: float = 0.0
    cpu: float = 0.0
    """Seconds of the processor that the server used."""
    memory: int = 0
    """The highest resident memory of the server, in KiB."""
    load: float = 0.0
    """The highest load of the machine."""

    def __add__(self, other: "Part") -> "Part":
        return Part(
            {name: self.waits.get(name, Waits()) + other.waits.get(name, Waits()) for name in other.waits},
            self.own_delays + other.own_delays,
            self.seconds + other.seconds,
            self.cpu + other.cpu,
            max(self.memory, other.memory),
            max(self.load, other.load),
        )


@dataclass(frozen=True)
class Row:
    """What an attack did to the others, against the quiet parts before and after it."""

    name: str
    quiet: Part
    attacked: Part
    error: str
    """What an attacker complains of that failed by itself."""

    @property
    def worst(self) -> str:
        """The kind of client that suffers most."""
        return max(self.attacked.waits, key=self.ratio_of)

    @property
    def ratio(self) -> float:
        """How many times as long the 99th percentile of that kind is."""
        return self.ratio_of(self.worst)

    @property
    def memory(self) -> float:
        """How many times as much memory the server had as when quiet, at the highest."""
        return self.attacked.memory / self.quiet.memory

    @property
    def failures(self) -> list[str]:
        """What the well-behaved were refused."""
        return [f"{name}: {failure}" for name, waits in self.attacked.waits.items() for failure in waits.failures]

    @property
    def passed(self) -> bool:
        """Whether others hardly noticed."""
        return self.ratio <= 3 and self.memory <= 1.5 and not self.failures and not self.error

    def ratio_of(self, kind: str) -> float:
        """How many times as long as when quiet the 99th percentile of a kind of clients is."""
        attacked, quiet = (part.waits[kind].percentile(0.99) for part in (self.attacked, self.quiet))
        return max(attacked, _FLOOR) / max(quiet, _FLOOR)

    def line(self) -> str:
        """The row of a table."""
        failed = f"{len(self.failures)} failures ({self.failures[0]})" if self.failures else ""
        more = " ".join(filter(None, [failed, self.error])) or "none"
        waited = f"{self.worst}, {self.attacked.waits[self.worst].percentile(0.99) * 1000:.0f} ms"
        return f"| {self.name} | {self.ratio:.1f} | {waited} | {self.memory:.2f} | {more} |"

    def details(self) -> Iterable[str]:
        """Lines with the waits of each kind of client, in milliseconds, and what server and machine had to do."""
        titles = ("quiet: p50", "p99", "max", "of", "attacked: p50", "p90", "p99", "max", "of", "times")
        widths = (12, 9, 9, 7, 14, 9, 9, 9, 7, 7)
        yield f"  {'':<16}" + "".join(title.rjust(width) for title, width in zip(titles, widths, strict=True))
        kinds = [(kind, self.quiet.waits[kind], waits) for kind, waits in self.attacked.waits.items()]
        for kind, quiet, attacked in [*kinds, ("(own delays)", self.quiet.own_delays, self.attacked.own_delays)]:
            values = (
                [quiet.percentile(share) * 1000 for share in (0.5, 0.99, 1.0)],
                [attacked.percentile(share) * 1000 for share in (0.5, 0.9, 0.99, 1.0)],
            )
            counts = len(quiet.seconds), len(attacked.seconds)
            ratio = self.ratio_of(kind) if kind in self.attacked.waits else math.nan
            texts = [*(f"{value:.1f}" for value in values[0]), str(counts[0])]
            texts += [*(f"{value:.1f}" for value in values[1]), str(counts[1]), f"{ratio:.1f}"]
            yield f"  {kind:<16}" + "".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
        for label, part in (("quiet", self.quiet), ("attacked", self.attacked)):
            yield (
                f"  {label}: the server used {part.cpu / part.seconds:.2f} processors, {part.memory / 1024:.0f} MiB; "
                f"the machine's load was {part.load:.1f}"
            )


class Trial:
    """A server, its community, and those who attack it."""

    def __init__(self, server: RunningServer, clients: Clients, targets: dict[str, Target]) -> None:
        self._server = server
        self._clients = clients
        self._targets = targets
        self._before = Part()
        self._quiet_memory = 0

    async def measure_quiet(self, seconds: float) -> Part:
        """Let the well-behaved act alone."""
        self._before = part = await self._measure(seconds)
        self._quiet_memory = self._quiet_memory or part.memory
        return part

    async def run(self, label: str, names: Sequence[str], seconds: float, quiet_seconds: float) -> Row:
        """Let attackers attack beside the well-behaved, and these act alone after it.

        Their waits are compared with those before, which `measure_quiet` or the last call has measured, and those after
        it; the server's memory with that at the first call of `measure_quiet`, as attacks leave some.
        """
        before = self._before
        longest = seconds + _PATIENCE
        processes = [start_attacks({name: self._targets[name]}, longest, nice=ATTACKERS_NICE) for name in names]
        for process in processes:
            await wait_until_ready(process)
        attacked = await self._measure(seconds)
        errors = [stop_attacks(process) for process in processes]
        if self._server.process.poll() is not None:
            raise SystemExit(f"the server ended during {label}:\n{self._server.printed[-2000:]}")
        after = await self.measure_quiet(quiet_seconds)
        quiet = before + after
        quiet.memory = self._quiet_memory
        return Row(label, quiet, attacked, next(filter(None, errors), ""))

    async def _measure(self, seconds: float) -> Part:
        pid = self._server.process.pid
        _forget_highest(pid)
        cpu, started = _cpu_seconds(pid), time.monotonic()
        waits = await self._clients.run(seconds)
        return Part(
            waits,
            self._clients.own_delays,
            time.monotonic() - started,
            _cpu_seconds(pid) - cpu,
            _highest_memory(pid),
            os.getloadavg()[0],
        )


def _highest_memory(pid: int) -> int:
    """The resident memory of a process at its highest, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _forget_highest(pid: int) -> None:
    """Let the highest memory count from now on (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def _cpu_seconds(pid: int) -> float:
    """Seconds of the processor that a process has used."""
    user, system = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS
