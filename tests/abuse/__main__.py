"""`make abuse`: each attacker beside well-behaved clients, then all at once; prints a table.

A row is what the well-behaved waited (99 of 100 acts of the kind that suffers most, against the quiet server just
before and after it), the memory of the server against that of the quiet one, failures, and whether the server went on
without a restart. Below the row of all at once stands each kind of client.

The server and its clients have priority over other programs, as far as the user may give it, and the attackers less:
attackers on other machines do not take the server's processors.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tests.abuse.attackers import ATTACKERS
from tests.abuse.clients import Clients
from tests.abuse.community import Community
from tests.abuse.priority import prefer
from tests.abuse.trial import Row, Trial
from tests.support.serving import RunningServer

_WARMING = 5.0
"""Seconds before anything is measured."""


@asynccontextmanager
async def _database(server_url: str) -> AsyncIterator[list[str]]:
    """A new database on a PostgreSQL server, as arguments for the server; none without one, for SQLite."""
    if not server_url:
        yield []
        return
    name = f"moothall_abuse_{os.getpid()}"
    control = await asyncpg.connect(server_url)
    try:
        await control.execute(f"CREATE DATABASE {name}")
        yield ["--database-url", urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))]
    finally:
        await control.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await control.close()


async def _run(
    names: Sequence[str],
    seconds: float,
    arguments: Sequence[str],
    *,
    postgres: str,
    alone: bool,
    together_seconds: float,
) -> bool:
    async with _database(postgres) as database:
        with (
            tempfile.TemporaryDirectory() as folder,
            RunningServer(
                Path(folder, "data"), "--no-demo", "--trusted-proxy", "127.0.0.1", *database, *arguments
            ) as server,
        ):
            return await _trials(server, names, seconds, alone=alone, together_seconds=together_seconds)


async def _trials(
    server: RunningServer, names: Sequence[str], seconds: float, *, alone: bool, together_seconds: float
) -> bool:
    community = Community(server.url)
    try:
        await community.build()
        clients = await Clients.ready(community)
        made = await asyncio.gather(*(community.attacker(number) for number in range(len(names))))
        targets = dict(zip(names, made, strict=True))
        await community.write_history()
        trial = Trial(server, clients, targets)
        await clients.run(min(_WARMING, seconds))
        print("| Attack | p99, times | who waited longest | memory, times | failures of others |")
        print("| --- | --- | --- | --- | --- |", flush=True)
        rows: list[Row] = []
        if alone:
            await trial.measure_quiet(seconds / 2)
        for name in names if alone else ():
            rows.append(await trial.run(name, [name], seconds, seconds / 2))
            print(rows[-1].line(), flush=True)
        if together_seconds and len(names) > 1:
            await trial.measure_quiet(together_seconds / 2)
            rows.append(await trial.run("all at once", names, together_seconds, together_seconds / 2))
            print("\n".join([rows[-1].line(), *rows[-1].details()]), flush=True)
        print(f"\nmessages that were acknowledged and not heard: {clients.missed}")
        return all(row.passed for row in rows)
    finally:
        await community.close()


def main() -> None:
    """Run the attackers that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.abuse", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ATTACKERS, []], help="attackers; all without any")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each attack lasts")
    parser.add_argument("--together-seconds", type=float, default=60.0, help="the same of all at once; 0 leaves it out")
    parser.add_argument("--server", action="append", default=[], help="an argument for the server")
    parser.add_argument("--postgres", default="", metavar="URL", help="serve from a new database on this server")
    parser.add_argument("--only-together", action="store_true", help="run all at once alone")
    options = parser.parse_args()
    names = options.names or ATTACKERS
    prefer()
    alone, together_seconds = not options.only_together, options.together_seconds
    passed = asyncio.run(
        _run(
            names,
            options.seconds,
            options.server,
            postgres=options.postgres,
            alone=alone,
            together_seconds=together_seconds,
        )
    )
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
