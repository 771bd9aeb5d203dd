"""More members than would care to register: straight into the database of a server that runs."""

from pathlib import Path

from sqlalchemy import bindparam, insert, update

from moothall.objects.ids import GuildId, Snowflake, SnowflakeFactory, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.engines import database_at
from moothall.storage.schema import guild_counters, members, users


async def crowd(data: Path, guild_id: int, count: int) -> None:
    """Make `count` people members of a guild, silently: before anybody looks."""
    ids = SnowflakeFactory(worker=31, process=30)
    people = [UserId(ids.next()) for _ in range(count)]
    names = {user_id: f"crowd{user_id}" for user_id in people}
    database = database_at(f"sqlite:///{data / 'moothall.sqlite3'}")
    await database.open()
    guild = GuildId(Snowflake(guild_id))
    async with database.transaction() as tx:
        await tx.execute_many(
            _insert_user, [{"id": user_id, "username": name, "username_key": name} for user_id, name in names.items()]
        )
        await tx.execute_many(
            _insert_member,
            [
                {"guild_id": guild, "user_id": user_id, "username_key": name, "roles": [], "joined_at": Timestamp.now()}
                for user_id, name in names.items()
            ],
        )
        await tx.execute(_count, guild_id=guild, more=count)
    await database.close()


_insert_user = Query(insert(users))
_insert_member = Query(insert(members))
_count = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=guild_counters.c.member_count + bindparam("more"))
)
