"""A counter that tests of PostgreSQL change, and connections that they break."""

import asyncpg
from sqlalchemy import bindparam, insert, select, update

from moothall.storage.postgres.engine import PostgresDatabase
from moothall.storage.query import Query
from moothall.storage.schema import guild_counters

ADD = Query(insert(guild_counters))
READ = Query(select(guild_counters.c.member_count).where(guild_counters.c.guild_id == bindparam("guild_id")))
COUNT_UP = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=guild_counters.c.member_count + 1)
)


async def break_connections(database: PostgresDatabase) -> None:
    """End all connections to a database."""
    killer = await asyncpg.connect(database._url)
    await killer.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await killer.close()
