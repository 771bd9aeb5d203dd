"""`docs/performance.md`: the tables of a run, how they were measured, and what they mean for the size of a machine."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

Row = tuple[str, float | None, str, str]

_INTRODUCTION = """\
# Performance

What one process does, and how large a machine a community needs. `make performance` measures on the machine it runs on,
and writes this page.

Measured on: {machine}.

## How it is measured

Each row runs our server and a bare one in turn, three times, with 32 connections that send one request after another
from a process of their own. The bare server is uvicorn with the same event loop and parser, and answers the same bytes
without doing anything; **the ratio is our throughput to its**, the median of the rounds: 1.00 would be a platform that
costs nothing. What stores something is answered when it is durable. Before each row the server rests until it has done
what others have left. Rows that say so have another comparison:

- *to ours without* compares with the same request to us without what the row adds;
- the fan-out counts the processor time that the server takes for each delivery of one message to 500 gateway sessions,
  whose clients run in another process; the ratio is to a broadcast of the same bytes by the bare server (smaller is
  better);
- GET guild beside searches compares its 99th percentile with that of the same row alone (smaller is better);
- the proxy of Activities compares latencies with those of requests that go to the target directly (smaller is better);
- the event loop counts stretches without a turn of 5 ms and more, while all rows, bodies of 2 MB and bulk acts come at
  once. *Busy* ones had the processor so long; for the others the loop waited, for another thread or for the machine;
- the idle sessions are those of one bot, which have acknowledged READY. Sessions of a person take more while they have
  events that they have not acknowledged.

`make bench ARGS="--only WORD"` measures some rows, `make profile ROW=...` writes where their time goes.
"""

_POSTGRES = """\
Here the bare server executes by asyncpg, before it answers, what the row needs of the database at the least: one
statement, or two where a search has a total too ([`statements.py`](../benchmarks/statements.py)). Files have none. All
32 connections send the same request, and we share statements between requests that read the same at the same time, so
that some rows are above 1: [decision 27](decisions/0027-reads-and-commits-on-postgresql.md) has figures for different
requests.
"""


_SIZING = """\
## What it means for a community

One process takes {idle:.0f} MB when it has nothing to do, and about {session:.0f} kB for each connected client:
{clients:,.0f} clients for each GB. It stores {sends:,.0f} messages a second where no client receives them. A message
costs one core {per_message:.0f} us, and {delivery:.1f} us more for each client that receives it:

| Clients that receive each message | Messages a second on one core |
| --: | --: |
{table}

Members who are not connected cost disk space only. Where one process is not enough, [several](scaling.md) share the
work.
"""


@dataclass
class Table:
    """The rows of one community."""

    title: str
    rows: list[Row]
    is_postgres: bool = False


def write(path: Path, tables: list[Table]) -> None:
    """Write the page."""
    parts = [_INTRODUCTION.format(machine=_machine())]
    for table in tables:
        parts.append(f"## {table.title}\n")
        if table.is_postgres:
            parts.append(_POSTGRES)
        lines = ["| Row | Ratio | Figures | |", "| --- | --: | --- | --- |"]
        for name, ratio, figures, more in table.rows:
            lines.append(f"| {name} | {'' if ratio is None else f'{ratio:.2f}'} | {figures} | {more} |")
        parts.append("\n".join(lines) + "\n")
    if sizing := _sizing({row[0]: row for row in tables[0].rows}):
        parts.append(sizing)
    path.write_text("\n".join(parts))


def _machine() -> str:
    """Processors, their model, Python and the system."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    name = model[1].strip() if model is not None else platform.machine()
    return f"{os.cpu_count()} processors ({name}), {platform.system()}, Python {platform.python_version()}"


def _sizing(rows: dict[str, Row]) -> str:
    """What the figures mean for communities; empty where a row that it needs was not measured."""
    try:
        sends = _number(rows["POST message"], r"([\d,]+)/s")
        delivery = _number(rows["fan-out"], r"([\d.]+) us")
        session = next(_number(row, r"([\d.]+) kB") for name, row in rows.items() if name.endswith("idle sessions"))
        idle = _number(rows["idle memory"], r"(\d+) MB")
    except (KeyError, StopIteration):
        return ""
    per_message = 1e6 / sends
    table = "\n".join(
        f"| {clients:,} | {1e6 / (per_message + clients * delivery):,.0f} |" for clients in (10, 100, 1_000, 10_000)
    )
    return _SIZING.format(
        idle=idle,
        session=session,
        clients=(1024 - idle) * 1024 / session,
        sends=sends,
        per_message=per_message,
        delivery=delivery,
        table=table,
    )


def _number(row: Row, pattern: str) -> float:
    """A number in the figures of a row."""
    match = re.search(pattern, row[2])
    if match is None:
        raise ValueError(f"{row[0]} has no such figure: {row[2]}")
    return float(match[1].replace(",", ""))
