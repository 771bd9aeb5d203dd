"""A process that is killed while it writes loses no acknowledged transaction."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import uvloop
from sqlalchemy import func, select

from moothall.storage.database import Query
from moothall.storage.engines import database_at
from moothall.storage.schema import bans

WRITER = Path(__file__).with_name("crash_writer.py")
ROUNDS = 8
GROUPS = Query(select(bans.c.guild_id, func.count()).group_by(bans.c.guild_id))


def killed_after(count: int, seconds: float, url: str, first: int) -> list[int]:
    """Write until SIGKILL; return the acknowledged numbers. The time counts from acknowledgement `count`."""
    with subprocess.Popen([sys.executable, WRITER, url, str(first)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        head = b"".join(process.stdout.readline() for _ in range(count))
        assert head.count(b"\n") == count, "the writer died by itself"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    assert process.returncode == -signal.SIGKILL
    # The kill may cut the last line off in the middle.
    return [int(line) for line in (head + rest).split(b"\n")[:-1]]


async def groups_in(url: str) -> dict[int, int]:
    database = database_at(url)
    await database.open()
    await database.migrate()
    async with database.read() as reader:
        groups: dict[int, int] = dict(await reader.all(GROUPS))
    await database.close()
    return groups


def test_every_acknowledged_write_survives_being_killed_and_none_is_half_done(database_url: str) -> None:
    chance = random.Random(4)
    acknowledged: set[int] = set()
    for round_number in range(ROUNDS):
        written = killed_after(chance.randint(1, 60), chance.uniform(0.0, 0.02), database_url, round_number * 1_000_000)
        acknowledged.update(written)
        if database_url.startswith("sqlite"):
            connection = apsw.Connection(database_url.removeprefix("sqlite:///"))
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.close()
        groups = uvloop.run(groups_in(database_url))
        assert acknowledged <= groups.keys()
        assert set(groups.values()) == {3}
