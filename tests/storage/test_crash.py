"""What survives when the process is killed in the middle of writing, again and again."""

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


def killed_after(seconds: float, url: str, first: int) -> list[int]:
    """Write until SIGKILL; the numbers that were acknowledged. The time counts from the first acknowledgement."""
    with subprocess.Popen([sys.executable, WRITER, url, str(first)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        head = process.stdout.readline()
        assert head, "the writer died by itself"
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
        found: dict[int, int] = dict(await reader.all(GROUPS))
    await database.close()
    return found


def test_every_acknowledged_write_survives_being_killed_and_none_is_half_done(database_url: str) -> None:
    chance = random.Random(4)
    acknowledged: set[int] = set()
    for round_number in range(ROUNDS):
        written = killed_after(chance.uniform(0.0, 0.15), database_url, round_number * 1_000_000)
        acknowledged.update(written)
        if database_url.startswith("sqlite"):
            connection = apsw.Connection(database_url.removeprefix("sqlite:///"))
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.close()
        found = uvloop.run(groups_in(database_url))
        assert acknowledged <= found.keys()
        assert set(found.values()) == {3}
    assert len(acknowledged) > 20 * ROUNDS
