"""What a row needs of PostgreSQL at the least: the statements that the bare server executes by asyncpg.

Each row reads what its answer consists of, joined as far as one statement can; a total is another statement. Nothing
authenticates a caller or looks at permissions. Rows that store something store it in copies of their tables, so that
they leave the community alone.
"""

from typing import Any

import asyncpg

from benchmarks.world import World
from moothall.objects.wire import Timestamp
from moothall.resources.message.search.index_query import AllOf, AnyOf, content_nodes, to_tsquery

Statement = tuple[str, list[int | str]]
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


_ACTIVITY = "LEFT JOIN channel_activity AS activity ON activity.channel_id = channels.id"
_AUTHOR = "LEFT JOIN users AS author ON author.id = messages.author_id"
_OF_FORUM = "channels.parent_id = $1 AND channels.type IN (10, 11)"
_BY_NAME = "AND channels.name_key LIKE $2 AND channels.name_key LIKE $3"
_ARCHIVED = "channels.parent_id = $1 AND channels.type = 11 AND channels.archived_at < $2"
_ACTIVE = "channels.guild_id = $1 AND NOT channels.archived AND channels.type IN (10, 11, 12)"
_COUNT_THREADS = "SELECT count(*) FROM channels WHERE"
_NEWEST = "ORDER BY channels.latest_message_id DESC LIMIT 25"
_COUNT_MATCHES = "SELECT count(*) FROM (SELECT FROM message_index WHERE document @@ $1::tsquery LIMIT 10000) AS page"
_SELECT_MATCHES = f"""
    SELECT * FROM (
        SELECT message_id, channel_id FROM message_index WHERE document @@ $1::tsquery
        ORDER BY message_id + 0 DESC LIMIT 25
    ) AS page
    JOIN messages ON messages.channel_id = page.channel_id AND messages.id = page.message_id
    JOIN channels ON channels.id = page.channel_id {_ACTIVITY} {_AUTHOR}
"""  # noqa: S608 constants
_SELECT_MEMBERS = "SELECT * FROM members JOIN users ON users.id = members.user_id WHERE members.guild_id = $1"
_COUNT_INACTIVE = """
    SELECT count(*) FROM members JOIN users ON users.id = members.user_id
    LEFT JOIN member_activity AS seen ON seen.guild_id = members.guild_id AND seen.user_id = members.user_id
    WHERE members.guild_id = $1 AND members.user_id != $2 AND NOT users.bot AND members.roles IN ('[]', $3)
    AND coalesce(seen.last_seen_at, members.joined_at) < $4
"""
_SELECT_WIDGET = """
    SELECT * FROM guilds LEFT JOIN invites ON invites.guild_id = guilds.id
    AND invites.channel_id = guilds.widget_channel_id AND invites.inviter_id IS NULL WHERE guilds.id = $1
"""
_SELECT_VOICE_CHANNELS = "SELECT * FROM channels WHERE guild_id = $1 AND type IN (2, 13)"


def _threads(caller: int, *, first_messages: bool = False) -> str:
    """A SELECT of threads with their activity and the caller's membership, whose WHERE follows."""
    first = f"LEFT JOIN messages ON messages.channel_id = channels.id AND messages.id = channels.id {_AUTHOR}"
    return (
        f"SELECT * FROM channels {_ACTIVITY} LEFT JOIN thread_members ON thread_members.thread_id = channels.id"  # noqa: S608
        f" AND thread_members.user_id = {caller} {first if first_messages else ''} WHERE"
    )


def _of_threads(world: World) -> dict[str, list[Statement]]:
    """Of lists and searches of threads."""
    forum, caller = world.facts["forum_id"], world.facts["bot_id"]
    posts = f"{_threads(caller, first_messages=True)} {_OF_FORUM}"
    latest_archived = f"{_threads(caller)} {_ARCHIVED} ORDER BY channels.archived_at DESC LIMIT 50"
    words: list[int | str] = [forum, "%ship%", "%oar%"]
    return {
        "forum, archived posts": [(latest_archived, [forum, 1 << 62])],
        "forum, newest posts": [(f"{_COUNT_THREADS} {_OF_FORUM}", [forum]), (f"{posts} {_NEWEST}", [forum])],
        "forum, posts by a word": [
            (f"{_COUNT_THREADS} {_OF_FORUM} {_BY_NAME}", words),
            (f"{posts} {_BY_NAME} {_NEWEST}", words),
        ],
        "forum, active posts": [(f"{_threads(caller)} {_ACTIVE}", [world.guild_id])],
    }


def _of_searches(world: World) -> dict[str, list[Statement]]:
    """Of searches of messages: a total, and a page of messages with their authors and channels."""

    def search(content: str, slop: int = 0) -> list[Statement]:
        nodes = (AnyOf((f"g{world.guild_id}",)), *content_nodes(content, slop))
        query: list[int | str] = [to_tsquery(AllOf(nodes))]
        return [(_COUNT_MATCHES, query), (_SELECT_MATCHES, query)]

    return {
        "search, a rare word": search("w77"),
        "search, a common word": search("jumps"),
        "search, words near others": search("fox dog", slop=4),
    }


async def statements(url: str, world: World) -> dict[str, list[Statement]]:
    """The statements by row."""
    guild, channel, bot, owner = world.guild_id, world.channel_id, world.facts["bot_id"], world.facts["people"][0]
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
    message: Statement = (f"{insert_message} FROM messages WHERE channel_id = $1 AND id = $2", [channel, message_id])
    ban: Statement = (f"{insert_ban} FROM bans WHERE guild_id = $1 AND user_id = $2", [guild, banned_id])
    by_name = f"{_SELECT_MEMBERS} AND members.username_key LIKE 'person4%' ORDER BY members.username_key LIMIT 10"
    role_list, week_ago = f"[{world.facts['role_ids'][0]}]", int(Timestamp.now()) - 7 * 86_400_000
    return {
        "GET guild": [("SELECT * FROM guilds WHERE id = $1", [guild])],
        "GET channel": [("SELECT * FROM channels WHERE id = $1", [channel])],
        "GET member": [(f"{_SELECT_MEMBERS} AND members.user_id = $2", [guild, bot])],
        "GET 50 messages": [("SELECT * FROM messages WHERE channel_id = $1 ORDER BY id DESC LIMIT 50", [channel])],
        "GET 1,000 members": [(f"{_SELECT_MEMBERS} ORDER BY members.user_id LIMIT 1000", [guild])],
        "GET members by search": [(by_name, [guild])],
        "GET widget.json": [(_SELECT_WIDGET, [guild]), (_SELECT_VOICE_CHANNELS, [guild])],
        "GET prune count": [(_COUNT_INACTIVE, [guild, owner, role_list, week_ago])],
        "POST webhook, wait": [message],
        "POST message": [message],
        "forum, message in a post": [message],
        "PATCH role": [("UPDATE roles SET name = 'renamed' WHERE id = $1", [world.facts["role_ids"][1]])],
        "PUT ban": [ban],
        "PUT ban of a member": [ban],
        **_of_threads(world),
        **_of_searches(world),
    }
