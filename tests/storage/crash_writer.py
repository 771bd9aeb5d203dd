"""The process that test_crash.py kills: writes groups of three rows and prints the number of each acknowledged one."""

import asyncio
import os
import sys

import uvloop
from sqlalchemy import insert

from moothall.storage.database import Database, Query
from moothall.storage.engines import database_at
from moothall.storage.schema import bans

_BAN = Query(insert(bans))
_WRITERS = 8


async def _write(database: Database, number: int, step: int) -> None:
    while True:
        async with database.transaction() as tx:
            for member in range(3):
                await tx.execute(_BAN, guild_id=number, user_id=member, reason="x" * (number % 900), created_at=1)
        # One write, no buffer: what the other end reads was acknowledged.
        os.write(1, b"%d\n" % number)
        number += step


async def main() -> None:
    """Write until killed."""
    database = database_at(sys.argv[1])
    await database.open()
    await database.migrate()
    first = int(sys.argv[2])
    await asyncio.gather(*(_write(database, first + lane, _WRITERS) for lane in range(_WRITERS)))


uvloop.run(main())
