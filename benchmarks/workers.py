"""One process and several workers compared: `python -m benchmarks.workers [--workers N] [--seconds N]`.

Both servers have the same community, and are loaded in turn, several times; each row tells the medians. CPU time is
that of all processes of a server, for each request.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.__main__ import ROUNDS, call, free_port, load, ours, raw, running
from benchmarks.bodies import PLAIN
from benchmarks.world import SMALL, World, build

_TICKS = os.sysconf("SC_CLK_TCK")


def processes(pid: int) -> Iterator[int]:
    """A process and those that it has started."""
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from processes(int(child))


def cpu_seconds(pid: int) -> float:
    """The CPU time of a server so far."""
    stats = (Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in processes(pid))
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / _TICKS


def measure(port: int, pid: int, seconds: float, request: bytes, status: str) -> dict[str, float]:
    """Requests a second, latencies and CPU time for each request under load."""
    before = cpu_seconds(pid)
    measured: dict[str, Any] = load(port, seconds, [request])
    if set(measured["statuses"]) != {status}:
        raise RuntimeError(f"{request[:80]!r}: {measured['statuses']}")
    count = sum(measured["statuses"].values())
    return {
        "per_second": measured["per_second"],
        "p50": measured["p50_ms"],
        "p99": measured["p99_ms"],
        "us": (cpu_seconds(pid) - before) * 1e6 / count,
    }


def rows(world: World) -> list[tuple[str, str, bytes]]:
    """The name, status and bytes of each request."""
    headers = {"Authorization": f"Bot {world.bot_token}"}
    guild, channel = f"/api/v10/guilds/{world.guild_id}", f"/api/v10/channels/{world.channel_id}"
    reads = [
        ("GET guild", guild),
        ("GET channel", channel),
        ("GET 50 messages", f"{channel}/messages"),
        ("GET 1,000 members", f"{guild}/members?limit=1000"),
    ]
    webhook = f"/api/v10{world.webhook}?wait=true"
    body = {"Content-Type": "application/json"}
    return [
        *((name, "200", raw("GET", path, headers)) for name, path in reads),
        ("POST webhook, waiting", "200", raw("POST", webhook, body, PLAIN)),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        worlds = [build(Path(folder) / name, SMALL, sessions=10) for name in ("one", "several")]
        ports = [free_port(), free_port()]
        commands = [ours(Path(folder) / "one", ports[0]), ours(Path(folder) / "several", ports[1])]
        commands[1] += ["--workers", str(arguments.workers)]
        with running(commands[0], ports[0]) as one, running(commands[1], ports[1]) as several:
            for port in ports:
                call(port, "GET", "/healthz")
            for (name, status, first), (_, _, second) in zip(*map(rows, worlds), strict=True):
                measured: list[list[dict[str, float]]] = [[], []]
                for _ in range(ROUNDS):
                    measured[0].append(measure(ports[0], one.pid, arguments.seconds, first, status))
                    measured[1].append(measure(ports[1], several.pid, arguments.seconds, second, status))
                shown = [
                    {key: statistics.median(each[key] for each in measured[index]) for key in measured[index][0]}
                    for index in range(2)
                ]
                for workers, each in zip((1, arguments.workers), shown, strict=True):
                    print(
                        f"{name:<24} {workers} workers {each['per_second']:>8,.0f}/s  p50 {each['p50']:.2f} ms  "
                        f"p99 {each['p99']:.2f} ms  CPU {each['us']:.0f} us"
                    )


if __name__ == "__main__":
    main()
