"""What a row needs of PostgreSQL at the least: one statement each, which the bare server executes by asyncpg.

Rows that store something store it in copies of their tables, so that they leave the community alone.
"""

from typing import Any

import asyncpg

from benchmarks.world import World

Statement = tuple[str, list[int]]
"""SQL and its arguments."""

_COPIED = {"messages": "id", "bans": "user_id"}
"""Tables that rows insert into, and the column by which each of their rows differs."""


async def create_copies(url: str) -> None:
    """Create the copies, with the indexes of their tables, and a sequence for what differs."""
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE SEQUENCE IF NOT EXISTS bare_ids")
    for table in _COPIED:
        await connection.execute(f"CREATE TABLE IF NOT EXISTS bare_{table} (LIKE {table} INCLUDING ALL)")
    await connection.close()


async def _insert(connection: Any, table: str) -> str:
    """An INSERT of what a SELECT yields whose FROM follows, but for the column that differs."""
    rows = await connection.fetch(
        "SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position", table
    )
    names = [row["column_name"] for row in rows]
    values = ", ".join("nextval('bare_ids')" if name == _COPIED[table] else name for name in names)
    return f"INSERT INTO bare_{table} ({', '.join(names)}) SELECT {values}"


async def statements(url: str, world: World) -> dict[str, Statement]:
    """The statements by row."""
    guild, channel, bot = world.guild_id, world.channel_id, world.facts["bot_id"]
    connection = await asyncpg.connect(url)
    insert_message, insert_ban = [await _insert(connection, table) for table in _COPIED]
    message_id = await connection.fetchval("SELECT max(id) FROM messages WHERE channel_id = $1", channel)
    banned_id = world.facts["people"][-1]
    await connection.execute(
        "INSERT INTO bans (guild_id, user_id, reason, created_at) VALUES ($1, $2, '', 0) ON CONFLICT DO NOTHING",
        guild,
        banned_id,
    )
    await connection.close()
    of_members = "SELECT * FROM members JOIN users ON users.id = members.user_id WHERE members.guild_id = $1"
    message = (f"{insert_message} FROM messages WHERE channel_id = $1 AND id = $2", [channel, message_id])
    return {
        "GET guild": ("SELECT * FROM guilds WHERE id = $1", [guild]),
        "GET channel": ("SELECT * FROM channels WHERE id = $1", [channel]),
        "GET member": (f"{of_members} AND members.user_id = $2", [guild, bot]),
        "GET 50 messages": ("SELECT * FROM messages WHERE channel_id = $1 ORDER BY id DESC LIMIT 50", [channel]),
        "GET 1,000 members": (f"{of_members} ORDER BY members.user_id LIMIT 1000", [guild]),
        "GET members by search": (
            f"{of_members} AND members.username_key LIKE 'person4%' ORDER BY members.username_key LIMIT 10",
            [guild],
        ),
        "POST webhook, wait": message,
        "POST message": message,
        "forum, message in a post": message,
        "PATCH role": ("UPDATE roles SET name = 'renamed' WHERE id = $1", [world.facts["role_ids"][1]]),
        "PUT ban": (f"{insert_ban} FROM bans WHERE guild_id = $1 AND user_id = $2", [guild, banned_id]),
    }
