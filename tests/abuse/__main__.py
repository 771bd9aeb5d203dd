"""`make abuse`: each attacker beside well-behaved clients, then all at once; prints a table.

A row is what the well-behaved waited (99 of 100 acts of the kind that suffers most, against the quiet server), the
memory of the server against that of the quiet one, failures, and whether the server went on without a restart.

The server and its clients have priority over other programs, as far as the user may give it, and the attackers less:
attackers on other machines do not take the server's processors.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.abuse.attackers import ATTACKERS
from tests.abuse.clients import Clients, Waits
from tests.abuse.community import Community
from tests.abuse.processes import finish_attacks, start_attacks, wait_until_ready
from tests.abuse.target import Target
from tests.support.serving import RunningServer

_FLOOR = 0.02
"""Seconds: waits below it are noise of the machine, and count as it in a ratio."""
_NICE = -18
"""The priority of the server and its clients (setpriority(2))."""
_ATTACKERS_NICE = 5
"""That of the attackers: below that of other programs, but not idle, as they would attack less where others work."""
_REST = 2.0
"""Seconds of calm between two attacks."""
_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


@dataclass(frozen=True)
class Row:
    """What an attack did to the others."""

    name: str
    worst: str
    ratio: float
    wait: float
    memory: float
    failures: int
    example: str
    error: str


def _memory(pid: int) -> tuple[int, int]:
    """The resident memory of a process now and at its highest, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    values = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return values["VmRSS"], values["VmHWM"]


def _forget_highest(pid: int) -> None:
    """Let the highest memory count from now on (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


class Trial:
    """A server, its community, and what a quiet minute was like."""

    def __init__(self, server: RunningServer, clients: Clients, targets: dict[str, Target], seconds: float) -> None:
        self._server = server
        self._clients = clients
        self._targets = targets
        self._seconds = seconds
        self._quiet: dict[str, Waits] = {}
        self._quiet_memory = 1

    async def measure_quiet(self) -> None:
        """Let the well-behaved act alone."""
        await self._clients.run(min(5.0, self._seconds))
        _forget_highest(self._server.process.pid)
        self._quiet = await self._clients.run(self._seconds)
        self._quiet_memory = _memory(self._server.process.pid)[1]
        _print_waits(self._quiet)
        print(f"  memory {self._quiet_memory // 1024} MiB", flush=True)

    async def run(self, label: str, names: Sequence[str], seconds: float) -> Row:
        """Let attackers attack beside the well-behaved."""
        pid = self._server.process.pid
        _forget_highest(pid)
        processes = [start_attacks({name: self._targets[name]}, seconds, nice=_ATTACKERS_NICE) for name in names]
        for process in processes:
            await wait_until_ready(process)
        waits = await self._clients.run(seconds)
        errors = [await finish_attacks(process, 30) for process in processes]
        if len(names) > 1:
            _print_waits(waits)
        if self._server.process.poll() is not None:
            raise SystemExit(f"the server ended during {label}:\n{self._server.printed[-2000:]}")
        worst = max(waits, key=lambda name: self._ratio(name, waits[name]))
        failures = [f"{name}: {failure}" for name, of in waits.items() for failure in of.failures]
        row = Row(
            label,
            worst,
            self._ratio(worst, waits[worst]),
            waits[worst].percentile(0.99),
            _memory(pid)[1] / self._quiet_memory,
            len(failures),
            failures[0] if failures else "",
            next(filter(None, errors), ""),
        )
        await asyncio.sleep(_REST)
        return row

    def _ratio(self, name: str, waits: Waits) -> float:
        return max(waits.percentile(0.99), _FLOOR) / max(self._quiet[name].percentile(0.99), _FLOOR)


def _print_waits(waits: dict[str, Waits]) -> None:
    for name, of in waits.items():
        figures = "  ".join(f"{label} {of.percentile(share) * 1000:7.1f} ms" for label, share in _SHARES.items())
        print(f"  {name:<18} {figures}  of {len(of.seconds)}")


def _line(row: Row) -> str:
    more = " ".join(filter(None, [f"{row.failures} failures ({row.example})" if row.failures else "", row.error]))
    waited = f"{row.worst}, {row.wait * 1000:.0f} ms"
    return f"| {row.name} | {row.ratio:.1f} | {waited} | {row.memory:.2f} | {more or 'none'} |"


async def _run(
    names: Sequence[str], seconds: float, arguments: Sequence[str], *, alone: bool, together_seconds: float
) -> bool:
    with (
        tempfile.TemporaryDirectory() as folder,
        RunningServer(Path(folder, "data"), "--no-demo", "--trusted-proxy", "127.0.0.1", *arguments) as server,
    ):
        community = Community(server.url)
        try:
            await community.build()
            clients = await Clients.ready(community)
            targets = {name: await community.attacker(number) for number, name in enumerate(names)}
            await community.write_history()
            trial = Trial(server, clients, targets, seconds)
            print("The quiet server:", flush=True)
            await trial.measure_quiet()
            print("\n| Attack | p99, times | who waited longest | memory, times | failures of others |")
            print("| --- | --- | --- | --- | --- |", flush=True)
            rows = []
            for name in names if alone else ():
                rows.append(await trial.run(name, [name], seconds))
                print(_line(rows[-1]), flush=True)
            if together_seconds and len(names) > 1:
                rows.append(await trial.run("all at once", names, together_seconds))
                print(_line(rows[-1]), flush=True)
            print(f"\nmessages that were acknowledged and not heard: {clients.missed}")
            return all(row.ratio <= 3 and row.memory <= 1.5 and not row.failures and not row.error for row in rows)
        finally:
            await community.close()


def main() -> None:
    """Run the attackers that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.abuse", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ATTACKERS, []], help="attackers; all without any")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each attack lasts")
    parser.add_argument("--together-seconds", type=float, default=60.0, help="the same of all at once; 0 leaves it out")
    parser.add_argument("--server", action="append", default=[], help="an argument for the server")
    parser.add_argument("--only-together", action="store_true", help="run all at once alone")
    options = parser.parse_args()
    names = options.names or ATTACKERS
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICE)
    alone, together_seconds = not options.only_together, options.together_seconds
    passed = asyncio.run(_run(names, options.seconds, options.server, alone=alone, together_seconds=together_seconds))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
