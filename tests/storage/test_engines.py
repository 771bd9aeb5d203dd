"""What both engines promise alike."""

from sqlalchemy import bindparam, insert, select

from moothall.objects.ids import GuildId, Snowflake
from moothall.storage.database import Database, Query
from moothall.storage.schema import bans

INSERT = Query(insert(bans))
REASON = Query(
    select(bans.c.reason).where(bans.c.guild_id == bindparam("guild_id"), bans.c.user_id == bindparam("user_id"))
)


async def test_a_committed_write_is_read(database: Database) -> None:
    async with database.transaction(GuildId(Snowflake(1))) as tx:
        assert await tx.execute(INSERT, guild_id=1, user_id=2, reason="spam", created_at=3) == 1
    async with database.read() as reader:
        assert await reader.scalar(REASON, guild_id=1, user_id=2) == "spam"
